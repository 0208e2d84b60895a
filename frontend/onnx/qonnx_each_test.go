// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
)

// TestQuantEach reads weights with a bit width, or a scale, for each channel or element: every one is rounded by its
// own, and all have one format.
func TestQuantEach(t *testing.T) {
	k := make([]float32, 12)
	for i := range k {
		k[i] = float32(math.Sin(float64(3*i+1))) * 5
	}
	each := make([]float32, 12)
	bits := make([]float32, 12)
	for i := range each {
		each[i], bits[i] = float32(math.Ldexp(1, -i%4)), float32(i%5)
	}
	for name, c := range map[string]struct {
		scale, width pb
		s, w         func(row, col int) float64
		format       string
	}{
		"widths of channels": {ft("s", nil, 0.3), ft("w", d(3, 1), 2, 4, 3), func(int, int) float64 { return 0.3 },
			func(r, _ int) float64 { return []float64{2, 4, 3}[r] }, "int(4)*0.3"},
		"widths and scales": {ft("s", d(3, 1), 0.3, 0.25, 0.7), ft("w", d(3, 1), 3, 4, 3),
			func(r, _ int) float64 { return []float64{0.3, 0.25, 0.7}[r] },
			func(r, _ int) float64 { return []float64{3, 4, 3}[r] }, "int(4)*[0]"},
		"elements": {ft("s", d(3, 4), each...), ft("w", d(3, 4), bits...),
			func(r, c int) float64 { return float64(each[4*r+c]) }, func(r, c int) float64 { return float64(bits[4*r+c]) },
			"fixed(6,3)"},
	} {
		m := chain(13, vi("x", 1, 4), []pb{ft("k", d(3, 4), k...), c.scale, ft("z", nil, 0), c.width},
			qonnxNode("Quant", "k s z w", "kq"), nd("Gemm", "x kq", "y", aInt("transB", 1)))
		g, err := Parse("m.onnx", m.bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range g.Nodes {
			w, ok := n.Attrs.(*ir.Const)
			if !ok || w.Own.Format == nil {
				continue
			}
			if got := fmt.Sprint(w.Own.Format); got != c.format {
				t.Errorf("%s: %s, want %s", name, got, c.format)
			}
			for i, v := range w.Data.Floats() {
				s, bits := float64(float32(c.s(i/4, i%4))), c.w(i/4, i%4)
				want := 0.0
				if bits == 1 {
					want = math.Copysign(s, float64(k[i]))
				} else if bits > 0 {
					top := math.Ldexp(1, int(bits)-1)
					want = s * min(max(math.RoundToEven(float64(k[i]/float32(s))), -top), top-1)
				}
				if v != float32(want) {
					t.Errorf("%s, element %d: %g of %g, want %g", name, i, v, k[i], want)
				}
			}
		}
	}
}

// TestQuantChannels: computed values get codes along one axis where that is or becomes the last one, else one by one.
func TestQuantChannels(t *testing.T) {
	eight := []float32{1, 1, 1, 1, 2, 2, 2, 2}
	for _, c := range []struct {
		scale, width pb
		attrs        []pb
		want         string
	}{
		{ft("s", d(1, 2, 1, 1), 1, 0.25), ft("w", nil, 3), []pb{aInt("signed", 0)}, "1 ufixed(5,2) [3 3] [2 0]"},
		{ft("s", nil, 2), ft("w", d(2, 1, 1), 4, 0), []pb{aInt("narrow", 1)}, "1 fixed(4,-1,over=sym) [4 0] [0 0]"},
		{ft("s", d(4), 2, 1, 1, 4), ft("w", d(4), 1, 1, 2, 3), []pb{aInt("signed", 0), aInt("narrow", 1),
			aStr("rounding_mode", "FLOOR")}, "3 uint(5,round=floor,over=sym) [0 0 2 3] [0 0 0 2]"},
		{ft("s", d(2, 1), 1, 2), ft("w", nil, 4), nil, "0 int(5) [4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4] " +
			"[0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1]"},
		{ft("s", d(1, 2, 4), eight...), ft("w", d(2, 1, 1), 0, 2), nil, "0 int(3) [0 0 0 0 0 0 0 0 2 2 2 2 2 2 2 2] " +
			"[0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1]"},
	} {
		m := chain(13, vi("x", 1, 2, 2, 4), []pb{c.scale, ft("z", nil, 0), c.width},
			qonnxNode("Quant", "x s z w", "y", c.attrs...))
		g, err := Parse("m.onnx", m.bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, n := range g.Nodes {
			if a, ok := n.Attrs.(*pointwise.QuantEachAttrs); ok {
				got += fmt.Sprint(a.Axis, " ", a.Format, " ", a.Bits, " ", a.Drop)
			}
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestQuantEachRefused wants a reason, and what works instead.
func TestQuantEachRefused(t *testing.T) {
	x, z := vi("x", 1, 3), ft("z", nil, 0)
	k := ft("k", d(2, 3), 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		in, text string
		tensors  []pb
	}{
		{"x", "no power of two", []pb{ft("s", nil, 0.3), ft("w", d(3), 3, 4, 5)}},
		{"x", "one bit, the sign", []pb{ft("s", nil, 0.5), ft("w", d(3), 1, 4, 5)}},
		{"x", "of 40 bits", []pb{ft("s", d(3), 1, 0x1p-36, 1), ft("w", nil, 4)}},
		{"k", "no powers of two", []pb{k, ft("s", d(2, 3), 0.5, 0.3, 0.2, 0.1, 0.7, 0.9), ft("w", nil, 5)}},
		{"k", "bit width 2.5", []pb{k, ft("s", nil, 0.5), ft("w", d(3), 3, 2.5, 5)}},
		{"k", "up to 32", []pb{k, ft("s", d(2, 3), 1, 1, 0x1p-40, 1, 1, 1), ft("w", nil, 8)}},
	} {
		nodes := []pb{qonnxNode("Quant", c.in+" s z w", "y")}
		if c.in == "k" {
			nodes = []pb{qonnxNode("Quant", "k s z w", "q"), nd("Gemm", "x q", "y", aInt("transB", 1))}
		}
		m := chain(13, x, append(c.tensors, z), nodes...)
		_, err := Parse("m.onnx", m.bytes(), source.Options{})
		if diag.CodeOf(err) != "L0251" || !strings.Contains(err.Error(), c.text) {
			t.Errorf("want L0251 and %q in: %v", c.text, err)
		}
	}
}
