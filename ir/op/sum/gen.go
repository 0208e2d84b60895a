// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
)

// genSum completes a weighted sum: weights of the given shape, bias, and a result format near the size of the sums.
func genSum(r *rand.Rand, o *ir.Op, attrs any, x *ir.Node, wshape []int, bias bool) *ir.Graph {
	for {
		g := drawSum(r, o, attrs, x, wshape, bias)
		if dot.Legal(g.Out[0].Node) == nil { // real scales leave less room
			return g
		}
	}
}

func drawSum(r *rand.Rand, o *ir.Op, attrs any, x *ir.Node, wshape []int, bias bool) *ir.Graph {
	if draw.Chance(r, 25) {
		return genFactorSum(r, o, attrs, x, wshape, bias)
	}
	w := draw.GenWeights(r, draw.GenWeightType(r, wshape))
	terms, wTop := 1, 0
	for _, d := range wshape[1:] {
		terms *= d
	}
	if w.Type.Scales == nil {
		wTop = draw.Top(w.Type)
	} else {
		wTop = draw.Top(w.Type)
		for _, s := range w.Type.Scales {
			e, _ := format.Log2(s)
			wTop = max(wTop, draw.Top(w.Type)+e)
		}
	}
	args := []*ir.Node{x, w}
	if bias {
		step := draw.Top(x.Type) + wTop - draw.Between(r, 0, x.Type.Format.Width()+w.Type.Format.Width())
		args = append(args, draw.GenBias(r, wshape[0], step))
	}
	top := draw.Top(x.Type) + wTop + arith.BitLen(terms) - draw.Between(r, 0, 3)
	return draw.Graph(o, attrs, ir.Type{Format: draw.Result(r, top)}, args...)
}

// genFactorSum draws a weighted sum as quantized models have it: affine data and result, weights with a real scale for
// the tensor or each channel, a bias in steps of the products or in any other format.
func genFactorSum(r *rand.Rand, o *ir.Op, attrs any, x *ir.Node, wshape []int, bias bool) *ir.Graph {
	data := draw.Affine(r, 10)
	x.Type.Format = data
	a := format.Affine{W: draw.Between(r, 1, 9), Signed: draw.Chance(r, 85), Axis: format.PerTensor}
	if draw.Chance(r, 20) {
		a.Zero = int64(draw.Between(r, -20, 20))
	}
	wt, scales := ir.Type{Shape: wshape}, draw.GenScales(r, 1, draw.Between(r, -6, 0))
	if draw.Chance(r, 60) {
		scales = draw.GenScales(r, wshape[0], draw.Between(r, -6, 0))
		a.Axis, wt.Scales = 0, scales
	} else {
		a.Scale = scales[0]
	}
	wt.Format = a
	args := []*ir.Node{x, draw.GenWeights(r, wt)}
	if bias {
		args = append(args, genFactorBias(r, wshape[0], data.Scale, scales))
	}
	terms := 1
	for _, d := range wshape[1:] {
		terms *= d
	}
	top := draw.Top(x.Type) + a.W + int(math.Log2(float64(scales[0]))) + arith.BitLen(terms)/2
	t := ir.Type{Format: draw.AffineResult(r, top)}
	if draw.Chance(r, 20) {
		f := draw.Result(r, top)
		t.Format = f
	}
	return draw.Graph(o, attrs, t, args...)
}

// genFactorBias draws 32-bit codes in steps of the products, but for the rounding of their scales to float32;
// sometimes a fixed-point bias.
func genFactorBias(r *rand.Rand, channels int, data float32, weights []float32) *ir.Node {
	if draw.Chance(r, 30) {
		return draw.GenBias(r, channels, int(math.Log2(float64(data*weights[0]))))
	}
	t := ir.Type{Shape: []int{channels}}
	a := format.Affine{W: 32, Signed: true, Axis: 0}
	for c := range channels {
		t.Scales = append(t.Scales, data*weights[arith.At(len(weights), c)])
	}
	t.Format = a
	codes := make([]int64, channels)
	for c := range codes {
		codes[c] = int64(draw.Between(r, -1<<draw.Between(r, 1, 22), 1<<10))
	}
	return draw.Const("b", t, codes)
}
