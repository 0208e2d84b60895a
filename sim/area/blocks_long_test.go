// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"testing"

	"lathe/internal/tools"
)

// sums are a sum over blocks of MXINT8, and of MXFP4, whose elements are integers of 5 bits.
var sums = []single{
	{"mx_linear_fed", []string{"IN", "64", "OUT", "8", "RUN", "64", "K", "32", "IN_LANES", "8", "ROWS", "2"}},
	{"mx_linear_fed", []string{"IN", "64", "OUT", "8", "RUN", "64", "K", "32", "IN_LANES", "8", "ROWS", "2", "X_W", "4",
		"X_E", "2", "W_W", "5", "D_W", "14"}},
}

// wide is a sum over blocks of MXFP8.
var wide = single{"mx_linear_fed", []string{"IN", "64", "OUT", "8", "RUN", "64", "K", "32", "IN_LANES", "4", "ROWS",
	"2", "X_E", "4", "W_W", "19", "D_W", "43"}}

// TestNarrowBlocks: sums over blocks of MXFP4 take less than those of MXINT8, in LUTs and in flip-flops.
func TestNarrowBlocks(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	r, err := Count(t.Context(), dir, besides(t, dir, sums), "modules", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lut, ff []int
	for _, in := range r.Instances {
		if in.Depth == 1 {
			lut, ff = append(lut, in.Cells.LUT), append(ff, in.Cells.FF)
		}
	}
	t.Logf("LUTs %d, FFs %d", lut, ff)
	if len(lut) != 2 || lut[1] >= lut[0] || ff[1] >= ff[0] {
		t.Errorf("MXINT8 and MXFP4 take %d LUTs and %d FFs", lut, ff)
	}
}

// TestCodedBlockCosts holds costs of the codecs of blocks whose elements are no integers, and of their sums.
func TestCodedBlockCosts(t *testing.T) {
	tools.Need(t, "yosys")
	holdCosts(t, t.TempDir(), append([]single{
		{"mx_encode", []string{"LANES", "2", "K", "8", "ROW", "8"}},
		{"mx_encode", []string{"LANES", "2", "K", "8", "ROW", "8", "W", "4", "E", "2", "MOST", "7", "POINT", "4"}},
		{"mx_encode", []string{"LANES", "2", "K", "8", "ROW", "8", "E", "0", "MOST", "127", "ONE_ZERO", "1"}},
		{"mx_encode", []string{"LANES", "1", "K", "8", "ROW", "8", "W", "5", "E", "4", "MOST", "15", "POINT", "15", "CEIL",
			"1", "FALLS", "1"}},
		{"mx_decode", nil},
		{"mx_decode", []string{"W", "8", "E", "4"}},
		{"mx_decode", []string{"W", "4", "E", "2"}},
		wide,
		{"mx_linear_fed", append(sums[1].set[:len(sums[1].set):len(sums[1].set)], "CODED", "1", "W_W", "4", "W_E", "2")},
		{"mx_linear_fed", append(wide.set[:len(wide.set):len(wide.set)], "CODED", "1", "W_W", "8", "W_E", "4")},
	}, sums...), 8)
}
