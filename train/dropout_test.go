// SPDX-License-Identifier: Apache-2.0

package train

import (
	"math"
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
	"lathe/lower/plan"
)

// TestDropWords compares the words of the program with those of Go, a million of them, and looks at their mean.
func TestDropWords(t *testing.T) {
	const n, sites = 1 << 18, 4
	b := hlo.New("main")
	seed, batch := b.Arg("seed", hlo.TypeOf(hlo.I32)), b.Arg("batch", hlo.TypeOf(hlo.I32))
	var all []hlo.Value
	for s := range sites {
		all = append(all, dropWords(b, seed, batch, s, n))
	}
	b.Return(all...)
	of := dropSeed(7, 3)
	got := pjrttest.Run(t, b, hlo.FromInt64s(hlo.I32, nil, []int64{int64(of)}), hlo.FromInt64s(hlo.I32, nil, []int64{5}))
	seen := map[int64]int{}
	for s := range sites {
		sum := 0.0
		for i, v := range got[s].Int64s() {
			if want := int64(dropWord(of, uint32(s), 5, uint32(i))); v != want {
				t.Fatalf("word %d of site %d is %d, in Go %d", i, s, v, want)
			}
			sum += float64(v)
			seen[v]++
		}
		if mean := sum / n / (1 << seedBits); math.Abs(mean-0.5) > 0.005 {
			t.Errorf("site %d: words have the mean %g", s, mean)
		}
	}
	if len(seen) < n*sites*9/10 {
		t.Errorf("%d words differ, of %d: sites are alike", len(seen), n*sites)
	}
}

// TestDropping keeps what the share leaves, divided by it, of the layers that are named.
func TestDropping(t *testing.T) {
	const n = 1 << 14
	b := hlo.New("main")
	x := b.Arg("x", hlo.TypeOf(hlo.F32, n/8, 8))
	p := &plan.Train{Dropout: 0.25, DropoutOf: []string{"fc*"}}
	s := &stepper{plan: p, drops: map[string]float64{"relu": 0.25}}
	d := s.dropping(b, b.Int(hlo.I32, 12), b.Int(hlo.I32, 1))
	b.Return(d.layers("fc1", 3, x), d.layers("head", 4, x), d.behind("relu", 3, x), d.behind("fc1", 3, x))
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	got := pjrttest.Run(t, b, hlo.FromFloat32s([]int{n / 8, 8}, ones))
	dropped := 0
	for i, v := range got[0].Float64s() {
		want := float64(float32(1 / 0.75))
		if float64(dropWord(12, 3, 1, uint32(i)))/(1<<seedBits) < 0.25 {
			want = 0
			dropped++
		}
		if v != want {
			t.Fatalf("element %d is %g, not %g", i, v, want)
		}
	}
	if share := float64(dropped) / n; math.Abs(share-0.25) > 0.02 {
		t.Errorf("%g are dropped", share)
	}
	for i, v := range got[1].Float64s() {
		if v != 1 {
			t.Fatalf("element %d of a layer that is not named is %g", i, v)
		}
	}
	if !slices.Equal(got[2].Float64s(), got[0].Float64s()) || !slices.Equal(got[3].Float64s(), got[1].Float64s()) {
		t.Error("behind nodes other elements are dropped than in front of layers")
	}
	if d := (&stepper{plan: &plan.Train{}}).dropping(b, x, x); d.layers != nil || d.behind != nil {
		t.Error("a plan without dropout drops")
	}
}
