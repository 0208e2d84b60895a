// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/norm"
	"lathe/ir/ref"
)

// TestSlowRsqrt holds the root to values that were computed apart.
func TestSlowRsqrt(t *testing.T) {
	for _, c := range []struct {
		v    int64
		r, k int
	}{{1, 1048576, -11}, {2, 741455, -11}, {1000, 530542, -7}, {1e12, 549756, 8}, {1<<62 - 1, 524288, 19}} {
		if r, k := slowRsqrt(big.NewInt(c.v)); r.Int64() != int64(c.r) || k != c.k {
			t.Errorf("%d: %s, %d, want %d, %d", c.v, r, k, c.r, c.k)
		}
	}
}

// TestNormAnchor holds both evaluators to codes that were computed apart.
func TestNormAnchor(t *testing.T) {
	in := format.Fixed{W: 8, F: 4, Signed: true}
	root := newSlowRoot(8, 8, real32(1e-5), power(-4))
	if root.h != 20 || root.eps.Int64() != 171799 {
		t.Errorf("h is %d, the constant %s", root.h, root.eps)
	}
	x := ir.NewTensor(ir.Type{Shape: []int{8}, Format: in})
	copy(x.Codes, []int64{1, 2, 3, 4, 5, 6, 7, 40})
	for _, c := range []struct {
		o    *ir.Op
		want []int64
	}{{norm.LayerNorm, []int64{-20, -17, -15, -12, -9, -7, -4, 84}},
		{norm.RMSNorm, []int64{2, 4, 7, 9, 11, 13, 15, 87}}} {
		g := draw.Graph(c.o, &norm.Attrs{Eps: 1e-5}, ir.Type{Format: format.Fixed{W: 8, F: 5, Signed: true}},
			draw.Input("x", x.Type))
		slow, err := Slow(g, ref.Sample{x})
		if err != nil {
			t.Fatal(err)
		}
		fast, err := Evaluate(t.Context(), g, []ref.Sample{{x}})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(c.want)
		if a, b := fmt.Sprint(slow[0].Codes), fmt.Sprint(fast[0][0].Codes); a != want || b != want {
			t.Errorf("%s: %s and %s, want %s", c.o.Name, a, b, want)
		}
	}
}

// TestRoots compares both evaluators where the root of a norm is decided by one unit.
func TestRoots(t *testing.T) {
	graphs, samples := Roots()
	if len(graphs) < 12 {
		t.Fatalf("only %d roots", len(graphs))
	}
	got, err := Evaluate(t.Context(), Merge("roots", graphs), []ref.Sample{samples})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range graphs {
		want, err := Slow(g, samples[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if d := Differ(g, want, got[0][i:i+1], 0); d != "" {
			t.Errorf("%+v: %s", *g.Out[0].Node.Attrs.(*norm.Attrs), d)
		}
	}
}

// TestNormSizes compares both evaluators where V comes close to 2^63: long rows, wide codes, an eps of many steps.
func TestNormSizes(t *testing.T) {
	for i, c := range []struct {
		f    format.Fixed
		n    int
		eps  float32
		fits bool
	}{{format.Fixed{W: 16, F: 8, Signed: true}, 4096, 1e-5, true}, {format.Fixed{W: 15, F: 8}, 1000, 1e-5, true},
		{format.Fixed{W: 8, F: 24, Signed: true}, 64, 0.5, true}, {format.Fixed{W: 2, F: 31, Signed: true}, 1, 1.75, true},
		{format.Fixed{W: 16, Signed: true}, 1, 1<<33 - 1<<30, true}, {format.Fixed{W: 2, Signed: true}, 3, 1 << 59, true},
		{format.Fixed{W: 16, F: 8, Signed: true}, 92681, 1e-5, true},
		{format.Fixed{W: 16, F: 8, Signed: true}, 92682, 1e-5, false}, {format.Fixed{W: 16, F: 8}, 4, 1e-5, false},
		{format.Fixed{W: 2, Signed: true}, 1, 1 << 63, false}, {format.Fixed{W: 8, F: 400, Signed: true}, 1, 1, false},
		{format.Fixed{W: 8, F: 4, Signed: true}, 1, -1, false},
		{format.Fixed{W: 8, F: 4, Signed: true}, 1, float32(math.NaN()), false}} {
		x := draw.Input("x", ir.Type{Shape: []int{c.n}, Format: c.f})
		y := ir.Type{Format: format.Fixed{W: 30, F: 16, Signed: true}}
		for _, o := range []*ir.Op{norm.LayerNorm, norm.RMSNorm} {
			g := draw.Graph(o, &norm.Attrs{Eps: c.eps}, y, x)
			if err := g.Check(); (err == nil) != c.fits {
				t.Errorf("%s of %d elements of %s, eps %g: %v", o.Name, c.n, c.f, c.eps, err)
			} else if c.fits {
				CompareSlow(t, g, Rand("norm sizes", i), 3)
			}
		}
	}
}
