// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// Log is log(W): a sign bit and a field f of W-1 bits, with the value 0 for f = 0 and +-2^(f-bias) for all others, bias
// 2^(W-2)-1. These are the floats without a fraction, but for the sign of zero, which encoding drops.
type Log struct{ W int }

func buildLog(c *call) (Format, error) {
	v, err := c.ints(intRange{"W", 2, 16})
	if err != nil {
		return nil, err
	}
	return Log{v[0]}, c.noScale()
}

// powers is the float with the same values.
func (l Log) powers() Float { return Float{E: l.W - 1} }

// String is the canonical text.
func (l Log) String() string { return fmt.Sprintf("log(%d)", l.W) }

// Width is W.
func (l Log) Width() int { return l.W }

// CodeSet is l.
func (l Log) CodeSet() Format { return l }

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

// Encode takes the nearest value; of two equally near ones that with the even field, so that half of the least power is
// 0. It saturates; NaN gives 0.
func (l Log) Encode(v Exact) int64 {
	if code := l.powers().Encode(v); code&l.powers().most() != 0 {
		return code
	}
	return 0
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
