// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// sizes are those of the matrices of cmvmtest: cells of carry chains, at most, for inputs of eight bits.
var sizes = []struct{ in, out, width, cells int }{
	{32, 5, 6, 1510},
	{16, 16, 8, 2930},
	{32, 32, 4, 5770},
	{32, 32, 6, 8160},
	{16, 64, 6, 8070},
	{64, 32, 6, 15810},
}

func TestSizes(t *testing.T) {
	for i, c := range sizes {
		if i > 1 && !tools.Long {
			break
		}
		p := Problem{Matrix: cmvmtest.Matrix(c.in, c.out, c.width), Inputs: same(c.in, Range{-128, 127}), Group: 5}
		cost := agrees(t, p, 1024).Cost()
		t.Logf("%dx%d of %d bits: %+v", c.in, c.out, c.width, cost)
		if cost.Cells > c.cells {
			t.Errorf("%dx%d of %d bits: %d cells, at most %d expected", c.in, c.out, c.width, cost.Cells, c.cells)
		}
	}
}

// agrees solves p and compares the graph with the product, for random and extreme inputs.
func agrees(t *testing.T, p Problem, vectors int) *Graph {
	t.Helper()
	g, err := Solve(p)
	if err != nil {
		t.Fatalf("%v of %v: %v", p.Matrix, p.Inputs, err)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(p.Inputs))))
	for range (vectors + 63) / 64 {
		x := make([][]int64, len(p.Inputs))
		for i, in := range p.Inputs {
			for range 64 {
				x[i] = append(x[i], draw(r, in))
			}
		}
		y := g.EvalMany(x)
		for o, row := range p.Matrix {
			for k := range 64 {
				want := int64(0)
				for i, w := range row {
					want += w * x[i][k]
				}
				if p.Scale != nil {
					want *= p.Scale[o]
				}
				if p.Bias != nil {
					want += p.Bias[o]
				}
				if y[o][k] != want {
					t.Fatalf("%v of %v: output %d is %d, not %d", p.Matrix, p.Inputs, o, y[o][k], want)
				}
			}
		}
	}
	return g
}

// draw is often an end of the range, or near zero.
func draw(r *rand.Rand, in Range) int64 {
	switch r.IntN(8) {
	case 0:
		return in.Lo
	case 1:
		return in.Hi
	case 2:
		return max(in.Lo, min(in.Hi, r.Int64N(3)-1))
	}
	return in.Lo + r.Int64N(in.Hi-in.Lo+1)
}

// TestRandom solves matrices of all kinds: zero and equal rows, multiples of others, powers of two, few and many bits,
// and inputs that are constant, narrow, of one sign or of both.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	cases, most := 300, 12
	if tools.Long {
		cases, most = 3000, 128
	}
	for range cases {
		p := Problem{Group: []int{3, 5}[r.IntN(2)], Effort: 1 + r.IntN(8)}
		n, m, width := 1+r.IntN(most), 1+r.IntN(most), 1+r.IntN(16)
		for range n {
			lo, hi := r.Int64N(512)-256, r.Int64N(512)-256
			if r.IntN(8) == 0 {
				hi = lo
			}
			p.Inputs = append(p.Inputs, Range{min(lo, hi), max(lo, hi)})
		}
		for o := range m {
			p.Bias = append(p.Bias, (r.Int64N(1<<12)-1<<11)*r.Int64N(2))
			p.Matrix = append(p.Matrix, row(r, n, width, p.Matrix[:o]))
		}
		if r.IntN(4) == 0 {
			for range m {
				p.Scale = append(p.Scale, r.Int64N(1<<(1+r.IntN(16)))-r.Int64N(8))
			}
		}
		agrees(t, p, 256)
	}
}

func row(r *rand.Rand, n, width int, before [][]int64) []int64 {
	w := make([]int64, n)
	kind := r.IntN(10)
	for i := range w {
		switch {
		case kind == 0:
		case kind == 1 && len(before) > 0:
			w[i] = before[len(before)-1][i]
		case kind == 2 && len(before) > 0:
			w[i] = -4 * before[0][i]
		case kind == 3:
			w[i] = 1 << r.IntN(width)
		case kind == 4 && r.IntN(4) > 0:
		default:
			w[i] = r.Int64N(1<<width) - 1<<(width-1)
		}
	}
	return w
}

// TestAllSmall solves every 2x2 matrix of -2 to 2 for every pair of inputs.
func TestAllSmall(t *testing.T) {
	in := []Range{{-2, 1}, {0, 3}}
	for i := range 625 {
		m := [][]int64{{int64(i%5) - 2, int64(i/5%5) - 2}, {int64(i/25%5) - 2, int64(i/125) - 2}}
		g, err := Solve(Problem{Matrix: m, Inputs: in, Bias: []int64{int64(i % 3), -1}, Group: 5, Effort: 1})
		if err != nil {
			t.Fatal(err)
		}
		for a := in[0].Lo; a <= in[0].Hi; a++ {
			for b := in[1].Lo; b <= in[1].Hi; b++ {
				y := g.Eval([]int64{a, b})
				want := []int64{m[0][0]*a + m[0][1]*b + int64(i%3), m[1][0]*a + m[1][1]*b - 1}
				if !cmp.Equal(y, want) {
					t.Fatalf("%v of %d, %d: %v, not %v", m, a, b, y, want)
				}
			}
		}
	}
}

func TestRepeats(t *testing.T) {
	p := Problem{Matrix: cmvmtest.Matrix(16, 16, 8), Inputs: same(16, Range{-128, 127}), Group: 5}
	a, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
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
		{Problem{Matrix: [][]int64{{1}}, Inputs: in, Group: 4}, "cells count 3 or 5 bits, not 4"},
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
