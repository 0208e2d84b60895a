// SPDX-License-Identifier: Apache-2.0

package format

import "fmt"

// BFP is bfp(W,k,E), block floating point: blocks of k elements of a sign and a magnitude q of W-1 bits that share a
// field f of E bits. The value of an element is +-q*2^(f-bias-(W-1)), bias 2^(E-1)-1 unless given.
// With dialect=mase, powers of two as the greatest magnitude saturate: f comes from ceil(log2).
type BFP struct{ sharedBlock }

func buildBFP(c *call) (Format, error) {
	rows, err := c.tileRows(1)
	if err != nil {
		return nil, err
	}
	v, err := c.ints(intRange{"W", 2, 32}, intRange{"k", 1, maxBlock}, intRange{"E", 1, maxScaleBits})
	if err != nil {
		return nil, err
	}
	bias, err := c.intOption(1<<(v[2]-1)-1, intRange{"bias", -maxBias, maxBias})
	if err != nil {
		return nil, err
	}
	f := BFP{sharedBlock{elem: newFields(0, v[0]-1, 2-v[0]), k: v[1], rows: rows - 1, scaleBits: v[2], least: -bias - 1}}
	f.elem.oneZero = true
	if c.option("dialect") != "" {
		f.ceil, f.lead = true, -1
	}
	return f, c.finishBlock(&f.sharedBlock)
}

// String is the canonical text.
func (f BFP) String() string {
	s := fmt.Sprintf("bfp(%d,%s,%d", f.Width(), blockText(f.BlockRows(), f.k), f.scaleBits)
	if bias := -f.least - 1; bias != 1<<(f.scaleBits-1)-1 {
		s += fmt.Sprintf(",bias=%d", bias)
	}
	return s + f.optionsText(f.dialectText())
}

// CodeSet is f with elements rounded to even, whatever the dialect.
func (f BFP) CodeSet() Format {
	f.elem.round, f.ceil, f.lead = RoundEven, false, 0
	return f
}
