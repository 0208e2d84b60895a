// SPDX-License-Identifier: Apache-2.0

package data

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/npz"
)

// shown is how many columns a message names.
const shown = 12

// readTable reads a table with a header; all columns are features, but for that of labels.
func readTable(path, label string, shape []int) (*Data, error) {
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
	at := -1
	if label != "" {
		if at = slices.Index(header, label); at < 0 {
			return nil, diag.New(diag.TrainLabels, path, "there is no column %q; columns begin with %s", label,
				strings.Join(header[:min(len(header), shown)], ", "))
		}
	}
	var x []float32
	var classes []int64
	n := 0
	for ; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badTable(path, err)
		}
		for i, s := range row {
			v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			line, _ := r.FieldPos(i)
			switch {
			case i == at && (err != nil || v != math.Trunc(v) || math.Abs(v) > math.MaxInt32):
				return nil, diag.New(diag.TrainLabels, path, "line %d, column %q: %q is not the number of a class", line,
					header[i], s)
			case i == at:
				classes = append(classes, int64(v))
			case err != nil || v-v != 0:
				return nil, diag.New(diag.ArrayBroken, path, "line %d, column %q: %q is not a finite number", line, header[i], s).
					WithHint("leave the column out, or name it with --labels if it holds the classes")
			default:
				x = append(x, float32(v))
			}
		}
	}
	d := &Data{}
	if at >= 0 {
		a := npz.Int64Array(label, []int{n}, classes)
		d.Labels = &a
	}
	d.File, err = one(path, n, []int{len(x) / max(n, 1)}, shape, x)
	return d, err
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
