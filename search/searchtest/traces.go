// SPDX-License-Identifier: Apache-2.0

// Package searchtest reads recorded studies of Optuna, for the tests of samplers and pruners.
package searchtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lathe/search"
)

// File is one file of recorded studies.
type File struct {
	Path    string `json:"-"`
	Optuna  string
	Spaces  []Space
	Traces  []Trace
	Pruners []Curves
}

// Space are parameters in the order in which they are suggested.
type Space struct {
	Name   string
	Params []struct {
		Name string
		Dist json.RawMessage
		When []any
	}
	// Parsed are the ranges of Params.
	Parsed []*search.Distribution `json:"-"`
}

// Trace is one recorded study.
type Trace struct {
	Sampler string
	Kwargs  map[string]any
	Options struct {
		Objectives  int
		Batch       int
		Directions  []string
		Constraints int
		Prune       int
	}
	Space  int
	Seed   uint32
	Trials [][]json.RawMessage
	// Tie are draws whose best two candidates are nearly equal: number of the trial, parameters in the draw.
	Tie [][2]int
}

// Directions are those of the objectives.
func (t *Trace) Directions() []search.Direction {
	out := make([]search.Direction, max(1, t.Options.Objectives, len(t.Options.Directions)))
	for i := range out {
		out[i] = search.Minimize
		if len(t.Options.Directions) > 0 && strings.EqualFold(t.Options.Directions[i], "maximize") {
			out[i] = search.Maximize
		}
	}
	return out
}

// Row is a trial of a trace.
type Row struct {
	Params      []*float64 // nil: not suggested
	State       search.State
	Values      []float64
	Constraints []float64
}

// Row reads trial k; n is the number of parameters.
func (t *Trace) Row(k, n int) (r Row, err error) {
	row := t.Trials[k]
	for i := range n {
		var v *float64
		if err := json.Unmarshal(row[i], &v); err != nil {
			return r, err
		}
		r.Params = append(r.Params, v)
	}
	var state string
	if err := json.Unmarshal(row[n], &state); err != nil {
		return r, err
	}
	r.State = map[string]search.State{"C": search.Complete, "P": search.Pruned, "F": search.Fail}[state]
	if err := json.Unmarshal(row[n+1], &r.Values); err != nil {
		return r, err
	}
	if len(row) > n+2 {
		err = json.Unmarshal(row[n+2], &r.Constraints)
	}
	return r, err
}

// Number is an option of a sampler or a pruner; def where it is not given.
func Number(kwargs map[string]any, name string, def float64) float64 {
	if v, ok := kwargs[name].(float64); ok {
		return v
	}
	return def
}

// Truth is an option of a sampler; def where it is not given.
func Truth(kwargs map[string]any, name string, def bool) bool {
	if v, ok := kwargs[name].(bool); ok {
		return v
	}
	return def
}

// Curves are what 60 trials report, and where pruners ended them.
type Curves struct {
	Curves [][]*float64
	Runs   []struct {
		Pruner    string
		Kwargs    map[string]any
		Direction string
		StudyName string `json:"study_name"`
		PrunedAt  []int  `json:"pruned_at"`
	}
}

// Read reads every JSON file of a folder, packed or not.
func Read(folder string) ([]*File, error) {
	var files []*File
	for _, pattern := range []string{"*.json", "*.json.gz"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			f, err := read(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no .json", folder)
	}
	return files, nil
}

func read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	f := &File{Path: path}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, err
	}
	for i := range f.Spaces {
		s := &f.Spaces[i]
		for _, p := range s.Params {
			d, err := search.ParseDistribution(string(p.Dist))
			if err != nil {
				return nil, err
			}
			s.Parsed = append(s.Parsed, d)
		}
	}
	return f, nil
}
