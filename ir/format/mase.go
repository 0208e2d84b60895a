// SPDX-License-Identifier: Apache-2.0

package format

import (
	"strconv"

	"lathe/internal/diag"
)

// MASELog is log(W,dialect=mase), the logarithms of MASE: a sign bit and a field f of W-1 bits, +-2^(f-bias) also for
// f = 0, so that there is no zero.
type MASELog struct {
	W      int
	Offset int // bias minus 2^(W-2)-1
}

// mase makes the logarithms with the fields of l, whose codecs are tables.
func (c *call) mase(l Log) (Format, error) {
	if l.W > tableBits {
		return nil, c.fail(diag.FormatOption, 1, "logarithms of dialect=mase have up to %d bits", tableBits)
	}
	return Listed{MASELog{l.W, l.Offset}}, c.noScale()
}

func (f MASELog) bias() int { return Log{W: f.W, Offset: f.Offset}.Bias() }

// String is the canonical text.
func (f MASELog) String() string {
	return "log(" + strconv.Itoa(f.W) + biasText(f.Offset, f.bias()) + optionText(RoundMASE, Sat) + ")"
}

// Width is W.
func (f MASELog) Width() int { return f.W }

// Decode is plus or minus a power of two.
func (f MASELog) Decode(code int64) Exact {
	fields := int64(1) << (f.W - 1)
	return pack(code&fields != 0, 1, int(code&(fields-1))-f.bias())
}

// Encode takes the power nearest in logarithm to |v| + 0.1*2^-bias, and the sign of v + 0.1*2^-bias; NaN counts as 0.
func (f MASELog) Encode(v Exact) int64 {
	top := 1<<(f.W-1) - 1
	if v.IsNaN() {
		v = Exact{}
	}
	tenth := FromInt(1, -f.bias()) // all in tenths
	ten := FromInt(10, 0)
	sign := int64(0)
	if v.Mul(ten).Add(tenth).Sign() < 0 {
		sign = 1 << (f.W - 1)
	}
	if v.IsInf() {
		return sign | int64(top)
	}
	// The field n+bias of the n with 2^(n-1/2) <= t/10 < 2^(n+1/2): of the squares, 100*2^(2n-1) <= t*t < 100*2^(2n+1).
	t := v.Abs().Mul(ten).Add(tenth)
	square, n := t.Mul(t), t.Log2()-3
	for square.Cmp(FromInt(100, 2*n+1)) >= 0 {
		n++
	}
	for square.Cmp(FromInt(100, 2*n-1)) < 0 {
		n--
	}
	return sign | int64(min(max(n+f.bias(), 0), top))
}

func (f MASELog) codes() Set { return f }

func (f MASELog) scale() float32 { return 1 }

func (f MASELog) times(float32) Set { return f }

func (f MASELog) fit([]float32) Set { return f }
