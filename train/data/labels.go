// SPDX-License-Identifier: Apache-2.0

package data

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/npz"
)

// answers are the labels of a table, as they are read.
type answers struct {
	path    string
	columns []string
	targets bool     // numbers, and no classes
	names   []string // of classes, where they are known before
	floats  []float32
	whole   []int64
	words   []string // names of classes, by sample
	samples int
}

// answersOf are those in columns of a table: one of classes, or some of targets.
func answersOf(path string, w *Wanted) (*answers, error) {
	a := &answers{path: path, columns: w.columns(), targets: w.Targets, names: w.Classes}
	if len(a.columns) > 1 && !a.targets {
		return nil, diag.New(diag.TrainLabels, path, "labels in %d columns, and the loss takes the number of a class",
			len(a.columns)).WithHint("loss = \"mse\" in [train] of the plan takes numbers of several columns")
	}
	return a, nil
}

// columns are the names of the columns that hold labels.
func (w *Wanted) columns() []string {
	if w.Labels == "" {
		return nil
	}
	return strings.Split(w.Labels, ",")
}

// places are those of columns in a header.
func places(path string, header, columns []string) ([]int, error) {
	out := make([]int, len(columns))
	for i, c := range columns {
		if out[i] = slices.Index(header, c); out[i] < 0 {
			return nil, diag.New(diag.TrainLabels, path, "there is no column %q; columns begin with %s", c,
				strings.Join(header[:min(len(header), shown)], ", "))
		}
	}
	return out, nil
}

// add reads the cell of a column.
func (a *answers) add(line int, column, cell string) error {
	cell = strings.TrimSpace(cell)
	bad := func(what string) *diag.Error {
		return diag.New(diag.TrainLabels, a.path, "line %d, column %q: %q is %s", line, column, cell, what)
	}
	v, err := strconv.ParseFloat(cell, 64)
	if column == a.columns[0] {
		a.samples++
	}
	if a.targets {
		if err != nil || v-v != 0 {
			return bad("not a finite number")
		}
		a.floats = append(a.floats, float32(v))
		return nil
	}
	named := len(a.words) > 0 || len(a.names) > 0 || err != nil && len(a.whole) == 0
	switch {
	case named && len(a.names) > 0 && !slices.Contains(a.names, cell):
		return bad("not a class of the samples that are trained on: " + strings.Join(a.names, ", "))
	case named && cell == "":
		return bad("no name of a class")
	case named:
		a.words = append(a.words, cell)
	case err != nil || v != math.Trunc(v) || math.Abs(v) > math.MaxInt32:
		return bad("not the number of a class")
	default:
		a.whole = append(a.whole, int64(v))
	}
	return nil
}

// into puts labels into data. Names of classes are numbered in their order.
func (a *answers) into(d *Data) {
	name := strings.Join(a.columns, ",")
	switch {
	case len(a.columns) == 0:
		return
	case a.targets:
		l := npz.Float32Array(name, []int{a.samples, len(a.columns)}, a.floats)
		d.Labels = &l
		return
	case len(a.words) > 0:
		d.Classes = a.names
		if len(d.Classes) == 0 {
			d.Classes = slices.Compact(slices.Sorted(slices.Values(a.words)))
		}
		for _, w := range a.words {
			a.whole = append(a.whole, int64(slices.Index(d.Classes, w)))
		}
	}
	l := npz.Int64Array(name, []int{len(a.whole)}, a.whole)
	d.Labels = &l
}
