// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// maxCopied bounds the elements of weights that are copied into the order that layers have.
const maxCopied = 1 << 18

// matrix is a constant matrix operand [rows, cols] as the weights of a linear node: alpha*w, or its transpose. Small
// ones are copied into that form; large ones stay where they are, and nodes do the work on the constant. Codes are
// always copied: their scales follow the axes.
func (c *call) matrix(w *ir.Node, v *value, transpose bool, alpha float32) *ir.Node {
	if c.err != nil {
		return nil
	}
	if transpose && v.flip != nil {
		w, transpose = v.flip, false
	}
	if transpose {
		emit := c.b.Emit
		switch {
		case coding.Own(w) != nil:
			emit = c.b.Evaluate
		case w.Type.Elems() > maxCopied:
			emit = c.b.EmitNode
		}
		w = c.emitBy(emit, "weight", move.Transpose, &move.TransposeAttrs{Perm: []int{1, 0}}, w)
		v.flip = w
	}
	if alpha != 1 && c.err == nil {
		w = c.emit("weight", pointwise.Mul, nil, w, c.number(alpha, "alpha"))
	}
	return w
}

// convertGemm is alpha*A*B + beta*C with transposes.
func convertGemm(c *call) {
	if len(c.shape(0)) != 2 || len(c.shape(1)) != 2 {
		c.fail(diag.OperandShapes, "multiplies %s and %s, two matrices are needed", ir.ShapeString(c.shape(0)),
			ir.ShapeString(c.shape(1)))
		return
	}
	x := c.data(0)
	if c.int("transA", 0) != 0 {
		x = c.emit("transpose_a", move.Transpose, &move.TransposeAttrs{Perm: []int{1, 0}}, x)
	}
	flip := c.int("transB", 0) == 0
	c.fits(x, flip)
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	bias := c.has(2) && beta != 0
	if c.err == nil && !c.in[1].constant() {
		y := c.product(x, flip, alpha, bias)
		if bias {
			y = c.plusC(y, beta)
		}
		c.result(y)
		return
	}
	w := c.matrix(c.data(1), c.in[1], flip, alpha)
	if !bias {
		c.result(c.emit("", sum.Linear, nil, x, w))
		return
	}
	if c.err != nil {
		return
	}
	if b := c.bias(w.Type.Shape[0], beta); b != nil || c.err != nil {
		c.result(c.emit("", sum.Linear, nil, x, w, b))
		return
	}
	c.result(c.plusC(c.emit("product", sum.Linear, nil, x, w), beta))
}

// product is alpha*x*B for a computed B; it is the result where nothing is added.
func (c *call) product(x *ir.Node, flip bool, alpha float32, more bool) *ir.Node {
	b := c.data(1)
	if !flip {
		b = c.emit("transpose_b", move.Transpose, &move.TransposeAttrs{Perm: []int{1, 0}}, b)
	}
	suffix := ""
	if more {
		suffix = "product"
	}
	if alpha == 1 {
		return c.emit(suffix, sum.MatMul, nil, x, b)
	}
	y := c.emit("matmul", sum.MatMul, nil, x, b)
	return c.emit(suffix, pointwise.Mul, nil, y, c.number(alpha, "alpha"))
}

// plusC is y + beta*C, the result of a Gemm.
func (c *call) plusC(y *ir.Node, beta float32) *ir.Node {
	if c.err != nil {
		return nil
	}
	shape := y.Type.Shape
	add := c.data(2)
	if beta != 1 {
		add = c.emit("beta", pointwise.Mul, nil, add, c.number(beta, "beta"))
	}
	y = c.emit("", pointwise.Add, nil, y, add)
	if c.err == nil && !slices.Equal(y.Type.Shape, shape) {
		c.fail(diag.OperandShapes, "C of shape %s broadcasts the product to %s", ir.ShapeString(c.shape(2)),
			ir.ShapeString(y.Type.Shape))
	}
	return y
}

// fits checks the inner dimensions of a Gemm of x [n, k] and B, which is [k, m], or [m, k] without flip.
func (c *call) fits(x *ir.Node, flip bool) {
	if c.err != nil {
		return
	}
	shape, inner, other, b := x.Type.Shape, 0, 1, c.shape(1)
	if !flip {
		inner, other = 1, 0
	}
	if shape[1] == b[inner] {
		return
	}
	e := c.fail(diag.OperandShapes, "multiplies %s by %s: %d columns do not match %d rows", ir.ShapeString(shape),
		ir.ShapeString([]int{b[inner], b[other]}), shape[1], b[inner])
	switch {
	case shape[1] == b[other] && flip:
		e.Hint = "transB? with transB = 1 the weights fit"
	case shape[1] == b[other]:
		e.Hint = "transB? without transB = 1 the weights fit"
	case shape[0] == b[inner]:
		e.Hint = "transA? the transpose of the first operand fits"
	}
}

// bias is C of Gemm as a bias of out elements; nil if it is no constant or differs between rows.
func (c *call) bias(out int, beta float32) *ir.Node {
	v := c.in[2]
	n, shape := elems(v.shape()), v.shape()
	row := len(shape) < 2 || len(shape) == 2 && shape[0] == 1
	if !v.constant() || !row || n != out && n != 1 {
		return nil
	}
	b := c.data(2)
	if n == out && len(shape) == 1 && beta == 1 || c.err != nil {
		return b
	}
	b = c.reshape("bias", b, []int{n})
	if n != out {
		b = c.emit("bias", move.Repeat, &move.RepeatAttrs{Shape: []int{out}}, b)
	}
	if beta != 1 {
		b = c.emit("bias", pointwise.Mul, nil, b, c.number(beta, "beta"))
	}
	return b
}

