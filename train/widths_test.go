// SPDX-License-Identifier: Apache-2.0

package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train/grad"
	"lathe/train/model"
)

// TestNarrowed compares the program with what ships, and its gradients with their formulas.
func TestNarrowed(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	const rows, row = 3, 8
	for _, shape := range [][]int{{rows, row}, {rows, 1}, {1, 1}} {
		param := &model.Param{Shape: []int{rows, row}, Steps: []float64{0.125, 0.25, 0.0625}, DataBits: 5}
		x, places := make([]float32, rows*row), make([]float32, hlo.Type{Dims: shape}.Len())
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		for i := range places {
			places[i] = float32(r.Float64()*5 - 1)
		}
		b := hlo.New("main")
		v, p := b.Arg("x", hlo.TypeOf(hlo.F32, rows, row)), b.Arg("places", hlo.TypeOf(hlo.F32, shape...))
		data := b.BroadcastInDim(b.Float(hlo.F32, 5), []int{rows, row}, nil)
		value, bits := narrowed(b, param, v, p, data)
		g, err := grad.Of(b, b.Add(b.Reduce(hlo.ReduceAdd, value, 0, 1), b.Mul(bits, b.Float(hlo.F32, 3))), v, p)
		if err != nil {
			t.Fatal(err)
		}
		b.Return(value, bits, g[0], g[1])
		got := pjrttest.Run(t, b, hlo.FromFloat32s([]int{rows, row}, x), hlo.FromFloat32s(shape, places))
		want := append([]float32(nil), x...)
		cut(want, places, param.Steps)
		sum, slopes := 0.0, make([]float64, len(places))
		for i := range x {
			at := i * len(places) / len(x)
			d, step := float64(places[at]), param.Steps[i/row]
			if w := got[0].Float64s()[i]; w != float64(want[i]) {
				t.Errorf("%g at %g places becomes %g, and ships as %g", x[i], d, w, want[i])
			}
			if s := got[2].Float64s()[i]; s != 1 {
				t.Errorf("the gradient of weight %d is %g", i, s)
			}
			width := math.Log2(math.Abs(float64(x[i]))/step) + 1 - max(d, 0)
			sum += 5 * max(width, 0)
			if d > 0 {
				slopes[at] -= math.Ln2 * float64(x[i]-want[i])
				if width > -model.Beyond {
					slopes[at] -= 3 * 5
				}
			}
		}
		if s := got[1].Float64s()[0]; math.Abs(s-sum) > 1e-4*sum {
			t.Errorf("%g bits, not %g", s, sum)
		}
		for i, want := range slopes {
			if s := got[3].Float64s()[i]; math.Abs(s-want) > 1e-3 {
				t.Errorf("the gradient of places %d is %g, not %g", i, s, want)
			}
		}
	}
}

// TestPrice grows by one factor.
func TestPrice(t *testing.T) {
	b := &plan.Bits{Given: true, From: 0.01, Price: 1}
	for s, want := range []float64{0.01, 0.1, 1} {
		if v := price(b, s, 3); math.Abs(v-want) > 1e-12 {
			t.Errorf("step %d: %g, not %g", s, v, want)
		}
	}
	if price(&plan.Bits{}, 1, 3) != 0 {
		t.Error("a plan without the table has a price")
	}
}

// TestDataBits repeats the bits of channels along the axis of weights that multiplies them.
func TestDataBits(t *testing.T) {
	m := &model.Model{Each: []model.Each{{Bits: []int{3, 0, 5}}}}
	l := &leaves{model: m}
	for _, c := range []struct {
		param  model.Param
		places []float64
		want   []float64
	}{
		{model.Param{Shape: []int{2, 6}, Narrow: true, Along: 1}, []float64{1, 0, 7},
			[]float64{2, 0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0}},
		{model.Param{Shape: []int{3, 2}, Narrow: true}, []float64{-1, 2, 1.5}, []float64{3, 3, 0, 0, 3.5, 3.5}},
		{model.Param{Shape: []int{1, 2}, DataBits: 4}, []float64{0, 0, 0}, []float64{4}},
	} {
		b := hlo.New("main")
		places := b.Const(hlo.FromFloat64s(hlo.F32, []int{3}, c.places))
		b.Return(l.dataBits(b, &c.param, []hlo.Value{places}))
		if got := pjrttest.Run(t, b)[0].Float64s(); !slices.Equal(got, c.want) {
			t.Errorf("weights %v multiply %v bits, not %v", c.param.Shape, got, c.want)
		}
	}
}
