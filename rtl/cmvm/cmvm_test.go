// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"lathe/internal/tools"
	"lathe/rtl/cmvm/cmvmtest"
)

func same(n int, r Range) []Range {
	list := make([]Range, n)
	for i := range list {
		list[i] = r
	}
	return list
}

// sizes are those of the matrices of cmvmtest: cells of carry chains, at most, for inputs of eight bits, without bounds
// on the levels and with them.
var sizes = []struct {
	in, out, width, cells int
	levels                float64
	within                int
}{
	{32, 5, 6, 1480, 10.07, 1580},
	{16, 16, 8, 2890, 10.12, 2965},
	{32, 32, 4, 5685, 10.93, 5740},
	{32, 32, 6, 8040, 12.79, 8045},
	{16, 64, 6, 7960, 9.81, 8130},
	{64, 32, 6, 15800, 12.97, 15870},
}

func TestSizes(t *testing.T) {
	for i, c := range sizes {
		if i > 1 && !tools.Long {
			break
		}
		p := Problem{Matrix: cmvmtest.Matrix(c.in, c.out, c.width), Inputs: same(c.in, Range{-128, 127}), Group: 5}
		for _, bound := range []struct {
			levels float64
			cells  int
		}{{0, c.cells}, {c.levels, c.within}} {
			p.Levels = bound.levels
			cost := agrees(t, p, 1024).Cost()
			t.Logf("%dx%d of %d bits: %+v", c.in, c.out, c.width, cost)
			if cost.Cells > bound.cells || p.Levels > 0 && cost.Levels > p.Levels {
				t.Errorf("%dx%d of %d bits: %+v, at most %d cells and %g levels expected", c.in, c.out, c.width, cost,
					bound.cells, bound.levels)
			}
		}
	}
}

// TestQueue holds the order of bids, some of which come between those that are taken.
func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tie := range []uint64{0, 5} {
		q := queue{tie: tie}
		var all []bid
		for range 2000 {
			for range r.IntN(3) {
				b := bid{float64(r.IntN(80)) / 8, r.Uint64N(1000), int32(r.IntN(4)), false}
				q.push(b)
				all = append(all, b)
			}
			slices.SortFunc(all, func(a, b bid) int {
				return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.n, a.n), cmp.Compare(a.key^tie, b.key^tie))
			})
			if q.settle() != (len(all) > 0) {
				t.Fatalf("%d bids, and settle says otherwise", len(all))
			}
			if len(all) == 0 {
				continue
			}
			if gain, got := q.highest(), q.pop(); gain != all[0].gain || got != all[0] {
				t.Fatalf("%+v, not %+v", got, all[0])
			}
			all = all[1:]
		}
	}
}

// TestRepeats solves on all processors and on one.
func TestRepeats(t *testing.T) {
	p := Problem{Matrix: cmvmtest.Matrix(16, 16, 8), Inputs: same(16, Range{-128, 127}), Group: 5}
	a, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
}

// TestLevels bounds the depth: the graph keeps to it, or the error says what was reached.
func TestLevels(t *testing.T) {
	p := Problem{Matrix: cmvmtest.Matrix(16, 16, 6), Inputs: same(16, Range{-128, 127}), Group: 5}
	free := agrees(t, p, 64).Cost()
	p.Levels = free.Levels - 2
	short := agrees(t, p, 64).Cost()
	if short.Levels > p.Levels || short.Cells < free.Cells {
		t.Errorf("%+v without a bound, %+v with %.1f levels", free, short, p.Levels)
	}
	p.Levels = 3
	_, err := Solve(p)
	if err == nil || !strings.Contains(err.Error(), "no sum of 3 levels was found; the shortest has ") {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	in := []Range{{-128, 127}}
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{Matrix: [][]int64{{1}}, Inputs: in, Group: 4}, "cells count 1 or 5 bits, not 4"},
		{Problem{Matrix: [][]int64{{1}}, Inputs: in, Group: 5, Bias: []int64{1, 2}},
			"2 biases and 1 scales for 1 outputs"},
		{Problem{Matrix: [][]int64{{1}}, Inputs: in, Group: 5, Scale: []int64{1 << 55}}, "row 0: sums of more than 62 bits"},
		{Problem{Matrix: [][]int64{{1}}, Inputs: []Range{{1, 0}}, Group: 5}, "input 0: no number is in 1 to 0"},
		{Problem{Matrix: [][]int64{{1, 2}}, Inputs: in, Group: 5}, "row 0 has 2 coefficients for 1 inputs"},
		{Problem{Matrix: [][]int64{{1 << 55}}, Inputs: in, Group: 5}, "row 0: sums of more than 62 bits"},
		{Problem{Matrix: [][]int64{{1 << 62}}, Inputs: in, Group: 5}, "row 0: sums of more than 62 bits"},
	} {
		if _, err := Solve(c.p); fmt.Sprint(err) != c.want {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
}

// TestPipeline puts registers between chains: no path is longer than asked unless a chain alone is, no net is read
// before it is made, and a longer path needs no more registers.
func TestPipeline(t *testing.T) {
	p := Problem{Matrix: cmvmtest.Matrix(16, 16, 6), Inputs: same(16, Range{-128, 127}), Group: 5}
	g := agrees(t, p, 64)
	before := 1 << 30
	for _, limit := range []float64{2, 3, 4, 6, 9, 100} {
		pipe := g.Pipeline(limit, 0)
		if pipe.Levels > max(limit, 1.1+0.025*30) {
			t.Errorf("%.1f levels in a stage, at most %.1f asked", pipe.Levels, limit)
		}
		for n, life := range pipe.Lives(g) {
			if life < 0 {
				t.Errorf("net %d is read %d stages before it is made", n, -life)
			}
		}
		if registers := pipe.Registers(g); registers > before {
			t.Errorf("%d registers where paths have %.1f levels, %d where they are shorter", registers, limit, before)
		} else {
			before = registers
		}
	}
	if before != 0 {
		t.Errorf("%d registers on paths of any length", before)
	}
}

// TestTail: what stands behind the outputs counts in the last stage, and asking for fewer rows gives no more.
func TestTail(t *testing.T) {
	p := Problem{Matrix: cmvmtest.Matrix(16, 16, 6), Inputs: same(16, Range{-128, 127}), Group: 5}
	g := agrees(t, p, 64)
	const limit, tail = 5, 2
	pipe := g.Pipeline(limit, tail)
	if plain := g.Pipeline(limit, 0); pipe.Rows < plain.Rows || pipe.Levels > limit {
		t.Errorf("%d rows and %.1f levels with a tail, %d rows without", pipe.Rows, pipe.Levels, plain.Rows)
	}
	levels := g.Cost().Levels + tail
	for rows := range 5 {
		pipe := g.Staged(rows, tail)
		if pipe.Rows > rows || pipe.Levels >= levels && rows > 0 {
			t.Errorf("%d rows of %.1f levels where %d were asked, %.1f before", pipe.Rows, pipe.Levels, rows, levels)
		}
		levels = pipe.Levels
	}
}
