// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGrid: what encoding makes of any value is on the grid, and the grid holds nothing else.
func TestGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{"fixed(4,2)", "fixed(4,2,over=sym)", "ufixed(3,3)", "float(2,1)", "e4m3", "dfloat(3,2)",
		"log(4)", "ternary*0.5", "binary", "codebook(nf4)", "residual(2)", "int(5)*0.3"} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		g, ok := GridOf(f, f)
		if !ok || !slices.IsSorted(g.Values) {
			t.Fatalf("%s: %v", text, g)
		}
		met := map[float64]bool{}
		for range 5000 {
			c := f.Encode(FromFloat64(math.Ldexp(r.NormFloat64(), r.IntN(20)-10)))
			v := f.Decode(c).Float64()
			k, found := slices.BinarySearch(g.Values, v)
			if !found || f.Decode(g.Codes[k]).Float64() != v {
				t.Fatalf("%s: code %x, of value %g, is not on the grid", text, c, v)
			}
			met[v] = true
		}
		if len(met) < len(g.Values) && f.Width() < 8 {
			t.Errorf("%s: encoding makes %d values, the grid has %d", text, len(met), len(g.Values))
		}
	}
	if _, ok := GridOf(Fixed{W: 16, Signed: true}, Fixed{W: 16, Signed: true}); ok {
		t.Error("a grid of 2^16 codes")
	}
}

// TestGridKept: codes are those in which a constant is kept, which are not those of its format.
func TestGridKept(t *testing.T) {
	f, err := Parse("codebook(nf4)*[0]")
	if err != nil {
		t.Fatal(err)
	}
	x, codes := []float32{-1, 0.3, 0.05, 1}, make([]int64, 4)
	scale := f.(Fitted).FitChannel(x, codes)
	g, ok := GridOf(f, f.(Fitted).ChannelFormat())
	if !ok || len(g.Values) != 16 {
		t.Fatal(g)
	}
	for i, v := range x {
		if k := g.Nearest(float64(v) / float64(scale)); g.Codes[k] != codes[i] {
			t.Errorf("%g: %d, encoded %d", v, g.Codes[k], codes[i])
		}
	}
	m, err := Parse("mxint(4,8)")
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := GridOf(m, m); !ok || len(g.Values) != 15 {
		t.Errorf("elements of mxint(4,8): %v", g.Values)
	}
}
