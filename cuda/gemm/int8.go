// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"encoding/binary"
	"math"
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// Int8 is y = requantize(x*transpose(w)) in integers: x [M][K] bytes, w [N][K] signed bytes, packed by Pack.
type Int8 struct {
	M, N, K int
	// Unsigned says that x are numbers from 0 to 255.
	Unsigned bool
	// Raw stores the sums as 32-bit integers; there are no channels then.
	Raw bool
	// Result are the codes: their F is 0, their W at most 32. Zero is added before the overflow rule.
	Result format.Fixed
	Zero   int32
}

// Channel is an output channel: t = (sum << Up) + Bias; code = over(Zero + RS(t*Mul, Shift)). A product has 63 bits
// with its sign aside; a Shift below 1 shifts left.
type Channel struct {
	Bias      int64
	Mul       int32
	Shift, Up int
}

// ChannelBytes is the size of a channel in the operand that PackChannels makes.
const ChannelBytes = 16

// PackChannels lays channels out as the kernel reads them.
func PackChannels(channels []Channel) []byte {
	var out []byte
	for _, c := range channels {
		out = binary.LittleEndian.AppendUint64(out, uint64(c.Bias))
		out = binary.LittleEndian.AppendUint32(out, uint32(c.Mul))
		out = binary.LittleEndian.AppendUint16(out, uint16(c.Shift))
		out = binary.LittleEndian.AppendUint16(out, uint16(c.Up))
	}
	return out
}

// tilesInt8 are the configurations.
var tilesInt8 = []tile{{16, 128, 1, 4, 3}, {64, 64, 2, 2, 3}, {128, 128, 2, 4, 3}}

// Word is how a result lies in memory.
func (p Int8) Word() word.Type {
	if p.Raw || p.Result.W > 16 {
		return word.I32
	}
	return word.For(p.Result.W, p.Result.Signed)
}

// most is the largest magnitude of a product of codes.
func (p Int8) most() int {
	if p.Unsigned {
		return 255 * 128
	}
	return 128 * 128
}

// Valid reports why no kernel can take the problem: error L0990.
func (p Int8) Valid() error {
	if err := sizes("int8", p.M, p.N, p.K); err != nil {
		return err
	}
	r := p.Result
	switch {
	case p.K > math.MaxInt32/p.most():
		return refuse("int8", "%d products may need more than 32 bits, %d do not", p.K, math.MaxInt32/p.most())
	case p.Raw:
		return nil
	case r.W < 1 || r.W > 32 || r.W == 32 && !r.Signed || r.F != 0:
		return refuse("int8", "results are integers of up to 32 signed bits, not %s", r)
	case r.Round > format.RoundOutward:
		return refuse("int8", "no kernel rounds by round=%s", r.Round)
	}
	return nil
}

// Pack puts weights, N rows of K bytes, into the order of the kernel.
func (p Int8) Pack(w []byte) []byte { return LayoutInt8.Pack(w, p.N, p.K) }

// PackedBytes is the size of packed weights.
func (p Int8) PackedBytes() int64 { return LayoutInt8.Bytes(p.N, p.K) }

// Floor is the least that must be moved and computed.
func (p Int8) Floor() cuda.Floor {
	m, n, k := int64(p.M), int64(p.N), int64(p.K)
	bytes := m*k + n*k + m*n*int64(p.Word().Bytes())
	if !p.Raw {
		bytes += n * ChannelBytes
	}
	return cuda.Floor{Bytes: bytes, Flops: 2 * m * n * k}
}

// Plan chooses the configuration of least estimated time. X, W and Y of its operands are used, and Bias, which are the
// channels.
func (p Int8) Plan(a cuda.Arch) (Plan, error) {
	best, err := p.choose(a)
	if err != nil {
		return Plan{}, err
	}
	return p.with(best)
}

// choose is the configuration of least estimated time.
func (p Int8) choose(a cuda.Arch) (tile, error) {
	if err := p.Valid(); err != nil {
		return tile{}, err
	}
	return byteProduct{kernel: "int8", m: p.M, n: p.N, k: p.K, pitch: 128}.cheapest(tilesInt8, a)
}

// Call is the product of the M rows of each of a number of samples, in a configuration for those of t. Errors as Plan.
func (p Int8) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	all := p
	all.M = t.Rows(p.M, limit)
	best, err := all.choose(t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	i, err := cuda.Named("int8", p.params(best)...)
	return cuda.Call{Instance: i, Blocks: int64(ceil(p.N, best.bn)), Rows: int64(p.M), Tile: int64(best.bm),
		Args: p.args(o, cuda.Samples32(int64(p.M), 1)), Bytes: p.Floor().Bytes}, err
}

// params are the template parameters of a configuration.
func (p Int8) params(t tile) []string {
	return slices.Concat(t.params(), []string{bit(p.K%16 == 0)}, p.coded())
}

// coded are the template parameters R, WRAP, RAW, A and T.
func (p Int8) coded() []string {
	x, wrap, round := "i8", 0, int(p.Result.Round)
	if p.Unsigned {
		x = "u8"
	}
	if p.Result.Over == format.Wrap {
		wrap = p.Result.W
	}
	if p.Raw {
		wrap, round = 0, 0
	}
	return append(texts(round, wrap), bit(p.Raw), x, string(p.Word()))
}

// with is the plan of a configuration.
func (p Int8) with(t tile) (Plan, error) {
	i, err := cuda.Named("int8", p.params(t)...)
	if err != nil {
		return Plan{}, err
	}
	return whole(i, ceil(p.M, t.bm)*ceil(p.N, t.bn), func(o Operands) []cuda.Arg {
		return p.args(o, cuda.I32(int32(p.M)))
	})
}

// args are the arguments for so many rows.
func (p Int8) args(o Operands, rows cuda.Arg) []cuda.Arg {
	lo, hi := int64(0), int64(0)
	if !p.Raw {
		lo, hi = p.Result.Min(), p.Result.Max()
	}
	return []cuda.Arg{o.X, o.W, o.Bias, o.Y, cuda.I64(int64(p.N)), rows, cuda.I32(int32(p.N)), cuda.I32(int32(p.K)),
		cuda.I32(p.Zero), cuda.I32(int32(lo)), cuda.I32(int32(hi))}
}
