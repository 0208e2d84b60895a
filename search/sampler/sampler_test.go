// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"fmt"
	"math"
	"testing"

	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/storage/memory"
)

// study is one in memory, with a sampler.
func study(t testing.TB, name string, space search.Space, objectives int) *search.Study {
	t.Helper()
	s, err := New(name, 1, space)
	if err != nil || s == nil || s.Name() != name {
		t.Fatalf("%s: %v, %v", name, s, err)
	}
	ways := make([]search.Direction, objectives)
	for i := range ways {
		ways[i] = search.Minimize
	}
	m := memory.New()
	id, err := m.CreateStudy(context.Background(), "s", ways)
	if err != nil {
		t.Fatal(err)
	}
	return &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways}, Storage: m, Space: space,
		Sampler: s, Seed: 5}
}

// widths is a space of some layers.
func layers(n int, choices bool) search.Space {
	var out search.Space
	for i := range n {
		d := search.NewInt(3, 10, 1, false)
		if choices {
			d = search.NewWords("a", "b", "c", "d")
		}
		out = append(out, search.Parameter{Name: fmt.Sprintf("l%02d", i), Dist: d})
	}
	return out
}

// loss is least where every parameter lies a third up its range.
func loss(t *search.Trial) float64 {
	sum := 0.0
	for _, p := range t.Params {
		u := (p.Value - p.Dist.Low) / (p.Dist.High - p.Dist.Low)
		sum += (u - 0.33) * (u - 0.33)
	}
	return sum
}

// TestLearning: TPE and NSGA-II find better trials than random ones, in the same number.
func TestLearning(t *testing.T) {
	best := map[string]float64{}
	for _, name := range []string{"random", "tpe", "optuna4:tpe", "nsga2"} {
		s := study(t, name, layers(8, false), 1)
		best[name] = math.Inf(1)
		for range 150 {
			trial, err := s.Ask(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			v := loss(trial)
			best[name] = min(best[name], v)
			if err := s.Tell(context.Background(), trial.Number, search.Complete, []float64{v}); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(best)
	for name, part := range map[string]float64{"tpe": 0.5, "optuna4:tpe": 0.5, "nsga2": 0.9} { // three generations
		if best[name] > part*best["random"] {
			t.Errorf("%s: best %v, and %v at random", name, best[name], best["random"])
		}
	}
}

// TestGrid: every point once, and then no point twice as often as another; too many are refused.
func TestGrid(t *testing.T) {
	s := study(t, "grid", layers(3, true), 1)
	seen := map[string]int{}
	for range 64 {
		trial, err := s.Ask(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(trial.Params[0].Value, trial.Params[1].Value, trial.Params[2].Value)]++
	}
	if len(seen) != 64 {
		t.Errorf("%d points of 64", len(seen))
	}
	if _, err := New("grid", 1, layers(20, true)); diag.CodeOf(err) != diag.SpaceSize {
		t.Errorf("a grid of 4^20 points: %v", err)
	}
}

// TestBrute tries every configuration of a space with conditions once, whatever others have tried, and then is at its
// end.
func TestBrute(t *testing.T) {
	space := search.Space{{Name: "f", Dist: search.NewWords("a", "b", "c")},
		{Name: "a.w", Dist: search.NewInt(4, 10, 2, false), When: &search.Condition{Name: "f", Value: 0}},
		{Name: "a.x", Dist: search.NewFloat(0, 0.2, 0.1, false), When: &search.Condition{Name: "f", Value: 0}},
		{Name: "b.w", Dist: search.NewInt(1, 5, 1, false), When: &search.Condition{Name: "f", Value: 1}},
		{Name: "g", Dist: search.NewInt(0, 2, 1, false)}}
	const size = (4*3 + 5 + 1) * 3
	s := study(t, "brute", space, 1)
	seen := map[string]bool{}
	for k := range size {
		h, err := s.History(t.Context())
		if err != nil || s.Sampler.(search.Finite).Exhausted(h) {
			t.Fatalf("at its end after %d of %d, %v", k, size, err)
		}
		trial, err := s.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, p := range trial.Params {
			text += fmt.Sprintf("%s=%.3f ", p.Name, p.Value)
		}
		if seen[text] {
			t.Fatalf("%s twice", text)
		}
		seen[text] = true
	}
	h, err := s.History(t.Context())
	if err != nil || !s.Sampler.(search.Finite).Exhausted(h) {
		t.Errorf("not at its end after %d, %v", size, err)
	}
	if _, err := New("brute", 1, layers(24, true)); diag.CodeOf(err) != diag.SpaceSize {
		t.Errorf("4^24 configurations: %v", err)
	}
}

// TestQMC: of each parameter, b^k points in a row hit each of b^k parts of its range once, b being its prime.
func TestQMC(t *testing.T) {
	unit := search.NewFloat(0, 1, 0, false)
	space := search.Space{{Name: "x", Dist: unit}, {Name: "y", Dist: unit}, {Name: "z", Dist: unit}}
	s := NewQMC(9, space)
	for i, parts := range []int{64, 81, 125} {
		seen := map[int]bool{}
		for n := range parts {
			v := s.Relative(nil, &search.Draft{Number: parts + n})[space[i].Name]
			seen[int(v*float64(parts))] = true
		}
		if len(seen) != parts {
			t.Errorf("%s: %d of %d parts", space[i].Name, len(seen), parts)
		}
	}
}

// BenchmarkTPE is the time of one more trial after 1000.
func BenchmarkTPE(b *testing.B) {
	floats := func(n int) (out search.Space) {
		for i := range n {
			out = append(out, search.Parameter{Name: fmt.Sprintf("x%03d", i), Dist: search.NewFloat(-1, 1, 0, false)})
		}
		return out
	}
	for _, c := range []struct {
		name    string
		sampler string
		space   search.Space
	}{
		{"24-categorical", "tpe", layers(24, true)}, {"24-categorical-univariate", "optuna4:tpe", layers(24, true)},
		{"24-int", "tpe", layers(24, false)}, {"24-int-univariate", "optuna4:tpe", layers(24, false)},
		{"100-float", "tpe", floats(100)}, {"100-float-univariate", "optuna4:tpe", floats(100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := study(b, "random", c.space, 1)
			for range 1000 {
				trial, err := s.Ask(context.Background())
				if err == nil {
					err = s.Tell(context.Background(), trial.Number, search.Complete, []float64{loss(trial)})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			var err error
			if s.Sampler, err = New(c.sampler, 1, c.space); err != nil {
				b.Fatal(err)
			}
			h, err := s.History(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				d := &search.Draft{Number: 1000}
				relative := s.Sampler.Relative(h, d)
				for _, p := range c.space {
					if _, ok := relative[p.Name]; !ok {
						s.Sampler.Independent(h, d, p.Name, p.Dist)
					}
				}
			}
		})
	}
}
