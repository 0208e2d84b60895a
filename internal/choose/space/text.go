// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"lathe/internal/diag"
)

// StudyTable is the table [study] of a space; flags stand above it.
type StudyTable struct {
	Name       string   `toml:"name"`
	Objectives []string `toml:"objectives"`
	Sampler    string   `toml:"sampler"`
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

// file is the text of a space.
type file struct {
	Study      StudyTable        `toml:"study"`
	Quantize   []quantizeTable   `toml:"quantize"`
	Constraint map[string]string `toml:"constraint"`
}

// decode reads the text strictly. Error L1101.
func decode(name string, data []byte) (*file, *places, error) {
	at := placesOf(name, data)
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
	seen := map[string]bool{}
	for _, key := range md.Undecoded() {
		if seen[key.String()] || len(key) > 1 && seen[key[:len(key)-1].String()] {
			continue // told with the table that it stands in
		}
		seen[key.String()] = true
		known := keysOf(reflect.TypeFor[file](), key[:len(key)-1])
		what := "table"
		if len(key) > 1 {
			what = "key"
		}
		errs = errs.Add(unknown(what, key[len(key)-1], known), diag.SpaceText, at.of(key.String()))
	}
	return &f, at, errs.Err()
}

// keysOf are the keys that a table may have.
func keysOf(t reflect.Type, path []string) []string {
	for _, p := range path {
		for t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("toml") == p {
				t = t.Field(i).Type
				break
			}
		}
	}
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	var keys []string
	for i := range t.NumField() {
		keys = append(keys, t.Field(i).Tag.Get("toml"))
	}
	return keys
}

// places knows the lines of keys: quantize[1].name.
type places struct {
	file  string
	lines map[string]int
}

var (
	headLine = regexp.MustCompile(`^\s*(\[\[?)\s*([A-Za-z0-9_.-]+)\s*\]`)
	keyLine  = regexp.MustCompile(`^\s*([A-Za-z0-9_-]+)\s*=`)
)

func placesOf(name string, data []byte) *places {
	p := &places{name, map[string]int{}}
	count := map[string]int{}
	table := ""
	note := func(path string, line int) {
		if p.lines[path] == 0 {
			p.lines[path] = line
		}
	}
	for i, line := range strings.Split(string(data), "\n") {
		if m := headLine.FindStringSubmatch(line); m != nil {
			table = m[2]
			note(table, i+1)
			if m[1] == "[[" {
				table = fmt.Sprintf("%s[%d]", m[2], count[m[2]])
				count[m[2]]++
				note(table, i+1)
			}
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			note(strings.Trim(table+"."+m[1], "."), i+1)
			bare, _, _ := strings.Cut(table, "[") // the library does not number tables
			note(strings.Trim(bare+"."+m[1], "."), i+1)
		}
	}
	return p
}

// of is file:line of a key, or of the table that it would stand in, or the file.
func (p *places) of(path string) string {
	for path != "" {
		if line := p.lines[path]; line > 0 {
			return fmt.Sprintf("%s:%d", p.file, line)
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
	return p.file
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
