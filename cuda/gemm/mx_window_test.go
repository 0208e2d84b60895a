// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/internal/tools"
)

func TestWindowGates(t *testing.T) {
	var all []cuda.Instance
	for _, c := range gemm.TilesMX {
		if !tools.Long && c.Rows() != 64 {
			continue
		}
		for _, p := range []gemm.Window{{K: 16, Scaled: true, Bits: 48}, {K: 16, Scaled: true, Bits: 37, Exact: true},
			{K: 1, Bits: 8}} {
			i, err := p.InstanceOf(c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, i)
		}
	}
	cudatest.Gates(t, all...)
}

// TestWindow demands every bit: terms far above, around and far below the window, of both signs.
func TestWindow(t *testing.T) {
	for i, c := range []struct {
		gemm.Window
		tile   int
		scales gemmtest.Scales
		all    bool
	}{
		{gemm.Window{M: 65, N: 72, K: 400, Scaled: true, Shift: -246, Bits: 37, Exact: true}, 1, gemmtest.NarrowScales, true},
		{gemm.Window{M: 33, N: 40, K: 1, Scaled: true, Shift: -230, Bits: 48, Exact: true}, 1, gemmtest.NarrowScales, false},
		{gemm.Window{M: 33, N: 80, K: 352, Scaled: true, Shift: -250, Bits: 33}, 1, gemmtest.AnyScales, true},
		{gemm.Window{M: 7, N: 33, K: 33, Scaled: true, Shift: -262, Bits: 14}, 1, gemmtest.NarrowScales, false},
		{gemm.Window{M: 31, N: 130, K: 131, Scaled: true, Shift: -230, Bits: 48}, 0, gemmtest.AnyScales, false},
		{gemm.Window{M: 130, N: 96, K: 256, Scaled: true, Shift: -252, Bits: 24}, 2, gemmtest.NarrowScales, false},
		{gemm.Window{M: 20, N: 33, K: 96, Shift: -124, Bits: 20}, 0, gemmtest.NarrowScales, false},
		{gemm.Window{M: 17, N: 40, K: 64, Shift: -127, Bits: 48}, 1, gemmtest.AnyScales, false},
		{gemm.Window{M: 9, N: 24, K: 300, Scaled: true, Shift: -270, Bits: 8}, 1, gemmtest.NarrowScales, false},
		{gemm.Window{M: 5, N: 16, K: 128, Scaled: true, Shift: 20, Bits: 48}, 0, gemmtest.AnyScales, false},
		{gemm.Window{M: 5, N: 16, K: 128, Scaled: true, Shift: -550, Bits: 16}, 0, gemmtest.AnyScales, false},
		{gemm.Window{M: 1, N: 1, K: 1, Scaled: true, Shift: -250, Bits: 1}, 0, gemmtest.NarrowScales, false},
		{gemm.Window{M: 2, N: 3, K: 0, Scaled: true, Bits: 20}, 0, gemmtest.NarrowScales, false},
	} {
		plan, err := c.With(gemm.TilesMX[c.tile])
		if err != nil {
			t.Fatal(err)
		}
		one := gemmtest.Window(c.Window, plan, uint64(i), c.scales)
		t.Run(one.Name, func(t *testing.T) { cudatest.RunCase(t, one, !c.all) })
	}
	for _, p := range []gemm.Window{{Bits: 0}, {Bits: 49}, {Bits: 8, K: 32<<14 + 1}, {Bits: 8, M: -1}} {
		if p.Valid() == nil {
			t.Errorf("%+v is not refused", p)
		}
	}
}
