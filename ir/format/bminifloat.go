// SPDX-License-Identifier: Apache-2.0

package format

import "fmt"

// BMinifloat is bminifloat(e,m,k,B), block minifloat: blocks of k float(e,m) whose bias is a field of B bits that they
// share.
type BMinifloat struct{ sharedBlock }

func buildBMinifloat(c *call) (Format, error) {
	rows, err := c.tileRows(2)
	if err != nil {
		return nil, err
	}
	v, err := c.ints(intRange{"e", 1, 6}, intRange{"m", 0, 14}, intRange{"k", 1, maxBlock}, intRange{"B", 1, maxScaleBits})
	if err != nil {
		return nil, err
	}
	one := 1<<(v[3]-1) - 1 // the bias at which the scale is 1
	f := BMinifloat{sharedBlock{elem: newFields(v[0], v[1], 1-one-v[1]), k: v[2], rows: rows - 1, scaleBits: v[3],
		least: one + 1 - 1<<v[3], lead: one + 1 - 1<<v[0], falls: true}}
	return f, c.finishBlock(&f.sharedBlock)
}

// String is the canonical text.
func (f BMinifloat) String() string {
	return fmt.Sprintf("bminifloat(%d,%d,%s,%d%s", f.elem.e, f.elem.m,
		blockText(f.BlockRows(), f.k), f.scaleBits, f.optionsText(""))
}

// CodeSet is f with elements rounded to even.
func (f BMinifloat) CodeSet() Format {
	f.elem.round = RoundEven
	return f
}
