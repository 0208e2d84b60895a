// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"lathe/internal/diag"
)

// MXFP is mxfp(E,k): blocks of k floats that share one byte X. The value of an element is its value in E times
// 2^(X-127); X = 255 makes the whole block NaN (OCP Microscaling Formats v1.0, section 5).
type MXFP struct {
	sharedBlock
	name string // of the element format
}

func buildMXFP(c *call) (Format, error) {
	if len(c.args) != 2 {
		return nil, c.fail(diag.FormatNumbers, len(c.name)+1,
			"mxfp takes an element format and a block size, found %d arguments",
			len(c.args)).WithHint("for example %s", c.family.Example)
	}
	elem, name, err := c.floatElement(c.args[0])
	if err != nil {
		return nil, err
	}
	rows, err := c.tileRows(1)
	if err != nil {
		return nil, err
	}
	k, err := c.integer(c.args[1].val, c.args[1].col, intRange{"k", 1, maxBlock})
	if err != nil {
		return nil, err
	}
	f := MXFP{sharedBlock{elem: elem, k: k, rows: rows - 1, scaleBits: 8, least: -127, nan: true}, name}
	_, hi := elem.Limits()
	f.lead = -hi.Log2()
	return f, c.finishBlock(&f.sharedBlock)
}

// floatElement reads the format of elements: a float, whose overflow and rounding are those of blocks.
func (c *call) floatElement(a arg) (f fields, name string, err error) {
	text, err := Parse(a.val)
	if err != nil {
		return f, "", c.fail(diag.FormatNumbers, a.col, "%v", err)
	}
	e, ok := text.(Float)
	if e.Over == BeyondCode {
		e.Over = BeyondSat
	}
	if !ok || e.Kind == FloatFNUZ || e.Round != RoundEven || e.E > 6 || e.M > 14 {
		return f, "", c.fail(diag.FormatNumbers, a.col, "%s is no element format of blocks", quote(a.val)).
			WithHint("use e4m3, e5m2, e3m2, e2m3, e2m1, or float(e,m) with e to 6 and m to 14, of any bias, ieee or fn")
	}
	f = newFields(e.E, e.M, e.low()-e.M)
	f.most = e.most()
	return f, e.String(), nil
}

// String is the canonical text: mxfp8 is mxfp(e4m3,32), mxfp6 is mxfp(e2m3,32), mxfp4 is mxfp(e2m1,32).
func (f MXFP) String() string {
	s := fmt.Sprintf("mxfp(%s,%s%s", f.name, blockText(f.BlockRows(), f.k), f.optionsText(""))
	switch s {
	case "mxfp(e4m3,32)":
		return "mxfp8"
	case "mxfp(e2m3,32)":
		return "mxfp6"
	case "mxfp(e2m1,32)":
		return "mxfp4"
	}
	return s
}

// CodeSet is f with elements rounded to even.
func (f MXFP) CodeSet() Format {
	f.elem.round = RoundEven
	return f
}
