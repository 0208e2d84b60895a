// SPDX-License-Identifier: Apache-2.0

package dense

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// plain is the definition: one sum after the other.
func plain(p *Product) []float64 {
	out := make([]float64, len(p.Out))
	x := make([]float64, p.K)
	for m := range p.M {
		p.Left(m, x)
		for n := range p.N {
			var s [2]float64
			for k, v := range x {
				w := float32(0)
				if at := n*p.Right.Row + k*p.Right.Step; p.Right.Read != nil {
					one := []float32{0}
					p.Right.Read(one, at)
					w = one[0]
				} else if p.Right.Floats != nil {
					w = p.Right.Floats[at]
				} else {
					w = math.Float32frombits(binary.LittleEndian.Uint32(p.Right.Bytes[4*at:]))
				}
				product := float64(w) * v
				s[k%2] += product
			}
			if p.Bias != nil {
				s[0] += float64(p.Bias[n])
			}
			out[m*p.Row+n*p.Col] = s[0] + s[1]
		}
	}
	return out
}

// values are random, over many powers of two, so that an order of additions shows; some are -0.
func values(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(math.Ldexp(r.NormFloat64(), r.IntN(40)-20))
		if r.IntN(16) == 0 {
			v[i] = float32(math.Copysign(0, -1))
		}
	}
	return v
}

// draw makes a product; form is how its operands lie.
func draw(r *rand.Rand, m, n, k, form int) *Product {
	a, b := values(r, m*k), values(r, n*k)
	p := &Product{M: m, N: n, K: k, Out: make([]float32, m*n), Row: n, Col: 1, Right: Rows(b, k)}
	p.Left = func(m int, row []float64) {
		for i := range row {
			row[i] = float64(a[m*k+i])
		}
	}
	if form&1 != 0 {
		p.Bias = values(r, n)
	}
	bytes := make([]byte, 4*len(b))
	for i, v := range b {
		binary.LittleEndian.PutUint32(bytes[4*i:], math.Float32bits(v))
	}
	switch form >> 1 & 3 {
	case 1:
		p.Right = Columns(b, n)
	case 2:
		p.Right = ByteRows(bytes, k)
	case 3:
		p.Right = ByteColumns(bytes, n)
	}
	if form&8 != 0 {
		p.Row, p.Col = 1, m
	}
	if form&32 != 0 && p.Right.Step == 1 {
		p.Right.Read = func(out []float32, from int) { copy(out, b[from:]) }
		p.Right.Floats, p.Right.Bytes = nil, nil
	}
	if form&16 != 0 {
		p.Wide = make([]float64, m*n)
	}
	return p
}

func check(t *testing.T, what string, p *Product, want []float64) {
	t.Helper()
	for i, w := range want {
		switch {
		case p.Wide != nil && math.Float64bits(p.Wide[i]) != math.Float64bits(w):
			t.Fatalf("%s: element %d is %g, not %g", what, i, p.Wide[i], w)
		case p.Wide == nil && math.Float32bits(p.Out[i]) != math.Float32bits(float32(w)):
			t.Fatalf("%s: element %d is %g, not %g", what, i, p.Out[i], float32(w))
		}
	}
}

// TestProduct compares all kernels of this machine with the definition, bit for bit, over sizes around those of tiles
// and blocks.
func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sizes := [][3]int{{1, 1, 1}, {3, 5, 7}, {4, 16, 2}, {8, 16, 1}, {9, 17, 511}, {16, 33, 512}, {7, 40, 513},
		{130, 15, 1027}, {5, 3, 0}, {0, 4, 4}, {4, 0, 4}, {300, 2, 31}, {2, 300, 1024}, {257, 70, 64}, {24, 8, 90000}}
	for range 80 {
		sizes = append(sizes, [3]int{1 + r.IntN(40), 1 + r.IntN(60), 1 + r.IntN(80)})
	}
	for i, s := range sizes {
		p := draw(r, s[0], s[1], s[2], i)
		want := plain(p)
		for name, k := range kernels() {
			clear(p.Out)
			clear(p.Wide)
			p.run(k)
			check(t, fmt.Sprintf("%s, %v, form %d", name, s, i), p, want)
		}
	}
}

// TestProcessors proves that the number of processors changes nothing.
func TestProcessors(t *testing.T) {
	p := draw(rand.New(rand.NewPCG(3, 4)), 100, 90, 700, 1)
	want := plain(p)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for n := range 5 {
		runtime.GOMAXPROCS(n + 1)
		clear(p.Out)
		p.Run()
		check(t, fmt.Sprintf("%d processors", n+1), p, want)
	}
}

// BenchmarkProduct is one linear layer of a large transformer, 128 tokens, and one row of it.
func BenchmarkProduct(b *testing.B) {
	for _, rows := range []int{1, 128} {
		p := draw(rand.New(rand.NewPCG(5, 6)), rows, 3072, 768, 1|2<<1)
		for name, k := range kernels() {
			b.Run(fmt.Sprintf("%s/%d", name, rows), func(b *testing.B) {
				for b.Loop() {
					p.run(k)
				}
				b.ReportMetric(float64(p.M*p.N*p.K)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
	}
}
