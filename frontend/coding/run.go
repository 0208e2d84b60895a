// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"lathe/frontend/build"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// markedBits is how many bits codes have that are short: float32 holds their numbers and what is computed of them.
const markedBits = 8

// Codes computes the codes of n, numbers of a scheme with one scale, as whole numbers of the storage type to:
// round(n/scale) + zero. For models that do more with codes than to decode them, and for outputs. Short codes are
// marked as what they are, so that hardware ends with them.
func (s *Scheme) Codes(b *build.Builder, at build.Place, n *ir.Node, to ir.DType) (*ir.Node, error) {
	c := steps{b: b, at: at}
	if s.Scales[0] != 1 {
		n = c.emit("steps", whole.Div, nil, n, c.number(s.Scales[0], "scale"))
	}
	n = c.emit("round", curve.Round, nil, n)
	if s.Zero != 0 {
		n = c.emit("shifted", pointwise.Add, nil, n, c.number(float32(s.Zero), "zero"))
	}
	if s.Ints.W <= markedBits {
		n = c.emit("whole", pointwise.Quant, &pointwise.QuantAttrs{Format: s.Ints.String()}, n)
	}
	n = c.emit("codes", whole.Convert, &whole.ConvertAttrs{To: to}, n)
	return n, c.err
}

// Numbers computes (n - zero)*scale of codes n, whole numbers of a scheme with one scale. The result of short codes is
// marked as in the scheme, which rounds nothing.
func (s *Scheme) Numbers(b *build.Builder, at build.Place, n *ir.Node) (*ir.Node, error) {
	c := steps{b: b, at: at}
	if !n.Type.IsFloat() {
		n = c.emit("real", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, n)
	}
	if s.Zero != 0 {
		n = c.emit("steps", pointwise.Sub, nil, n, c.number(float32(s.Zero), "zero"))
	}
	if s.Ints.W > markedBits {
		n = c.emit("", pointwise.Mul, nil, n, c.number(s.Scales[0], "scale"))
		return n, c.err
	}
	n = c.emit("scaled", pointwise.Mul, nil, n, c.number(s.Scales[0], "scale"))
	n = c.emit("", pointwise.Quant, &pointwise.QuantAttrs{Format: s.Type(format.DivExact).Format.String()}, n)
	return n, c.err
}

// steps makes nodes in a row; the first error sticks.
type steps struct {
	b   *build.Builder
	at  build.Place
	err error
}

// emit makes a node; without part it is the one that users see under the name of the operation.
func (c *steps) emit(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	at := c.at
	if part != "" {
		at = build.Place{Name: at.Name + "." + part, Source: at.Source}
	}
	var n *ir.Node
	n, c.err = c.b.Emit(at, o, attrs, args...)
	return n
}

// number is a constant of one real number.
func (c *steps) number(v float32, part string) *ir.Node {
	if c.err != nil {
		return nil
	}
	var n *ir.Node
	n, c.err = c.b.Const(c.at.Name+"."+part, ir.FloatBlob([]float32{v}), nil)
	return n
}
