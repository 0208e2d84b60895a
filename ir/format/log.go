// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strconv"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// Log is log(W): a sign bit and a field f of W-1 bits, with the value 0 for f = 0 and +-2^(f-bias) for all others.
// These are the floats without a fraction, but for the sign of zero, which encoding drops.
type Log struct {
	W      int
	Offset int // bias minus 2^(W-2)-1
	Round  Round
}

func buildLog(c *call) (Format, error) {
	v, err := c.ints(intRange{"W", 2, 16})
	if err != nil {
		return nil, err
	}
	l := Log{W: v[0]}
	if l.Round, err = c.dialect(); err != nil {
		return nil, err
	}
	usual := l.Bias()
	bias, err := c.intOption(usual, intRange{"bias", -maxLogBias, maxLogBias})
	if err != nil {
		return nil, err
	}
	l.Offset = bias - usual
	if l.Round == RoundMASE {
		return c.mase(l)
	}
	return l, c.noScale()
}

// maxLogBias bounds the bias of logarithms, whose fields have up to 15 bits.
const maxLogBias = 1 << 15

// Bias is what fields exceed exponents by.
func (l Log) Bias() int { return l.powers().Bias() }

// powers is the float with the same values.
func (l Log) powers() Float { return Float{E: l.W - 1, Offset: l.Offset, Round: l.Round} }

// String is the canonical text.
func (l Log) String() string {
	return "log(" + strconv.Itoa(l.W) + biasText(l.Offset, l.Bias()) + optionText(l.Round, Sat) + ")"
}

// Width is W.
func (l Log) Width() int { return l.W }

// CodeSet is l with rounding to even.
func (l Log) CodeSet() Format {
	l.Round = RoundEven
	return l
}

// Lattice counts in the least power.
func (l Log) Lattice() (exp int, bits int, ok bool) { return l.powers().Lattice() }

// Limits are plus and minus the greatest power.
func (l Log) Limits() (lo, hi Exact) { return l.powers().Limits() }

// Decode is the value of a code; zero has no sign.
func (l Log) Decode(code int64) Exact {
	if v := l.powers().Decode(code); !v.IsZero() {
		return v
	}
	return Exact{}
}

// Encode rounds to a power of two or to 0; of two equally near ones it takes that with the even field, so that half of
// the least power is 0. It saturates; NaN gives 0.
func (l Log) Encode(v Exact) int64 { return l.stochastic(v, 0) }

func (l Log) rounding() Round { return l.Round }

// stochastic is Encode with a random word.
func (l Log) stochastic(v Exact, word uint32) int64 {
	if code := l.powers().stochastic(v, word); code&l.powers().most() != 0 {
		return code
	}
	return 0
}

// EncodeFloat64s is Encode of every x, where that takes no exact arithmetic: see Float.
func (l Log) EncodeFloat64s(codes []int64, x []float64) bool {
	f := l.powers()
	if !f.EncodeFloat64s(codes, x) {
		return false
	}
	for i, c := range codes {
		if c&f.most() == 0 {
			codes[i] = 0
		}
	}
	return true
}

// DecodeHLO is that of the floats.
func (l Log) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	return l.powers().DecodeHLO(b, x, out)
}

// EncodeHLO is that of the floats, with one zero.
func (l Log) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	code := l.powers().EncodeHLO(b, x, in)
	zero := b.Splat(code, 0)
	field := b.And(code, b.Splat(code, l.powers().most()))
	return b.Select(b.Compare(hlo.EQ, field, zero), zero, code)
}

// DecodeRTL is num_float_dec without a fraction.
func (l Log) DecodeRTL(out Fixed, s Stream) *rtl.Unit { return l.powers().DecodeRTL(out, s) }

// EncodeRTL is num_float_enc without a fraction.
func (l Log) EncodeRTL(in Fixed, s Stream) *rtl.Unit { return l.powers().encoder(in, s, false) }

// KernelType is log_code.
func (l Log) KernelType() string {
	return fmt.Sprintf("log_code<%d, %d, %s>", l.W, l.Bias(), l.Round.kernel())
}

// Finer is l with a bias that is greater by so many.
func (l Log) Finer(bits int) Format {
	l.Offset += bits
	return l
}

func (l Log) offset() int { return l.Offset }
