// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
)

// Window is a product x*transpose(w) of bytes in blocks of 32 along k, x [M][K] with scales [M][blocks] and w [N][K]
// packed by LayoutInt8, summed in fixed point of W bits: y = clamp(bias + sum of terms), a term being the floor of
// p*2^(X+W+Shift), clamped too, for the exact sum p of a block and the scale bytes X and W.
type Window struct {
	M, N, K int
	// Scaled says that x has scales; without, X is 0.
	Scaled bool
	// Shift is added to the sum of the scale bytes.
	Shift int32
	// Bits is the width of the window and of the results, 1 to 48.
	Bits int
	// Exact promises that X+W+Shift lies between 0 and 62 but for blocks of zeros, and that nothing leaves the window but
	// the last sum.
	Exact bool
}

// Bounds of a window: of its bits, and of the blocks along k, so that sums have less than 63 bits.
const (
	windowBits   = 48
	windowBlocks = 1 << 14
)

// Valid reports why no kernel can take the problem: error L0990.
func (p Window) Valid() error {
	switch {
	case p.Bits < 1 || p.Bits > windowBits:
		return refuse("mx_window", "a window has 1 to %d bits, not %d", windowBits, p.Bits)
	case ceil(p.K, 32) > windowBlocks:
		return refuse("mx_window", "%d blocks along k, at most %d", ceil(p.K, 32), windowBlocks)
	}
	return sizes("mx_window", p.M, p.N, p.K)
}

// Floor is the least that must be moved and computed.
func (p Window) Floor() cuda.Floor {
	m, n, k := int64(p.M), int64(p.N), int64(p.K)
	bytes := m*k + n*(k+(k+31)/32) + n*8 + m*n*int64(p.word().Bytes())
	if p.Scaled {
		bytes += m * ((k + 31) / 32)
	}
	return cuda.Floor{Bytes: bytes, Flops: 2 * m * n * k}
}

// choose is the configuration of least estimated time.
func (p Window) choose(a cuda.Arch) (tile, error) {
	if err := p.Valid(); err != nil {
		return tile{}, err
	}
	b := byteProduct{kernel: "mx_window", m: p.M, n: p.N, k: p.K, pitch: 128, alu: 5}
	if !p.Exact {
		b.alu = 12
	}
	return b.cheapest(tilesMX, a)
}

// instance is the kernel in a configuration.
func (p Window) instance(t tile) (cuda.Instance, error) {
	return cuda.Named("mx_window", slices.Concat(t.params(), []string{bit(p.K%16 == 0), bit(p.Scaled), bit(p.Exact),
		string(p.word())})...)
}

// Plan chooses the configuration of least estimated time. X, XScales, W, WScales, Y and Bias of its operands are used;
// Bias are N integers of eight bytes.
func (p Window) Plan(a cuda.Arch) (Plan, error) {
	best, err := p.choose(a)
	if err != nil {
		return Plan{}, err
	}
	return p.with(best)
}

// Call is the product of the M rows of each of a number of samples, in a configuration for those of t. Errors as Plan.
func (p Window) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	all := p
	all.M = t.Rows(p.M, limit)
	best, err := all.choose(t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	i, err := p.instance(best)

	return cuda.Call{Instance: i, Blocks: int64(ceil(p.N, best.bn)), Rows: int64(p.M), Tile: int64(best.bm),
		Args: p.args(o, cuda.Samples32(int64(p.M), 1)), Bytes: p.Floor().Bytes}, err
}

// with is the plan of a configuration.
func (p Window) with(t tile) (Plan, error) {
	i, err := p.instance(t)
	if err != nil {
		return Plan{}, err
	}
	return whole(i, ceil(p.M, t.bm)*ceil(p.N, t.bn), func(o Operands) []cuda.Arg {
		return p.args(o, cuda.I32(int32(p.M)))
	})
}

// args are the arguments for so many rows.
func (p Window) args(o Operands, rows cuda.Arg) []cuda.Arg {
	return []cuda.Arg{o.X, o.XScales, o.W, o.WScales, o.Bias, o.Y, cuda.I64(int64(p.N)), rows, cuda.I32(int32(p.N)),
		cuda.I32(int32(p.K)), cuda.I32(p.Shift), cuda.I64(p.least()), cuda.I64(p.most())}
}

