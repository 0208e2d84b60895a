// SPDX-License-Identifier: Apache-2.0

package build

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
)

// array is an argument or a result of a helper under test.
type array struct {
	shape []int
	x     []float64
}

func (a array) at(index ...int) float64 {
	k := 0
	for i, d := range a.shape {
		k = k*d + index[i]
	}
	return a.x[k]
}

// random draws normal numbers.
func random(r *rand.Rand, shape ...int) array {
	a := array{shape, make([]float64, ir.Type{Shape: shape}.Elems())}
	for i := range a.x {
		a.x[i] = float64(float32(r.NormFloat64()))
	}
	return a
}

// filled computes every element of a shape.
func filled(shape []int, f func(i []int) float64) array {
	a := array{shape: shape}
	index := make([]int, len(shape))
	for range (ir.Type{Shape: shape}).Elems() {
		a.x = append(a.x, f(index))
		for k := len(shape) - 1; k >= 0; k-- {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return a
}

func floats32(a array) []float32 {
	out := make([]float32, len(a.x))
	for i, v := range a.x {
		out[i] = float32(v)
	}
	return out
}

// constant is a as a constant.
func constant(t *testing.T, b *Builder, name string, a array) *ir.Node {
	t.Helper()
	n, err := b.Const(name, ir.FloatBlob(floats32(a)), a.shape)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// evaluated is what a graph of the helper gives for the arguments, which are its inputs. It must be called at.
func evaluated(t *testing.T, args []array, make func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error)) array {
	t.Helper()
	b := New("g", "m.onnx")
	var in []*ir.Node
	var sample ref.Sample
	for i, a := range args {
		n, err := b.Input(string(rune('a'+i)), ir.F32, a.shape)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, n)
		sample = append(sample, &ir.Tensor{Type: n.Type, Floats: floats32(a)})
	}
	y, err := make(b, Place{Name: "blk.op", Alt: "alt", Source: "Helper"}, in)
	if err != nil {
		t.Fatal(err)
	}
	if y.Name != "blk.op" && !slices.Contains(in, y) {
		t.Errorf("the result is named %q", y.Name)
	}
	b.Output("y", y)
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), []ref.Sample{sample})
	if err != nil {
		t.Fatal(err)
	}
	v, err := out[0][0].Decode()
	if err != nil {
		t.Fatal(err)
	}
	return array{y.Type.Shape, v}
}

// same demands equal shapes, and values within 1e-5 of each other.
func same(t *testing.T, what any, got, want array) {
	t.Helper()
	if !slices.Equal(got.shape, want.shape) {
		t.Errorf("%v: shape %v, want %v", what, got.shape, want.shape)
		return
	}
	for i, w := range want.x {
		if v := got.x[i]; v != w && !(math.Abs(v-w) <= 1e-5*(1+math.Abs(w))) {
			t.Errorf("%v: element %d is %g, want %g", what, i, v, w)
			return
		}
	}
}

// refused demands an error of the code, at the place of the helper.
func refused(t *testing.T, what any, code diag.Code, shapes [][]int,
	make func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error)) {
	t.Helper()
	b := New("g", "m.onnx")
	var in []*ir.Node
	for i, s := range shapes {
		n, err := b.Input(string(rune('a'+i)), ir.F32, s)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, n)
	}
	if _, err := make(b, Place{Name: "blk.op", Source: "Helper"}, in); diag.CodeOf(err) != code {
		t.Errorf("%v: %v, want %s", what, err, code)
	}
}
