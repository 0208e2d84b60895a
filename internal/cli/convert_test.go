// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"testing"

	"lathe/internal/npz"
	"lathe/ir/format"
)

// TestConvertScales checks the shape of the scales of blocks and of tiles, and that arrays come back from their codes.
func TestConvertScales(t *testing.T) {
	for _, c := range []struct {
		format        string
		shape, scales []int
	}{
		{"mxint(8,4)", []int{2, 5, 7}, []int{2, 5, 2}}, {"mxint(8,2x3)", []int{2, 5, 7}, []int{2, 3, 3}},
		{"mxint(8,4x4)", []int{5, 7}, []int{2, 2}}, {"mxint(8,4x4)", []int{7}, []int{2}}, {"mxint(8,4)", nil, []int{1}},
	} {
		count := 1
		for _, d := range c.shape {
			count *= d
		}
		x := make([]float64, count)
		for i := range x {
			x[i] = float64(i)
		}
		f, err := format.Parse(c.format)
		if err != nil {
			t.Fatal(err)
		}
		out, err := convertArrays(f, &npz.File{Arrays: []npz.Array{npz.Float64Array("x", c.shape, x)}}, false)
		if err != nil {
			t.Fatalf("%s: %v", c.format, err)
		}
		if codes, scales := out[0], out[2]; !slices.Equal(scales.Shape, c.scales) {
			t.Errorf("%s of %v: scales of %v, want %v", c.format, c.shape, scales.Shape, c.scales)
		} else if back, err := convertArrays(f, &npz.File{Arrays: []npz.Array{codes, scales}}, true); err != nil {
			t.Errorf("%s of %v: %v", c.format, c.shape, err)
		} else if !slices.Equal(back[0].Float64s(), out[1].Float64s()) {
			t.Errorf("%s of %v: values %v became %v", c.format, c.shape, out[1].Float64s(), back[0].Float64s())
		}
	}
}
