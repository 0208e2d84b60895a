// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"
	"strings"

	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// convertCompare: the direction stands in front of the operands, or is an attribute.
func convertCompare(c *call) {
	dir := c.in.Attrs.Get("comparison_direction").Word()
	kind := c.in.Attrs.Get("compare_type").Word()
	for i := range c.in.Loose {
		switch w := c.in.Loose[i].Text; w {
		case "EQ", "NE", "LT", "LE", "GT", "GE":
			dir = w
		case "TOTALORDER":
			kind = w
		}
	}
	if !slices.Contains([]string{"EQ", "NE", "LT", "LE", "GT", "GE"}, dir) ||
		kind == "TOTALORDER" && !(c.args[0].node.IsConst() && c.args[1].node.IsConst()) {
		c.fail(diag.UnsupportedForm, "comparison %s %s is not supported", dir, kind)
		return
	}
	c.outs = append(c.outs, c.compare(strings.ToLower(dir), c.args[0], c.args[1]))
}

func (c *call) compare(rel string, a, b value) value {
	return c.pointwise(whole.Compare, &whole.CompareAttrs{Rel: rel}, a, b)
}

// convertSelect chooses element by element; one truth value may stand for all.
func convertSelect(c *call) {
	cond, a, b := c.args[0], c.args[1], c.args[2]
	if len(cond.dims) == 0 {
		cond.dims = a.dims
	}
	c.outs = append(c.outs, c.choose(cond, a, b))
}

func (c *call) choose(cond, a, b value) value {
	if v, ok := cond.scalar(); ok && c.err == nil { // known for all elements
		c.same(cond, a, b)
		if v != 0 {
			return a
		}
		return b
	}
	return c.pointwise(whole.Where, nil, cond, a, b)
}

// convertShiftLogical shifts zeros in: an arithmetic shift, of which the sign is masked out.
func convertShiftLogical(c *call) {
	x, by := c.args[0], c.args[1]
	if least(x.node) == 0 {
		c.outs = append(c.outs, c.pointwise(whole.ShiftRight, nil, x, by))
		return
	}
	width := x.node.Type.Format.Width()
	switch n, ok := by.scalar(); {
	case !ok:
		c.same(x, by)
		shifted, err := c.b.ShiftRight(c.at(), x.node, by.node)
		c.wrap(err)
		c.outs = append(c.outs, value{shifted, x.dims})
	case n < 0 || n >= float64(width):
		c.outs = append(c.outs, value{c.number(x.node, 0), x.dims})
	case n == 0:
		c.outs = append(c.outs, x)
	default:
		c.outs = append(c.outs, c.down(x, int(n)))
	}
}

// down shifts n zeros into x from above, fewer than it has bits.
func (c *call) down(x value, n int) value {
	by := value{c.whole(x.node, int64(n)), x.dims}
	y := c.pointwise(whole.ShiftRight, nil, x, by)
	if c.err != nil || least(x.node) == 0 {
		return y
	}
	return c.pointwise(whole.And, nil, y, value{c.whole(x.node, 1<<(x.node.Type.Format.Width()-n)-1), x.dims})
}

// convertLeadingZeros is W less the bits of x as an unsigned number, which are found half by half: where the upper half
// is not 0, the bits are those of it and all of the lower one.
func convertLeadingZeros(c *call) {
	x := c.args[0]
	if !ir.IsWhole(x.node.Type.Format) || x.node.Type.Format == ir.Bool {
		c.fail(diag.BadElementType, "%s has no integers", typeText(x))
		return
	}
	width := x.node.Type.Format.Width()
	like := x
	number := func(v int) value { return value{c.whole(like.node, int64(v)), like.dims} }
	some := func(v value) value { return c.pointwise(whole.Compare, &whole.CompareAttrs{Rel: "ne"}, v, number(0)) }
	zeros := number(width)
	for half := width / 2; half > 0 && c.err == nil; half /= 2 {
		upper := c.down(x, half)
		found := some(upper)
		zeros = c.pointwise(pointwise.Sub, nil, zeros, c.pointwise(whole.Where, nil, found, number(half), number(0)))
		x = c.pointwise(whole.Where, nil, found, upper, x)
	}
	c.outs = append(c.outs, c.pointwise(pointwise.Sub, nil, zeros, c.pointwise(whole.Where, nil, some(x), number(1),
		number(0))))
}

// convertConvert changes the element type.
func convertConvert(c *call) {
	t := c.result()
	c.outs = append(c.outs, c.cast(c.args[0], t.Elem))
}

// cast converts a value to an element type; between floats of 32 bits and more, nothing changes.
func (c *call) cast(x value, elem string) value {
	to := syntax.Storage(elem)
	if to == "" {
		c.fail(diag.BadElementType, "elements of type %s are not supported", elem)
		return value{}
	}
	if strings.HasSuffix(elem, "i2") || strings.HasSuffix(elem, "i4") {
		c.fail(diag.BadElementType, "conversions to %s are not supported", elem)
		return value{}
	}
	wide := to == ir.F32 || to == ir.F64
	if x.node == nil || wide && x.node.Type.IsFloat() || to != ir.U64 && !wide && ir.IsWhole(ir.FormatOf(to)) &&
		ir.FormatOf(to) == x.node.Type.Format {
		return x
	}
	return c.pointwise(whole.Convert, &whole.ConvertAttrs{To: to}, x)
}

// convertBitcast refuses to look at numbers as bits, save where the type stays.
func convertBitcast(c *call) {
	t := c.result()
	if d := syntax.Storage(t.Elem); d == "" || ir.FormatOf(d) != c.args[0].node.Type.Format || d == ir.F16 || d == ir.BF {
		c.fail(diag.UnsupportedForm, "the bits of %s as %s", typeText(c.args[0]), t)
		return
	}
	c.outs = append(c.outs, c.args[0])
}

// convertReducePrecision rounds to a float of fewer bits, where there is one.
func convertReducePrecision(c *call) {
	var exp, frac int64
	list := c.in.Loose
	for i := range list { // format = e5m10, or two attributes
		if w := list[i].Text; strings.HasPrefix(w, "e") && strings.Contains(w, "m") {
			exp, frac = bitsOf(w)
		}
	}
	if a := c.in.Attrs.Get("format"); a != nil {
		exp, frac = bitsOf(a.Word())
	}
	if a := c.in.Attrs.Get("exponent_bits"); a != nil {
		exp, _ = a.Int()
		frac, _ = c.in.Attrs.Get("mantissa_bits").Int()
	}
	switch {
	case exp == 5 && frac == 10:
		c.outs = append(c.outs, c.cast(c.args[0], "f16"))
	case exp == 8 && frac == 7:
		c.outs = append(c.outs, c.cast(c.args[0], "bf16"))
	case exp >= 8 && frac >= 23:
		c.outs = append(c.outs, c.args[0])
	default:
		c.fail(diag.UnsupportedForm, "rounds to %d bits of exponent and %d of fraction", exp, frac)
	}
}

// bitsOf reads e5m10.
func bitsOf(s string) (exp, frac int64) {
	a, b, _ := strings.Cut(strings.TrimPrefix(s, "e"), "m")
	x, y := syntax.Node{Kind: syntax.Int, Text: a}, syntax.Node{Kind: syntax.Int, Text: b}
	exp, _ = x.Int64()
	frac, _ = y.Int64()
	return exp, frac
}
