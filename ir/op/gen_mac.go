// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// genWeightType draws a type for weights whose first axis is the output channel: one step for all, a power of two a
// channel, or any real scale.
func genWeightType(r *rand.Rand, shape []int) ir.Type {
	w := between(r, 1, 9)
	if chance(r, 15) {
		w = between(r, 10, 18)
	}
	a := format.Affine{W: w, Signed: chance(r, 85)}
	switch k := r.IntN(100); {
	case k < 45:
		spread := between(r, 0, 6)
		t := ir.Type{Shape: shape, Format: a}
		for range shape[0] {
			t.Scales = append(t.Scales, float32(math.Ldexp(1, -between(r, 0, spread))))
		}
		if chance(r, 15) {
			a.Zero = int64(between(r, -5, 5))
			t.Format = a
		}
		return t
	case k < 53:
		a.Axis, a.Scale = format.PerTensor, float32(math.Ldexp(0.5+r.Float64()/2, between(r, -6, 2)))
		return ir.Type{Shape: shape, Format: a}
	}
	f := RandomFixed(r, 9)
	f.W = w
	if w == 1 {
		f.Over = format.Sat
	}
	return ir.Type{Shape: shape, Format: f}
}

// genWeights draws weights; now and then whole rows are zero.
func genWeights(r *rand.Rand, t ir.Type) *ir.Node {
	codes := genCodes(r, t.Format, t.Elems())
	if row := t.Elems() / t.Shape[0]; chance(r, 25) {
		for c := range t.Shape[0] {
			if chance(r, 40) {
				clear(codes[c*row : (c+1)*row])
			}
		}
	}
	return genConst("w", t, codes)
}

// genBias draws a bias for products in steps of 2^step: finer, equal or coarser, rarely very coarse.
func genBias(r *rand.Rand, channels, step int) *ir.Node {
	f := format.Fixed{W: between(r, 1, 18), F: -step + between(r, -6, 6), Signed: chance(r, 80)}
	if chance(r, 10) {
		f.F = -step + between(r, -24, 24)
	}
	t := ir.Type{Shape: []int{channels}, Format: f}
	if chance(r, 15) {
		t.Format = format.Affine{W: f.W, Signed: f.Signed}
		for range channels {
			t.Scales = append(t.Scales, float32(math.Ldexp(1, step+between(r, -4, 4))))
		}
	}
	return genConst("b", t, genCodes(r, f, channels))
}

// genMAC completes a weighted sum: weights of the given shape, bias, and a result format near the size of the sums.
func genMAC(r *rand.Rand, o *ir.Op, attrs any, x *ir.Node, wshape []int, bias bool) *ir.Graph {
	for {
		g := drawMAC(r, o, attrs, x, wshape, bias)
		if sumLegal(g.Out[0].Node) == nil { // real scales leave less room
			return g
		}
	}
}

func drawMAC(r *rand.Rand, o *ir.Op, attrs any, x *ir.Node, wshape []int, bias bool) *ir.Graph {
	if chance(r, 25) {
		return genRealMAC(r, o, attrs, x, wshape, bias)
	}
	w := genWeights(r, genWeightType(r, wshape))
	terms, wTop := 1, 0
	for _, d := range wshape[1:] {
		terms *= d
	}
	if w.Type.Scales == nil {
		wTop = topOf(w.Type)
	} else {
		wTop = topOf(w.Type)
		for _, s := range w.Type.Scales {
			e, _ := format.Log2(s)
			wTop = max(wTop, topOf(w.Type)+e)
		}
	}
	args := []*ir.Node{x, w}
	if bias {
		step := topOf(x.Type) + wTop - between(r, 0, x.Type.Format.Width()+w.Type.Format.Width())
		args = append(args, genBias(r, wshape[0], step))
	}
	top := topOf(x.Type) + wTop + bitLen(terms) - between(r, 0, 3)
	return oneOp(o, attrs, ir.Type{Format: genResult(r, top)}, args...)
}

func genLinear(r *rand.Rand, o *ir.Op) *ir.Graph {
	in, out := between(r, 1, 24), between(r, 1, 10)
	if chance(r, 50) { // sizes with many divisors
		in, out = []int{4, 6, 8, 12, 16, 24}[r.IntN(6)], []int{1, 2, 4, 6, 8}[r.IntN(5)]
	}
	shape := []int{in}
	for range r.IntN(3) {
		shape = append([]int{between(r, 1, 3)}, shape...)
	}
	x := genInput("x", ir.Type{Shape: shape, Format: genFormat(r)})
	return genMAC(r, o, nil, x, []int{out, in}, chance(r, 80))
}

func genScale(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 3), Format: genFormat(r)})
	axis := len(x.Type.Shape) - 1
	return genMAC(r, o, &ScaleAttrs{Axis: axis}, x, []int{x.Type.Shape[axis]}, true)
}

// genWindow draws a channels-last image of one or two spatial axes and a window that has an element of the image at
// every position.
func genWindow(r *rand.Rand, ceil bool) (shape []int, w Window) {
	rank := 2 - r.IntN(4)/3
	for {
		shape = []int{1}
		if chance(r, 10) {
			shape[0] = 2
		}
		w = Window{ChannelsLast: true, CeilMode: ceil, Pads: make([]int, 2*rank)}
		for i := range rank {
			k := between(r, 1, 3)
			w.Kernel = append(w.Kernel, k)
			w.Strides = append(w.Strides, between(r, 1, 3))
			w.Dilations = append(w.Dilations, 1+r.IntN(3)/2)
			if chance(r, 60) {
				w.Pads[i], w.Pads[i+rank] = r.IntN(k), r.IntN(k)
			}
			shape = append(shape, between(r, 1, 7))
		}
		shape = append(shape, []int{1, 2, 3, 4, 6}[r.IntN(5)])
		if g, err := NewGeometry(shape, &w); err == nil && g.empty() == nil {
			return shape, w
		}
	}
}

func genConv(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, w := genWindow(r, false)
	a := &ConvAttrs{Window: w, Groups: 1}
	ic, oc := shape[len(shape)-1], between(r, 1, 6)
	switch k := r.IntN(100); {
	case k < 15: // depthwise
		a.Groups, oc = ic, ic
	case k < 25:
		for _, groups := range []int{ic, 3, 2} {
			if ic%groups == 0 {
				a.Groups, oc = groups, groups*between(r, 1, 2)
			}
		}
	}
	wshape := append(append([]int{oc}, w.Kernel...), ic/a.Groups)
	x := genInput("x", ir.Type{Shape: shape, Format: genFormat(r)})
	return genMAC(r, o, a, x, wshape, chance(r, 80))
}

func genMaxPool(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, w := genWindow(r, chance(r, 20))
	x := genInput("x", ir.Type{Shape: shape, Format: genFormat(r)})
	return oneOp(o, &w, keeps(x.Type), x)
}

func genAvgPool(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, w := genWindow(r, chance(r, 20))
	x := genInput("x", ir.Type{Shape: shape, Format: genFormat(r)})
	a := &AvgAttrs{Window: w, IncludePad: chance(r, 70)}
	return genRealMean(r, oneOp(o, a, ir.Type{Format: genResult(r, topOf(x.Type))}, x))
}

func genGlobalAvg(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, _ := genWindow(r, false)
	x := genInput("x", ir.Type{Shape: shape, Format: genFormat(r)})
	return genRealMean(r, oneOp(o, &GlobalAttrs{ChannelsLast: true}, ir.Type{Format: genResult(r, topOf(x.Type))}, x))
}
