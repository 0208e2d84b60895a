// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"fmt"
	"math/big"

	"lathe/cuda"
	"lathe/cuda/gemm"
)

// Window is the problem on random blocks whose scales lie around that of the window; plan comes from p.Plan.
func Window(p gemm.Window, plan gemm.Plan, seed uint64, scales Scales) cuda.Case {
	var b operandsOf
	draw := func(operand string, rows int) (q, x []byte) {
		q, x = MXBlocks(seed, operand, rows, p.K, scales)
		for row := 3; row < rows; row += 4 { // sums of 1 and -1, of blocks whose scale is not 0
			for k := range p.K {
				if q[row*p.K+k] = 0; k%32 == 0 && x[row*ceil(p.K, 32)+k/32] != 0 {
					q[row*p.K+k] = byte(1 - k/32%2*2)
				}
			}
		}
		return q, x
	}
	acts := func() (q, x []byte) {
		if q, x = draw("x", p.M); !p.Scaled {
			x = nil
		}
		return q, x
	}
	weights := func() ([]byte, []byte) {
		q, x := draw("w", p.N)
		for i := range q { // those of x and w differ
			q[i] = byte(-int8(q[i]))
		}
		return q, x
	}
	bias := func() []int64 {
		r, out := Dice(seed, "bias"), make([]int64, p.N)
		for i := range out {
			out[i] = r.Int64() >> (64 - p.Bits + r.IntN(p.Bits))
		}
		return out
	}
	o := gemm.Operands{XScales: cuda.Null()}
	o.X = b.in("x", int64(p.M)*int64(p.K), func() []byte { q, _ := acts(); return q })
	if p.Scaled {
		o.XScales = b.in("x scales", int64(p.M)*int64(ceil(p.K, 32)), func() []byte { _, x := acts(); return x })
	}
	b.weights(&o, gemm.LayoutInt8, p.N, p.K, weights)
	o.Bias = b.in("bias", int64(p.N)*8, func() []byte { return gemm.PackBiases(bias()) })
	size := int64(p.Word().Bytes())
	o.Y = b.out("y", int64(p.M)*int64(p.N)*size)
	c := cuda.CaseOf(p, plan, o)
	c.Name = fmt.Sprintf("%s/m=%d n=%d k=%d int(%d)", plan.Instances[0].Kernel, p.M, p.N, p.K, p.Bits)
	c.Shape, c.Formats = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K), fmt.Sprintf("mxint8 x mxint8 -> int(%d)", p.Bits)
	c.Buffers, c.Int8 = b.buffers, true
	c.Check = func(outputs [][]byte) cuda.Verdict {
		xq, xs := acts()
		wq, ws := weights()
		return checkWindow(p, xq, xs, wq, ws, bias(), outputs[0])
	}
	return c
}

// checkWindow demands every code of sampled rows.
func checkWindow(p gemm.Window, xq, xs, wq, ws []byte, bias []int64, y []byte) cuda.Verdict {
	v := verdict{Verdict: cuda.Verdict{BitEqual: true}}
	blocks, size := ceil(p.K, 32), p.Word().Bytes()
	for _, m := range sample(p.M, p.N*p.K) {
		var x []byte
		if p.Scaled {
			x = xs[m*blocks : (m+1)*blocks]
		}
		for n := range p.N {
			dots := blockDots(xq[m*p.K:(m+1)*p.K], wq[n*p.K:(n+1)*p.K])
			i, got := m*p.N+n, uint64(0)
			for b := range size {
				got |= uint64(y[i*size+b]) << (8 * b)
			}
			want := uint64(windowSum(p, dots, x, ws[n*blocks:(n+1)*blocks], bias[n]))
			v.same(i, got, want&(1<<(8*size-1)<<1-1))
		}
	}
	return v.done()
}

// windowCases are small problems with corners and one for times.
func windowCases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.Window
		scales Scales
		timed  bool
	}{
		{gemm.Window{M: 65, N: 72, K: 400, Scaled: true, Shift: -246, Bits: 37, Exact: true}, NarrowScales, false},
		{gemm.Window{M: 33, N: 80, K: 65, Scaled: true, Shift: -250, Bits: 33}, AnyScales, false},
		{gemm.Window{M: 20, N: 33, K: 96, Shift: -124, Bits: 20}, NarrowScales, false},
		{gemm.Window{M: 2048, N: 4096, K: 4096, Scaled: true, Shift: -246, Bits: 44, Exact: true}, NarrowScales, true},
	} {
		if c.timed {
			small, plan, err := c.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, Window(small, plan, uint64(i), c.scales))
		}
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := Window(c.Window, plan, uint64(i), c.scales)
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

// windowSum is the result of the sums p of the blocks of a row and a column with their scale bytes, by the definition;
// x may
// be nil.
func windowSum(p gemm.Window, dots []int64, x, w []byte, bias int64) int64 {
	clamp := func(v *big.Int) *big.Int {
		if least := big.NewInt(-1 << (p.Bits - 1)); v.Cmp(least) < 0 {
			return least
		}
		if most := big.NewInt(1<<(p.Bits-1) - 1); v.Cmp(most) > 0 {
			return most
		}
		return v
	}
	total := big.NewInt(bias)
	for b, d := range dots {
		s, term := int(p.Shift)+int(w[b]), big.NewInt(d)
		if x != nil {
			s += int(x[b])
		}
		if s < 0 {
			term.Rsh(term, uint(-s)) // floor
		} else {
			term.Lsh(term, uint(s))
		}
		total.Add(total, clamp(term))
	}
	return clamp(total).Int64()
}
