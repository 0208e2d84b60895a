// SPDX-License-Identifier: Apache-2.0

package data

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// shown is how many columns a message names.
const shown = 12

// readTable reads a table with a header; all columns are features, but for those of labels.
func readTable(path string, w *Wanted) (*Data, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		return nil, badTable(path, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	labels, err := answersOf(path, w)
	if err != nil {
		return nil, err
	}
	at, err := places(path, header, labels.columns)
	if err != nil {
		return nil, err
	}
	features, err := featuresOf(path, header, at, w.Features)
	if err != nil {
		return nil, err
	}
	var x []float32
	n := 0
	for ; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badTable(path, err)
		}
		line, _ := r.FieldPos(0)
		for _, i := range at {
			if err := labels.add(line, header[i], row[i]); err != nil {
				return nil, err
			}
		}
		for _, i := range features {
			s := row[i]
			v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			if err != nil || v-v != 0 {
				return nil, diag.New(diag.ArrayBroken, path, "line %d, column %q: %q is not a finite number", line, header[i], s).
					WithHint("leave the column out, or name it with --labels if it holds the classes")
			}
			x = append(x, float32(v))
		}
	}
	d := &Data{}
	for _, i := range features {
		d.Features = append(d.Features, header[i])
	}
	labels.into(d)
	d.File, err = one(path, n, []int{len(x) / max(n, 1)}, w.Shape, x)
	return d, err
}

// featuresOf are the places of the columns that are features: all but those of labels, in the order of the names where
// other samples have given them.
func featuresOf(path string, header []string, labels []int, names []string) (at []int, err error) {
	for i := range header {
		if !slices.Contains(labels, i) {
			at = append(at, i)
		}
	}
	if names == nil {
		return at, nil
	}
	var ordered []int
	for _, name := range names {
		i := slices.Index(header, name)
		if !slices.Contains(at, i) {
			return nil, diag.New(diag.ArrayShape, path, "there is no column %q, which the samples of training have", name)
		}
		ordered = append(ordered, i)
	}
	for _, i := range at {
		if !slices.Contains(ordered, i) {
			return nil, diag.New(diag.ArrayShape, path, "the samples of training have no column %q", header[i]).
				WithHint("leave the column out, or name it with --eval-labels if it holds the classes")
		}
	}
	return ordered, nil
}

func badTable(path string, err error) error {
	if errors.Is(err, io.EOF) {
		return diag.New(diag.ArrayBroken, path, "the table is empty")
	}
	return diag.New(diag.ArrayBroken, path, "this is no table: %v", err)
}

func unreadable(path string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return diag.New(diag.ArrayOpen, path, "%v", err)
}
