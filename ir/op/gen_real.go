// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// genAffine draws integers of up to maxW bits with a real scale and, mostly, a zero point among the codes.
func genAffine(r *rand.Rand, maxW int) format.Affine {
	f := RandomFixed(r, maxW)
	a := format.Affine{W: f.W, Signed: f.Signed, Axis: format.PerTensor, Round: f.Round, Over: f.Over}
	a.Scale = float32(math.Ldexp(1+r.Float64(), between(r, -9, 2)))
	if chance(r, 15) {
		a.Scale = float32(math.Ldexp(1, between(r, -9, 2)))
	}
	bare := format.Fixed{W: f.W, Signed: f.Signed}
	switch {
	case chance(r, 70):
		a.Zero = RandomCode(r, bare)
	case chance(r, 10):
		a.Zero = int64(between(r, -20, 300))
	}
	return a
}

// genScales draws a positive scale near 2^top for each of n channels, now and then a power of two.
func genScales(r *rand.Rand, n, top int) []float32 {
	scales := make([]float32, n)
	for i := range scales {
		scales[i] = float32(math.Ldexp(0.5+r.Float64()/2, top-between(r, 0, 3)))
		if chance(r, 8) {
			scales[i] = float32(math.Ldexp(1, top))
		}
	}
	return scales
}

// genRealMAC draws a weighted sum as quantized models have it: affine data and result, weights with a real scale for
// the tensor or each channel, a bias in steps of the products or in any other format.
func genRealMAC(r *rand.Rand, o *ir.Op, attrs any, x *ir.Node, wshape []int, bias bool) *ir.Graph {
	data := genAffine(r, 10)
	x.Type.Format = data
	a := format.Affine{W: between(r, 1, 9), Signed: chance(r, 85), Axis: format.PerTensor}
	if chance(r, 20) {
		a.Zero = int64(between(r, -20, 20))
	}
	wt, scales := ir.Type{Shape: wshape}, genScales(r, 1, between(r, -6, 0))
	if chance(r, 60) {
		scales = genScales(r, wshape[0], between(r, -6, 0))
		a.Axis, wt.Scales = 0, scales
	} else {
		a.Scale = scales[0]
	}
	wt.Format = a
	args := []*ir.Node{x, genWeights(r, wt)}
	if bias {
		args = append(args, genRealBias(r, wshape[0], data.Scale, scales))
	}
	terms := 1
	for _, d := range wshape[1:] {
		terms *= d
	}
	top := topOf(x.Type) + a.W + int(math.Log2(float64(scales[0]))) + bitLen(terms)/2
	t := ir.Type{Format: genRealResult(r, top)}
	if chance(r, 20) {
		f := genResult(r, top)
		t.Format = f
	}
	return oneOp(o, attrs, t, args...)
}

// genRealBias draws 32-bit codes in steps of the products, but for the rounding of their scales to float32; sometimes a
// fixed-point bias.
func genRealBias(r *rand.Rand, channels int, data float32, weights []float32) *ir.Node {
	if chance(r, 30) {
		return genBias(r, channels, int(math.Log2(float64(data*weights[0]))))
	}
	t := ir.Type{Shape: []int{channels}}
	a := format.Affine{W: 32, Signed: true, Axis: 0}
	for c := range channels {
		t.Scales = append(t.Scales, data*weights[at(len(weights), c)])
	}
	t.Format = a
	codes := make([]int64, channels)
	for c := range codes {
		codes[c] = int64(between(r, -1<<between(r, 1, 22), 1<<10))
	}
	return genConst("b", t, codes)
}

// genRealResult draws an affine format for results of magnitude up to 2^top.
func genRealResult(r *rand.Rand, top int) format.Affine {
	out := genAffine(r, 12)
	out.Scale *= float32(math.Ldexp(1, top-out.W-between(r, -2, 4)-int(math.Log2(float64(out.Scale)))))
	return out
}

// genRealMean makes codes with a real scale of the argument and the result of a mean, in some of the cases.
func genRealMean(r *rand.Rand, g *ir.Graph) *ir.Graph {
	if chance(r, 30) {
		n := g.Out[0].Node
		n.Args[0].Type.Format = genAffine(r, 10)
		n.Type.Format = genRealResult(r, topOf(n.Args[0].Type))
	}
	return g
}