// convertMatMul: x*w with a constant w [in, out] or [in] is a layer, other products are NumPy's.
func convertMatMul(c *call) {
	x, w := c.shape(0), c.shape(1)
	if len(w) == 0 || len(x) == 0 {
		c.fail(diag.OperandShapes, "multiplies %s and %s, matrices or vectors are needed", ir.ShapeString(x),
			ir.ShapeString(w))
		return
	}
	wide := len(w) // rank of w without leading ones
	for wide > 2 && w[len(w)-wide] == 1 {
		wide--
	}
	if c.in[0].constant() || !c.in[1].constant() || wide > 2 {
		a := c.data(0)
		c.result(c.matmul("", a, c.data(1)))
		return
	}
	rows, cols := w[max(0, len(w)-2)], 1
	if len(w) > 1 {
		cols = w[len(w)-1]
	}
	n := c.data(1)
	if c.err == nil && len(w) != 2 { // another view of the same constant
		name := n.Name
		if n = c.reshape("weight", n, []int{rows, cols}); n != nil {
			n.Name = name
		}
	}
	shape := append([]int(nil), x[:len(x)-1]...)
	for len(w) > 2 && len(shape) < len(w)-1 && len(x) > 1 {
		shape = append([]int{1}, shape...)
	}
	if len(w) > 2 && len(x) == 1 {
		shape = slices.Repeat([]int{1}, len(w)-2)
	}
	if len(w) > 1 {
		shape = append(shape, cols)
	}
	v := c.in[1]
	if len(w) != 2 {
		v = &value{} // its transpose is not that of the constant
	}
	y := c.emit("", sum.Linear, nil, c.data(0), c.matrix(n, v, true, 1))
	if c.err == nil && !slices.Equal(y.Type.Shape, shape) {
		y = c.reshape("shape", y, shape)
	}
	c.result(y)
}

// matmul is NumPy's matmul: a vector is a row on the left, a column on the right, and that axis is dropped again.
func (c *call) matmul(suffix string, a, b *ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	row, column := len(a.Type.Shape) == 1, len(b.Type.Shape) == 1
	if !row && !column {
		return c.emit(suffix, sum.MatMul, nil, a, b)
	}
	if row {
		a = c.reshape("row", a, []int{1, a.Type.Shape[0]})
	}
	if column {
		b = c.reshape("column", b, []int{b.Type.Shape[0], 1})
	}
	y := c.emit("product", sum.MatMul, nil, a, b)
	if c.err != nil {
		return nil
	}
	shape := slices.Clone(y.Type.Shape)
	if column {
		shape = shape[:len(shape)-1]
	}
	if row {
		at := len(shape) - 1
		if column {
			at++
		}
		shape = slices.Delete(shape, at-1, at)
	}
	return c.reshape(suffix, y, shape)
}

// convertConvInteger: as MatMulInteger, for windows. float32 holds such sums up to 2^24, those of 500 products; models
// turn them into float32 anyway.
func convertConvInteger(c *call) {
	operand := func(i int, role string, rank int) *value {
		emit := c.emit
		if c.err == nil && c.in[i].constant() {
			emit = c.emitNow
		}
		x := emit(role+"_real", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, c.arg(i))
		if c.err == nil && c.has(i+2) {
			zero := c.converted(role+"_zero", c.arg(i+2), ir.F32)
			if c.err == nil && len(zero.Type.Shape) == 1 && zero.Type.Shape[0] > 1 { // one an output channel
				shape := slices.Repeat([]int{1}, rank)
				shape[0] = zero.Type.Shape[0]
				zero = c.reshape(role+"_zeros", zero, shape)
			} else if c.err == nil {
				zero = c.reshape(role+"_zeros", zero, []int{})
			}
			x = emit(role, pointwise.Sub, nil, x, zero)
		}
		return &value{name: c.in[i].name, dtype: 1, node: x}
	}
	rank := len(c.shape(0))
	in := []*value{operand(0, "x", rank), operand(1, "w", rank)}
	if c.err != nil {
		return
	}
	c.in = in
	if convertConv(c); c.err == nil {
		c.result(c.converted("whole", c.fr.values[c.n.out[0]].node, ir.I32))
	}
}

// convertMatMulInteger: products of bytes less their zero points, with sums modulo 2^32.
func convertMatMulInteger(c *call) {
	operand := func(i int, role string) *ir.Node {
		x := c.converted(role+"32", c.arg(i), ir.I32)
		if c.err != nil || !c.has(i+2) {
			return x
		}
		zero := c.converted(role+"_zero", c.arg(i+2), ir.I32)
		if c.err == nil && i == 0 && len(zero.Type.Shape) == 1 && zero.Type.Shape[0] > 1 { // one a row
			zero = c.reshape(role+"_zeros", zero, []int{zero.Type.Shape[0], 1})
		}
		return c.emit(role, pointwise.Sub, nil, x, zero)
	}
	a := operand(0, "a")
	c.result(c.matmul("", a, operand(1, "b")))
}
