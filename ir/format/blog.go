// SPDX-License-Identifier: Apache-2.0

package format

import "fmt"

// BLog is blog(W,k,B): blocks of k powers of two, log(W), whose bias is a field of B bits that they share.
type BLog struct{ sharedBlock }

func buildBLog(c *call) (Format, error) {
	rows, err := c.tileRows(1)
	if err != nil {
		return nil, err
	}
	v, err := c.ints(intRange{"W", 2, 16}, intRange{"k", 1, maxBlock}, intRange{"B", 1, maxScaleBits})
	if err != nil {
		return nil, err
	}
	one := 1<<(v[2]-1) - 1 // the bias at which the scale is 1
	f := BLog{sharedBlock{elem: newFields(v[0]-1, 0, 1-one), k: v[1], rows: rows - 1, scaleBits: v[2],
		least: one + 1 - 1<<v[2],
		lead:  one + 1 - 1<<(v[0]-1), falls: true, ceil: true}}
	f.elem.oneZero = true
	return f, c.finishBlock(&f.sharedBlock)
}

// String is the canonical text.
func (f BLog) String() string {
	return fmt.Sprintf("blog(%d,%s,%d%s", f.Width(), blockText(f.BlockRows(), f.k), f.scaleBits, f.optionsText(""))
}

// CodeSet is f with elements rounded to even.
func (f BLog) CodeSet() Format {
	f.elem.round = RoundEven
	return f
}
