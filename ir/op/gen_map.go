// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// genUnary is an element-wise operation with a result format of its own.
func genUnary(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 0, 4), Format: genFormat(r)})
	return oneOp(o, nil, ir.Type{Format: genResult(r, topOf(x.Type))}, x)
}

// genTable is a function of up to 10 bits. The results of most stay within [-1, 1] or the range of the argument.
func genTable(r *rand.Rand, o *ir.Op, draw func(r *rand.Rand) any) *ir.Graph {
	f := RandomFixed(r, 10)
	if chance(r, 70) { // steps at which the function is neither flat nor straight
		f.F = f.W - between(r, 0, 4)
	}
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 3), Format: f})
	y := genResult(r, between(r, 0, max(0, topOf(x.Type))))
	if chance(r, 20) { // shows whether the function is computed well beyond float64
		y.W, y.F = 60, between(r, 55, 60)
	}
	var attrs any
	if draw != nil {
		attrs = draw(r)
	}
	return oneOp(o, attrs, ir.Type{Format: y}, x)
}

func genLeaky(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 3), Format: genFormat(r)})
	alphas := []float32{0.01, 0.1, 0.25, 1, 0, -0.5, 1.5, float32(math.Ldexp(r.Float64(), between(r, -12, 3)))}
	return oneOp(o, &LeakyAttrs{alphas[r.IntN(len(alphas))]}, ir.Type{Format: genResult(r, topOf(x.Type))}, x)
}

// genClip draws bounds on, between and beyond the values of the argument, sometimes crossed, sometimes missing.
func genClip(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 3), Format: genFormat(r)})
	bound := func() float32 {
		switch r.IntN(4) {
		case 0:
			return float32(x.Type.Format.Decode(RandomCode(r, codesOf(x.Type.Format))).Float64())
		case 1:
			return float32(between(r, -1, 6))
		}
		return float32(math.Ldexp(2*r.Float64()-1, topOf(x.Type)+1))
	}
	a := &ClipAttrs{Min: bound(), Max: bound()}
	if a.Min > a.Max && chance(r, 80) {
		a.Min, a.Max = a.Max, a.Min
	}
	if chance(r, 10) {
		a.Min = float32(math.Inf(-1))
	}
	if chance(r, 10) {
		a.Max = float32(math.Inf(1))
	}
	return oneOp(o, a, ir.Type{Format: genResult(r, topOf(x.Type))}, x)
}

// genSame is an operation that leaves codes as they are.
func genSame(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 0, 4), Format: genFormat(r)})
	return oneOp(o, nil, keeps(x.Type), x)
}

func genReshape(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 4), Format: genFormat(r)})
	shape := []int{x.Type.Elems()}
	if chance(r, 50) {
		shape = append([]int{1}, shape...)
	}
	if d := x.Type.Shape[0]; chance(r, 50) {
		shape = []int{d, x.Type.Elems() / d}
	}
	return oneOp(o, &ReshapeAttrs{shape}, keeps(x.Type), x)
}

func genArgMax(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 3), Format: genFormat(r)})
	rank := len(x.Type.Shape)
	a := &ArgMaxAttrs{Axis: between(r, -rank, rank-1), KeepDims: chance(r, 50), Last: chance(r, 50)}
	f := RandomFixed(r, 8)
	f.F = 0
	return oneOp(o, a, ir.Type{Format: f}, x)
}

// genReduce draws some axes of a value; a few have none between those that stay.
func genReduce(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 4), Format: genFormat(r)})
	rank := len(x.Type.Shape)
	first := r.IntN(rank)
	a := &ReduceAttrs{Axes: []int{first}}
	for i := first + 1; i < rank; i++ {
		if chance(r, 50) {
			a.Axes = append(a.Axes, i)
		}
	}
	if o.Traits.KeepsCodes {
		return oneOp(o, a, keeps(x.Type), x)
	}
	return oneOp(o, a, ir.Type{Format: genResult(r, topOf(x.Type)+r.IntN(4))}, x)
}

// genBinary draws two shapes that broadcast; one argument may be constant. Some have scales that are no powers of two.
func genBinary(r *rand.Rand, o *ir.Op) *ir.Graph {
	full := genShape(r, 0, 3)
	smaller := func() []int {
		shape := append([]int(nil), full...)
		for i := range shape {
			if chance(r, 30) {
				shape[i] = 1
			}
		}
		return shape[r.IntN(len(shape)+1):]
	}
	args, real := make([]*ir.Node, 2), chance(r, 30)
	for i, name := range []string{"a", "b"} {
		t := ir.Type{Shape: full, Format: genFormat(r)}
		if !real && !isFixed(t.Format) { // these are drawn below
			t.Format = RandomFixed(r, 16)
		}
		if real { // what factors have room for
			t.Format = RandomFixed(r, 14)
			if chance(r, 70) {
				t.Format = genAffine(r, 10)
			}
		}
		if chance(r, 50) {
			t.Shape = smaller()
		}
		args[i] = genInput(name, t)
	}
	if i := r.IntN(4); i < 2 {
		t := args[i].Type
		args[i] = genConst("c", t, genCodes(r, t.Format, t.Elems()))
	}
	top := max(topOf(args[0].Type), topOf(args[1].Type)) + 1
	if o.Name == "mul" {
		top = topOf(args[0].Type) + topOf(args[1].Type)
	}
	if real && chance(r, 80) { // as quantized models have it
		f := genAffine(r, 10)
		if f.Over == format.Wrap {
			f.Over = format.Sat
		}
		f.Scale = float32(math.Ldexp(float64(f.Scale), top-topOf(ir.Type{Format: f})+between(r, -2, 5)))
		return oneOp(o, nil, ir.Type{Format: f}, args...)
	}
	return oneOp(o, nil, ir.Type{Format: genResult(r, top)}, args...)
}

// genSoftmax and genBatchNorm draw float graphs: these operations have no integer form.
func genSoftmax(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Float(genShape(r, 1, 3)...))
	rank := len(x.Type.Shape)
	return oneOp(o, &AxisAttrs{between(r, -rank, rank-1)}, ir.Type{Format: format.FP32}, x)
}

func genBatchNorm(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Float(genShape(r, 2, 4)...))
	a := &BatchNormAttrs{Epsilon: 1e-5, Axis: r.IntN(len(x.Type.Shape))}
	args := []*ir.Node{x}
	for i, name := range []string{"gamma", "beta", "mean", "variance"} {
		values := make([]float32, x.Type.Shape[a.Axis])
		for c := range values {
			if values[c] = float32(r.NormFloat64()); i == 3 {
				values[c] = r.Float32() + 0.1
			}
		}
		args = append(args, &ir.Node{Name: name, Op: Const, Attrs: &ir.Const{Data: ir.FloatBlob(values)},
			Type: ir.Float(len(values))})
	}
	return oneOp(o, a, ir.Type{Format: format.FP32}, args...)
}
