// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"lathe/internal/diag"
	"lathe/internal/keys"
)

// StudyTable is the table [study] of a space; flags stand above it.
type StudyTable struct {
	Name       string   `toml:"name"`
	Objectives []string `toml:"objectives"`
	Sampler    string   `toml:"sampler"`
	Pruner     string   `toml:"pruner"`
	Trials     int      `toml:"trials"`
	Seed       uint64   `toml:"seed"`
}

// quantizeTable is a table [[quantize]].
type quantizeTable struct {
	Name   string   `toml:"name"`
	Op     string   `toml:"op"`
	Slot   []string `toml:"slot"`
	Format []string `toml:"format"`
	Tie    string   `toml:"tie"`
}

// pruneTable is the table [prune].
type pruneTable struct {
	Sparsity string   `toml:"sparsity"`
	Method   []string `toml:"method"`
}

// trainTable is the table [train]: how long each trial is trained. All else is as the plan has it.
type trainTable struct {
	Epochs *int `toml:"epochs"`
}

// modelTable is the table [model]: sizes of new models.
type modelTable struct {
	Layers       []int    `toml:"layers"`
	Heads        []int    `toml:"heads"`
	Hidden       []int    `toml:"hidden"`
	Intermediate []int    `toml:"intermediate"`
	Identity     []string `toml:"identity"`
	Epochs       *int     `toml:"epochs"`
}

// file is the text of a space.
type file struct {
	Study      StudyTable        `toml:"study"`
	Model      *modelTable       `toml:"model"`
	Rung       map[string]string `toml:"rung"`
	Quantize   []quantizeTable   `toml:"quantize"`
	Prune      *pruneTable       `toml:"prune"`
	Train      *trainTable       `toml:"train"`
	Constraint map[string]string `toml:"constraint"`
}

// decode reads the text strictly. Error L1101.
func decode(name string, data []byte) (*file, *keys.Lines, error) {
	at := keys.Scan(name, data)
	var f file
	md, err := toml.Decode(string(data), &f)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return nil, nil, diag.New(diag.SpaceText, fmt.Sprintf("%s:%d", name, syntax.Position.Line), "%s", syntax.Message)
		}
		text := strings.TrimPrefix(err.Error(), "toml: ")
		return nil, nil, diag.New(diag.SpaceText, name, "%s", diag.OneLine(text))
	}
	var errs diag.List
	for _, u := range keys.Unknown(md, reflect.TypeFor[file]()) {
		what := "table"
		if len(u.Key) > 1 {
			what = "key"
		}
		errs = errs.Add(unknown(what, u.Last(), u.Known), diag.SpaceText, at.Anywhere(u.Key))
	}
	return &f, at, errs.Err()
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
