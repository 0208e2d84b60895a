// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strconv"
)

// MXInt is mxint(W,k): blocks of k two's complement integers q of W bits that share one byte X. The value of an
// element is q*2^-(W-2)*2^(X-127); X = 255 makes the whole block NaN (OCP Microscaling Formats v1.0, section 5.3 and
// 6.3).
type MXInt struct{ IntBlock }

// NewMXInt is mxint(w,k) with elements rounded to even, in blocks along the last axis.
func NewMXInt(w, k int) MXInt {
	return MXInt{IntBlock{W: w, K: k, ScaleBits: 8, Bias: 127}} // E8M0
}

// MXInt8 is mxint8, OCP MXINT8.
var MXInt8 Format = NewMXInt(8, 32)

func buildMXInt(c *call) (Format, error) {
	rows, err := c.tileRows(1)
	if err != nil {
		return nil, err
	}
	v, err := c.ints(intRange{"W", 2, 32}, intRange{"k", 1, maxBlock})
	if err != nil {
		return nil, err
	}
	axis, err := c.intOption(-1, intRange{"axis", 0, maxAxis})
	if err != nil {
		return nil, err
	}
	if c.option("dialect") != "" {
		f := MASEInt{sharedBlock{elem: newFields(-1, v[0], 2-v[0]), k: v[1], rows: rows - 1, scaleBits: 8, least: -128,
			lead: -1, ceil: true}}
		return f, c.finishBlock(&f.sharedBlock)
	}
	m := NewMXInt(v[0], v[1])
	m.Round, m.Along = c.round(), axis+1
	if rows > 1 {
		m.Rows = rows
	}
	return m, c.noScale()
}

// String is the canonical text; mxint8 is mxint(8,32).
func (m MXInt) String() string {
	s := "mxint(" + strconv.Itoa(m.W) + "," + blockText(m.Rows, m.K) + optionText(m.Round, Sat)
	if m.Along > 0 {
		s += ",axis=" + strconv.Itoa(m.Along-1)
	}
	if s == "mxint(8,32" {
		return "mxint8"
	}
	return s + ")"
}

// CodeSet is m with elements rounded to even.
func (m MXInt) CodeSet() Format {
	m.Round = RoundEven
	return m
}

// KernelType is mxint_code, which takes the scale field beside the code.
func (m MXInt) KernelType() string { return fmt.Sprintf("mxint_code<%d, %s>", m.W, m.Round.kernel()) }

// MASEInt is mxint(W,k,dialect=mase), the MXINT of MASE: X = ceil(log2 max|x|)+127, values q*2^-(W-1)*2^(X-127) with q
// down to -2^(W-1), and no NaN. Its codes mean other values than those of mxint(W,k).
type MASEInt struct{ sharedBlock }

// String is the canonical text.
func (m MASEInt) String() string {
	return fmt.Sprintf("mxint(%d,%s%s", m.Width(), blockText(m.BlockRows(), m.k), m.optionsText(m.dialectText()))
}

// CodeSet is m with elements rounded to even.
func (m MASEInt) CodeSet() Format {
	m.elem.round = RoundEven
	return m
}
