// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"encoding/binary"
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
	bytes := m*k + n*(k+(k+31)/32) + n*8 + m*n*int64(p.Word().Bytes())
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
	b := byteProduct{kernel: "mx_window", m: p.M, n: p.N, k: p.K, pitch: 128, alu: 6.5}
	if !p.Exact {
		b.alu = 12
	}
	return b.cheapest(tilesMX, a)
}

// instance is the kernel in a configuration.
func (p Window) instance(t tile) (cuda.Instance, error) {
	return cuda.Named("mx_window", slices.Concat(t.params(), []string{bit(p.K%16 == 0), bit(p.Scaled), bit(p.Exact),
		string(p.Word())})...)
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

// Word is how a result lies in memory.
func (p Window) Word() word.Type { return word.For(p.Bits, true) }

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
