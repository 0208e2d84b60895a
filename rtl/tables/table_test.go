// SPDX-License-Identifier: Apache-2.0

package tables_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
	"lathe/rtl/tables"
)

// drawn is a table of random codes.
func drawn(r *rand.Rand, in, out int) *tables.Table {
	t := &tables.Table{Lanes: 1 + r.IntN(3), Beats: 1 + r.IntN(3), In: in, Out: out, Codes: make([]int64, 1<<in)}
	for x := range t.Codes {
		t.Codes[x] = r.Int64N(1<<out) - r.Int64N(2)<<out
	}
	return t
}

// TestTables simulates random tables under all stalls.
func TestTables(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	widths := []int{8, 6, 7, 1, 5, 2, 3, 4}
	for i := range tools.Sample(3, 64) {
		c := drawn(r, widths[i%len(widths)], 1+r.IntN(12))
		u, err := c.Unit()
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("table%d", i)
		rtltest.Run(t, rtltest.Bench{Module: name, Files: []rtl.File{rtltest.Body(t, name, u)},
			In:  []rtltest.Port{{Name: "in", Lanes: c.Lanes, Beats: c.Beats}},
			Out: []rtltest.Port{{Name: "out", Lanes: c.Lanes}},
			Model: func(in [][]int64) [][]int64 {
				y := make([]int64, len(in[0]))
				for j, x := range in[0] {
					y[j] = c.Codes[x] & (1<<c.Out - 1)
				}
				return [][]int64{y}
			}})
	}
}

// TestLUTs: what a lane takes without its registers; TestTableCosts of sim/area holds the prediction to Yosys.
func TestLUTs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	square := &tables.Table{In: 7, Out: 14}
	for x := range int64(128) {
		square.Codes = append(square.Codes, x*x)
	}
	for _, c := range []struct {
		what string
		*tables.Table
		want int
	}{
		{"6 bits", drawn(r, 6, 5), 5},
		{"7 bits", drawn(r, 7, 5), 15},
		{"8 bits", drawn(r, 8, 5), 25},
		{"the same code everywhere", &tables.Table{In: 8, Out: 4, Codes: make([]int64, 256)}, 0},
		{"a bit of the argument", &tables.Table{In: 2, Out: 1, Codes: []int64{0, 0, 1, 1}}, 0},
		{"squares", square, 24},
	} {
		if got := c.LUTs(); got != c.want {
			t.Errorf("%s: %d LUTs, want %d", c.what, got, c.want)
		}
	}
}
