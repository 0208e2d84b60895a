// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// matrix is a constant matrix operand [rows, cols] as the weights of a linear node: alpha*w, or its transpose.
// Small ones are copied into that form; large ones stay where they are, and nodes do the work on the constant.
func (c *call) matrix(i int, transpose bool, alpha float32) *ir.Node {
	v := c.in[i]
	if !transpose && alpha == 1 {
		return c.weight(i, "the weights")
	}
	if c.err == nil && v.flip != nil && alpha == 1 {
		return v.flip
	}
	if w := c.weightCopy(i, transpose, alpha); w != nil || c.err != nil {
		return w
	}
	w := c.weight(i, "the weights")
	if transpose {
		w = c.emit("transpose", op.Transpose, &op.TransposeAttrs{Perm: []int{1, 0}}, w)
	}
	if alpha != 1 {
		return c.emit("alpha", op.Mul, nil, w, c.number(alpha, "alpha"))
	}
	v.flip = w
	return w
}

// weightCopy is matrix for small constants; nil where it does not apply.
func (c *call) weightCopy(i int, transpose bool, alpha float32) *ir.Node {
	v := c.in[i]
	coded := v.known != nil && v.known.own != nil // whose scales follow the axes here, and not in nodes
	if c.err != nil || !v.constant() || !isFloat(v.typ) || !coded && !c.charge(2*elems(v.shape)) {
		return nil
	}
	k, ok, err := c.constantOf(v)
	c.wrap(source.CodeFold, err)
	if c.err != nil || !ok {
		return nil
	}
	if transpose {
		k = k.transposed([]int{1, 0})
	}
	if alpha != 1 {
		k = scaled(k, alpha)
	}
	n := c.known(k, "weight")
	if alpha == 1 {
		v.flip = n
	}
	return n
}

// scaled is k*alpha in float32 arithmetic.
func scaled(k *konst, alpha float32) *konst {
	out := newKonst(ir.F32, k.shape)
	for i, x := range k.floats {
		out.floats[i] = float64(float32(x) * alpha)
	}
	return out
}

// known makes a constant node of computed elements, named after this node.
func (c *call) known(k *konst, role string) *ir.Node {
	if c.err != nil {
		return nil
	}
	b, err := k.blob()
	if c.wrap(source.CodeDType, err); err != nil {
		return nil
	}
	n := c.constant(b, k.shape, c.label+"."+role)
	c.wrap(source.CodeQuantForm, k.mark(n))
	return n
}

func (c *call) number(v float32, role string) *ir.Node {
	return c.known(&konst{typ: ir.F32, floats: []float64{float64(v)}}, role)
}

// convertGemm is alpha*A*B + beta*C with transposes; B must be constant.
func convertGemm(c *call) {
	if len(c.shape(0)) != 2 || len(c.shape(1)) != 2 {
		c.fail(source.CodeShape, "multiplies %s and %s, two matrices are needed", ir.ShapeString(c.shape(0)),
			ir.ShapeString(c.shape(1)))
		return
	}
	x := c.data(0)
	if c.int("transA", 0) != 0 {
		x = c.emit("transpose_a", op.Transpose, &op.TransposeAttrs{Perm: []int{1, 0}}, x)
	}
	flip := c.int("transB", 0) == 0
	c.fits(x, flip)
	w := c.matrix(1, flip, c.float("alpha", 1))
	beta := c.float("beta", 1)
	if !c.has(2) || beta == 0 {
		c.result(c.emit("", op.Linear, nil, x, w))
		return
	}
	if c.err != nil {
		return
	}
	out := w.Type.Shape[0]
	if b := c.bias(out, beta); b != nil || c.err != nil {
		c.result(c.emit("", op.Linear, nil, x, w, b))
		return
	}
	y := c.emit("product", op.Linear, nil, x, w)
	add := c.data(2)
	if beta != 1 {
		add = c.emit("beta", op.Mul, nil, add, c.number(beta, "beta"))
	}
	y = c.emit("", op.Add, nil, y, add)
	if c.err == nil && (y.Type.Shape[0] != x.Type.Shape[0] || y.Type.Shape[1] != out) {
		c.fail(source.CodeShape, "C of shape %s broadcasts the product to %s", ir.ShapeString(c.shape(2)),
			ir.ShapeString(y.Type.Shape))
	}
	c.result(y)
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
	e := c.fail(source.CodeShape, "multiplies %s by %s: %d columns do not match %d rows", ir.ShapeString(shape),
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
	n := elems(v.shape)
	row := len(v.shape) < 2 || len(v.shape) == 2 && v.shape[0] == 1
	if !v.constant() || !row || n != out && n != 1 {
		return nil
	}
	if n == out && len(v.shape) == 1 && beta == 1 {
		return c.data(2)
	}
	k := c.small(2, "C")
	if k == nil || !k.real() {
		c.fail(source.CodeDType, "C holds %s, real numbers are needed", typeName(v))
		return nil
	}
	index := make([]int, out)
	for i := range index {
		index[i] = i % n
	}
	return c.known(scaled(k.pick([]int{out}, index), beta), "bias")
}

// convertMatMul is x*w with a constant w [in, out] or [in].
func convertMatMul(c *call) {
	x, w := c.shape(0), c.shape(1)
	if c.in[0].constant() || !c.in[1].constant() {
		c.fail(source.CodeNotConst, "multiplies %s by %s; the second operand must be constant, and the first must not",
			quote(c.in[0].name), quote(c.in[1].name))
		return
	}
	wide := len(w) // rank of w without leading ones
	for wide > 2 && w[len(w)-wide] == 1 {
		wide--
	}
	if wide > 2 || len(w) == 0 || len(x) == 0 {
		c.fail(source.CodeForm, "multiplies %s by a constant of shape %s; one matrix is supported", ir.ShapeString(x),
			ir.ShapeString(w))
		return
	}
	rows, cols := w[max(0, len(w)-2)], 1
	if len(w) > 1 {
		cols = w[len(w)-1]
	}
	if len(w) != 2 { // another view of the same constant
		v := *c.in[1]
		v.shape, v.node, v.flip = []int{rows, cols}, nil, nil
		if v.known != nil {
			v.known = v.known.reshaped(v.shape)
		}
		c.in[1] = &v
	}
	shape := append([]int(nil), x[:len(x)-1]...)
	for len(w) > 2 && len(shape) < len(w)-1 && len(x) > 1 {
		shape = append([]int{1}, shape...)
	}
	if len(w) > 2 && len(x) == 1 {
		shape = make([]int, len(w)-2)
		for i := range shape {
			shape[i] = 1
		}
	}
	if len(w) > 1 {
		shape = append(shape, cols)
	}
	y := c.emit("", op.Linear, nil, c.data(0), c.matrix(1, true, 1))
	if c.err == nil && ir.ShapeString(y.Type.Shape) != ir.ShapeString(shape) {
		y = c.emit("shape", op.Reshape, &op.ReshapeAttrs{Shape: shape}, y)
	}
	c.result(y)
}
