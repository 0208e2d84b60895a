// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
)

// agrees solves p and compares the graph with the product: for each output's least and greatest sum, as many as fit,
// and for random inputs.
func agrees(t *testing.T, p Problem, vectors int) *Graph {
	t.Helper()
	g, err := Solve(p)
	if err != nil {
		t.Fatalf("%v of %v: %v", p.Matrix, p.Inputs, err)
	}
	compare(t, &p, g, vectors)
	return g
}

func compare(t *testing.T, p *Problem, g *Graph, vectors int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(p.Inputs))))
	extremes := r.Perm(2 * len(p.Matrix))
	x := make([][]int64, len(p.Inputs))
	for i := range x {
		x[i] = make([]int64, 64)
	}
	for batch := range (vectors + 63) / 64 {
		for i, in := range p.Inputs {
			for k := range x[i] {
				x[i][k] = draw(r, in)
				if batch > 0 || k >= len(extremes) {
					continue
				}
				x[i][k] = in.Lo
				if e := extremes[k]; e%2 == 0 == (p.Matrix[e/2][i] > 0) {
					x[i][k] = in.Hi
				}
			}
		}
		for o, y := range g.EvalMany(x) {
			var want [64]int64
			for i, w := range p.Matrix[o] {
				if w == 0 {
					continue
				}
				for k, v := range x[i] {
					want[k] += w * v
				}
			}
			for k := range want {
				if p.Scale != nil {
					want[k] *= p.Scale[o]
				}
				if p.Bias != nil {
					want[k] += p.Bias[o]
				}
				if y[k] != want[k] {
					t.Fatalf("%v of %v plus %v: output %d is %d, not %d", p.Matrix, p.Inputs, p.Bias, o, y[k], want[k])
				}
			}
		}
	}
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

// TestRandom solves matrices of all kinds: zero and equal rows, multiples of others, powers of two, single inputs, few
// and many bits, with a bound on the depth or without, scaled or not; inputs are constant, narrow, of one sign or of
// both. With the tag long, 3000 graphs of up to 128x128 of 16 bits are evaluated for ten million vectors.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	cases, most, vectors, all, bounded := tools.Sample(300, 3000), tools.Sample(12, 128), tools.Sample(256, 3392), 0, 0
	for n := range cases {
		p := random(r, most)
		if n == cases-1 {
			p = Problem{Group: 5, Effort: 1, Inputs: same(most, Range{-1 << 15, 1<<15 - 1})}
			for range most {
				p.Matrix = append(p.Matrix, row(r, most, 16, nil))
			}
		}
		g, err := Solve(p)
		if p.Levels > 0 && err != nil && strings.HasPrefix(err.Error(), "no sum of ") {
			p.Levels = 0
			g, err = Solve(p)
		}
		if err != nil {
			t.Fatalf("%v of %v: %v", p.Matrix, p.Inputs, err)
		}
		if p.Levels > 0 {
			bounded++
			if c := g.Cost(); c.Levels > p.Levels {
				t.Errorf("%v of %v: %g levels, %g asked", p.Matrix, p.Inputs, c.Levels, p.Levels)
			}
		}
		compare(t, &p, g, vectors)
		all += (vectors + 63) / 64 * 64
	}
	t.Logf("%d vectors through %d graphs, %d of which keep to a bound", all, cases, bounded)
	if bounded < cases/20 {
		t.Errorf("%d of %d keep to a bound", bounded, cases)
	}
}

// random is a problem of up to most inputs and outputs, sizes of all orders alike.
func random(r *rand.Rand, most int) Problem {
	size := func() int { return int(math.Pow(float64(most+1), r.Float64())) }
	p := Problem{Group: []int{1, 5}[r.IntN(2)], Effort: 1 + r.IntN(8)}
	n, m, width := size(), size(), 1+r.IntN(16)
	if r.IntN(4) == 0 {
		p.Levels = 1 + 11*r.Float64()
	}
	for range n {
		wide := int64(1) << (1 + r.IntN(16))
		lo, hi := r.Int64N(wide)-wide/2, r.Int64N(wide)-wide/2
		switch r.IntN(10) {
		case 0:
			hi = lo
		case 1:
			hi = lo + 1
		case 2:
			lo, hi = wide+min(lo, hi), wide+max(lo, hi)
		case 3:
			lo, hi = min(lo, hi)-wide, max(lo, hi)-wide
		case 4:
			lo, hi = -128, 127
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
	return p
}

func row(r *rand.Rand, n, width int, before [][]int64) []int64 {
	w := make([]int64, n)
	kind := r.IntN(12)
	for i := range w {
		switch {
		case kind == 0:
		case kind == 1 && len(before) > 0:
			w[i] = before[len(before)-1][i]
		case kind == 2 && len(before) > 0:
			w[i] = -4 * before[0][i]
		case kind == 5 && len(before) > 0:
			w[i] = before[0][i] << 1
		case kind == 3:
			w[i] = 1 << r.IntN(width)
		case kind == 4 && r.IntN(4) > 0:
		default:
			w[i] = r.Int64N(1<<width) - 1<<(width-1)
		}
	}
	return w
}

// TestAllSmall evaluates matrices of few coefficients for all inputs there are, four bits each: every 2x2 of four bits
// and every 3x3 of two bits with the tag long, some of them without. No vector is left out, so that this proves them.
func TestAllSmall(t *testing.T) {
	for _, c := range []struct{ n, width, few int }{{2, 4, 4096}, {3, 2, 512}} {
		values := 1 << c.width
		all := 1 << (c.width * c.n * c.n)
		ins := []Range{{-8, 7}, {0, 15}, {-13, 2}}[:c.n]
		for _, m := range tools.Drawn(c.few, all) {
			p := Problem{Inputs: ins, Group: 1 + 4*(m>>1&1), Effort: 1}
			for o := range c.n {
				w := make([]int64, c.n)
				for i := range w {
					w[i] = int64(m>>(c.width*(o*c.n+i))%values) - int64(values/2)
				}
				p.Matrix, p.Bias = append(p.Matrix, w), append(p.Bias, int64(m%7-o))
			}
			g, err := Solve(p)
			if err != nil {
				t.Fatal(err)
			}
			exhaust(t, &p, g)
		}
	}
}

// exhaust compares g with the product for all inputs of four bits.
func exhaust(t *testing.T, p *Problem, g *Graph) {
	t.Helper()
	n := len(p.Inputs)
	x := make([][]int64, n)
	for i := range x {
		x[i] = make([]int64, 64)
	}
	for from := 0; from < 1<<(4*n); from += 64 {
		for k := range 64 {
			for i, in := range p.Inputs {
				x[i][k] = in.Lo + int64((from+k)>>(4*i)&15)
			}
		}
		for o, y := range g.EvalMany(x) {
			for k := range y {
				want := p.Bias[o]
				for i, w := range p.Matrix[o] {
					want += w * x[i][k]
				}
				if y[k] != want {
					t.Fatalf("%v of %v plus %v: output %d is %d, not %d", p.Matrix, p.Inputs, p.Bias, o, y[k], want)
				}
			}
		}
	}
}
