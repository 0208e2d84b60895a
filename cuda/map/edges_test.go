// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	pointwise "lathe/cuda/map"
	"lathe/cuda/map/maptest"
	"lathe/cuda/num"
	"lathe/ir/format"
)

// TestEdges has as many elements, rows and blocks as end around the ends of what a thread, a warp or a block of threads
// takes. The words are of every kind: NaN and infinities stand everywhere, so that no neighbour goes unseen.
func TestEdges(t *testing.T) {
	ran := func(c cuda.Case, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			cudatest.RunCase(t, c, true)
		})
	}
	bf16, fixed := pointwise.Side{Codec: num.BF16}, format.Fixed{W: 8, F: 4, Signed: true}
	sum := expr(t, "add", expr(t, "gelu_erf", pointwise.Arg(0)), pointwise.Arg(1))
	for _, n := range []int64{7, 8, 9, 2047, 2048, 2049} {
		ran(maptest.Cast(pointwise.Cast{N: n, From: bf16, To: side(t, fixed.String())}, fixed, false))
		ran(maptest.Chain(pointwise.Chain{Expr: sum, N: n, Cols: n, In: num.BF16, Out: num.BF16,
			Inputs: []pointwise.Shape{pointwise.Whole, pointwise.Whole}}, "gelu_add", false))
	}
	for _, s := range [][2]int64{{127, 31}, {128, 33}, {129, 32}, {43, 95}, {32, 127}, {3, 15}, {2, 16}, {1, 17}} {
		ran(maptest.Quantize(pointwise.Quantize{Rows: s[0], Cols: s[1], In: num.BF16}, false))
	}
	for _, s := range [][3]int64{{1, 31, 7}, {2, 33, 2}, {3, 32, 3}, {1, 65, 3}, {1, 63, 4}, {9, 1, 1}} {
		ran(maptest.Blocks(pointwise.Blocks{Outer: s[0], Axis: pointwise.Axis{Length: s[1], Inner: s[2]}, From: bf16,
			To: format.NewMXInt(8, 32)}, false))
	}
}
