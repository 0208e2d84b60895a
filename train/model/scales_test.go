// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/train/grad"
)

// TestSteps compares values rounded to trained steps with their codes, and the gradients of both with their formulas.
func TestSteps(t *testing.T) {
	const rows, row = 3, 40
	r := rand.New(rand.NewPCG(6, 1))
	for _, c := range []struct {
		f      format.Fixed
		zero   int64
		powers bool
		start  []float64
		leaf   []float32
	}{
		{format.Fixed{W: 4, Signed: true}, 0, true, []float64{0.25, 0.5, 0.125}, []float32{0.6, -1.2, 9}},
		{format.Fixed{W: 3, Over: format.Sym}, 0, true, []float64{0.25, 0.25, 0.25}, []float32{0, 0.4, -9}},
		{format.Fixed{W: 4, Signed: true, Round: format.RoundFloor}, 0, false, []float64{0.3}, []float32{0.77}},
		{format.Fixed{W: 4}, 5, false, []float64{0.3}, []float32{1.9}},
		{format.Fixed{W: 2, Signed: true}, 0, false, []float64{0.3}, []float32{0.01}},
	} {
		s := Scale{Powers: c.powers, Start: c.start, codes: format.Integers{Codes: c.f, Zero: c.zero}, elems: row}
		x, along := make([]float32, rows*row), make([]float32, rows*row)
		for i := range x {
			x[i], along[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
		}
		x[0], x[1] = 0, float32(math.NaN())
		b := hlo.New("main")
		shape := []int{rows, row}
		v, l := b.Arg("x", hlo.TypeOf(hlo.F32, shape...)), b.Arg("leaf", hlo.TypeOf(hlo.F32, len(c.leaf)))
		p := &Forward{Model: &Model{Scales: []Scale{s}}, b: b, Scales: []hlo.Value{l}}
		p.printSteps()
		y := p.roundWeights(0, v)
		loss := b.Reduce(hlo.ReduceAdd, b.Mul(y, b.Const(hlo.FromFloat32s(shape, along))), 0, 1)
		g, err := grad.Of(b, loss, v, l)
		if err != nil {
			t.Fatal(err)
		}
		b.Return(y, p.steps[0], g[0], g[1])
		got := pjrttest.Run(t, b, hlo.FromFloat32s(shape, x), hlo.FromFloat32s([]int{len(c.leaf)}, c.leaf))
		checkSteps(t, &s, c.leaf, x, along, got)
	}
}

// checkSteps compares values, steps, and the gradients of values and of what is trained of steps, for values x in rows
// whose gradients are along.
func checkSteps(t *testing.T, s *Scale, leaf, x, along []float32, got []hlo.Array) {
	t.Helper()
	c := s.codes.Codes
	steps, slopes := s.Steps(leaf), make([]float64, len(leaf))
	for k, w := range got[1].Float64s() {
		if w != float64(steps[k]) {
			t.Errorf("%s: step %d is %g, and ships as %g", c, k, w, steps[k])
		}
	}
	for i, v := range x {
		k := i * len(steps) / len(x)
		f := format.Affine{W: c.W, Zero: s.codes.Zero, Signed: c.Signed, Scale: steps[k], Axis: format.PerTensor,
			Round: c.Round, Over: c.Over}
		want := f.Decode(f.Encode(format.FromFloat32(v))).Float64()
		if y := got[0].Float64s()[i]; y != want {
			t.Errorf("%s: %g is %g in steps of %g, not %g", f, v, y, steps[k], want)
		}
		lo, hi := f.Limits()
		within, through := float64(v), 1.0
		if !(float64(v) >= lo.Float64() && float64(v) <= hi.Float64()) {
			within, through = 0, 0
		}
		if d := got[2].Float64s()[i]; d != through*float64(along[i]) && v == v {
			t.Errorf("%s: the gradient of %g is %g", f, v, d)
		}
		each := float64(along[i]) * (want - within) / float64(steps[k]) // for a step that grows by 1
		if s.Powers {
			each *= math.Ln2 * float64(steps[k])
		} else {
			each *= s.Start[k]
		}
		slopes[k] += each / math.Sqrt(float64(s.elems)*float64(f.Integers().Max()-s.codes.Zero))
	}
	for k, want := range slopes {
		if d := got[3].Float64s()[k]; math.Abs(d-want) > 1e-4*math.Max(1, math.Abs(want)) {
			t.Errorf("%s: the gradient of step %d is %g, not %g", c, k, d, want)
		}
	}
}

// TestInSteps rounds sums by the factors of hardware, at sums that the real ratio puts in the middle between two codes.
func TestInSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	codes := format.Fixed{W: 24, Signed: true}
	other := 0
	for range 20 {
		odd := func() int64 { return 129 + 2*r.Int64N(60) }
		a, b, c := odd(), odd(), odd()
		data, weights, result := float64(a)/64, float64(b)/512, float64(c)/4 // ratio a*b/c/2^13
		var sums []float64
		var want []int64
		res, err := arith.NewRescale(format.Integers{Codes: codes}, []*big.Rat{big.NewRat(a*b, c<<13)}, 24)
		if err != nil {
			t.Fatal(err)
		}
		for k := range int64(8) {
			s := c << 12 * (2*k - 7) // times the ratio: an odd number of halves
			sums, want = append(sums, float64(s)*data*weights), append(want, res.Code(0, s))
		}
		p := hlo.New("main")
		f := &Forward{Model: &Model{}, b: p, standing: map[float64]hlo.Value{}}
		for _, s := range []float64{data, weights, result} {
			f.standing[s] = p.Weight(hlo.FromFloat64s(hlo.F64, nil, []float64{s}))
		}
		v := p.Arg("sums", hlo.TypeOf(hlo.F64, len(sums)))
		p.Return(p.RoundEven(f.inSteps(weighing{data: stepRef{-1, data}, weights: stepRef{-1, weights},
			result: stepRef{-1, result}}, v)))
		got := pjrttest.Run(t, p, hlo.FromFloat64s(hlo.F64, []int{len(sums)}, sums))[0].Float64s()
		for i, w := range want {
			if got[i] != float64(w) {
				t.Errorf("%g in steps of %g*%g becomes %g in steps of %g, and %d in hardware", sums[i], data, weights, got[i],
					result, w)
			}
			if math.RoundToEven(sums[i]/result) != float64(w) {
				other++
			}
		}
	}
	if other == 0 {
		t.Error("the real ratio rounds all sums as the factor does")
	}
}