// word is how a result lies in memory.
func (p Window) word() word.Type { return word.For(p.Bits, true) }

func (p Window) least() int64 { return -1 << (p.Bits - 1) }
func (p Window) most() int64  { return 1<<(p.Bits-1) - 1 }

// PackBiases lays biases out as the kernel reads them.
func PackBiases(bias []int64) []byte {
	var out []byte
	for _, b := range bias {
		out = binary.LittleEndian.AppendUint64(out, uint64(b))
	}
	return out
}

// Sum is the result of the sums p of the blocks of a row and a column with their scale bytes, by the definition; x may
// be nil.
func (p Window) Sum(dots []int64, x, w []byte, bias int64) int64 {
	clamp := func(v *big.Int) *big.Int {
		if least := big.NewInt(p.least()); v.Cmp(least) < 0 {
			return least
		}
		if most := big.NewInt(p.most()); v.Cmp(most) > 0 {
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

// Case is the problem on random blocks whose scales lie around that of the window; plan comes from p.Plan.
func (p Window) Case(plan Plan, seed uint64, scales Scales) cuda.Case {
	var b operandsOf
	draw := func(operand string, rows int) (q, x []byte) {
		q, x = mxBlocks(seed, operand, rows, p.K, scales)
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
		r, out := dice(seed, "bias"), make([]int64, p.N)
		for i := range out {
			out[i] = r.Int64() >> (64 - p.Bits + r.IntN(p.Bits))
		}
		return out
	}
	o := Operands{XScales: cuda.Null()}
	o.X = b.in("x", int64(p.M)*int64(p.K), func() []byte { q, _ := acts(); return q })
	if p.Scaled {
		o.XScales = b.in("x scales", int64(p.M)*int64(ceil(p.K, 32)), func() []byte { _, x := acts(); return x })
	}
	b.weights(&o, LayoutInt8, p.N, p.K, weights)
	o.Bias = b.in("bias", int64(p.N)*8, func() []byte { return PackBiases(bias()) })
	size := int64(p.word().Bytes())
	o.Y = b.out("y", int64(p.M)*int64(p.N)*size)
	c := cuda.CaseOf(p, plan, o)
	c.Name = fmt.Sprintf("%s/m=%d n=%d k=%d int(%d)", plan.Instances[0].Kernel, p.M, p.N, p.K, p.Bits)
	c.Shape, c.Formats = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K), fmt.Sprintf("mxint8 x mxint8 -> int(%d)", p.Bits)
	c.Buffers, c.Int8 = b.buffers, true
	c.Check = func(outputs [][]byte) cuda.Verdict {
		xq, xs := acts()
		wq, ws := weights()
		return p.check(xq, xs, wq, ws, bias(), outputs[0])
	}
	return c
}

// check demands every code of sampled rows.
func (p Window) check(xq, xs, wq, ws []byte, bias []int64, y []byte) cuda.Verdict {
	v := verdict{Verdict: cuda.Verdict{BitEqual: true}}
	blocks, size := ceil(p.K, 32), p.word().Bytes()
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
			want := uint64(p.Sum(dots, x, ws[n*blocks:(n+1)*blocks], bias[n]))
			v.same(i, got, want&(1<<(8*size-1)<<1-1))
		}
	}
	return v.done()
}

// windowCases are small problems with corners and one for times.
func windowCases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		Window
		scales Scales
		timed  bool
	}{
		{Window{M: 65, N: 72, K: 400, Scaled: true, Shift: -246, Bits: 37, Exact: true}, NarrowScales, false},
		{Window{M: 33, N: 80, K: 65, Scaled: true, Shift: -250, Bits: 33}, AnyScales, false},
		{Window{M: 20, N: 33, K: 96, Shift: -124, Bits: 20}, NarrowScales, false},
		{Window{M: 2048, N: 4096, K: 4096, Scaled: true, Shift: -246, Bits: 44, Exact: true}, NarrowScales, true},
	} {
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := c.Case(plan, uint64(i), c.scales)
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}
