// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// matrices lists products, norms over the last axes and attention.
func matrices() []row {
	return []row{
		{"matmul.default", "self other", convertMatMul},
		{"bmm.default mm.default", "self mat2", convertMatMul},
		{"baddbmm.default", "self batch1 batch2 beta alpha", convertBaddbmm},
		{"layer_norm.default", "input normalized_shape weight bias eps cudnn_enable", convertLayerNorm},
		{"native_layer_norm.default", "input normalized_shape weight bias eps", convertLayerNorm},
		{"rms_norm.default", "input normalized_shape weight eps", convertRMSNorm},
		{"group_norm.default", "input num_groups weight bias eps cudnn_enabled", convertGroupNorm},
		{"native_group_norm.default", "input weight bias N C HxW group eps", convertGroupNorm},
		{"scaled_dot_product_attention.default", "query key value attn_mask dropout_p is_causal scale enable_gqa",
			convertAttention},
		{"_scaled_dot_product_flash_attention_for_cpu.default",
			"query key value dropout_p is_causal attn_mask scale", convertAttention},
	}
}

// convertMatMul is a product of matrices, with numpy's rules for vectors and batches. A constant matrix behind makes it
// a linear operation.
func convertMatMul(c *call) {
	second := "other"
	if c.has("mat2") {
		second = "mat2"
	}
	a, b := c.tensor("self"), c.tensor(second)
	if c.err == nil && (len(a.Type.Shape) == 0 || len(b.Type.Shape) == 0) {
		c.fail(diag.OperandShapes, "multiplies %s and %s", ir.ShapeString(a.Type.Shape), ir.ShapeString(b.Type.Shape))
	}
	c.result(c.product("", a, b))
}

// product multiplies; vectors get an axis that the result loses again.
func (c *call) product(suffix string, a, b *ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	sa, sb := a.Type.Shape, b.Type.Shape
	if c.constant(b) && len(sb) == 2 && !c.constant(a) {
		return c.linear(suffix, a, c.flipped(b), nil)
	}
	row, column := len(sa) == 1, len(sb) == 1
	if row {
		a = c.reshape("row", a, []int{1, sa[0]})
	}
	if column {
		b = c.reshape("column", b, []int{sb[0], 1})
	}
	y := c.emit(suffix, sum.MatMul, nil, a, b)
	if c.err != nil || !row && !column {
		return y
	}
	shape := slices.Clone(y.Type.Shape)
	if column {
		shape = shape[:len(shape)-1]
	}
	if row {
		shape = without(shape, len(y.Type.Shape)-2)
	}
	return c.reshape("vector", y, shape)
}

// flipped is the transpose of a constant matrix. Where that is a weight which the program transposed before, it is the
// weight itself.
func (c *call) flipped(w *ir.Node) *ir.Node {
	if from := c.turned[w]; from != nil {
		return from
	}
	n := c.turn("transpose", w, []int{1, 0})
	if c.err == nil {
		c.turned[n] = w
	}
	return n
}

// convertBaddbmm is beta*self + alpha*batch1*batch2.
func convertBaddbmm(c *call) {
	x, y := c.tensor("self"), c.product("product", c.tensor("batch1"), c.tensor("batch2"))
	if alpha := c.float("alpha", 1); alpha != 1 {
		y = c.emit("alpha", pointwise.Mul, nil, y, c.constantOf(number{kind: 'f', f: alpha}, ir.F32, "factor"))
	}
	switch beta := c.float("beta", 1); beta {
	case 0:
		c.result(y)
		return
	case 1:
	default:
		x = c.emit("beta", pointwise.Mul, nil, x, c.constantOf(number{kind: 'f', f: beta}, ir.F32, "factor"))
	}
	c.result(c.emit("", pointwise.Add, nil, y, x))
}

// normed reads the input of a norm and the first axis that it is over.
func (c *call) normed() (x *ir.Node, axis int) {
	x = c.tensor("input")
	over := c.ints("normalized_shape")
	if c.err != nil {
		return nil, 0
	}
	axis = len(x.Type.Shape) - len(over)
	if axis < 0 || len(over) == 0 || !slices.Equal(x.Type.Shape[axis:], over) {
		c.fail(diag.OperandShapes, "normalizes %v, which are not the last axes of %s", over, ir.ShapeString(x.Type.Shape))
	}
	return x, axis
}

// affine lists the scale and the bias of a norm that there are; a bias alone gets a scale of ones.
func (c *call) affine(x *ir.Node, shape []int) []*ir.Node {
	scale, bias := c.maybe("weight"), c.maybe("bias")
	args := []*ir.Node{x}
	if scale == nil && bias != nil {
		scale = c.filled("ones", 1, shape)
	}
	if scale != nil {
		args = append(args, scale)
	}
	if bias != nil {
		args = append(args, bias)
	}
	return args
}

func convertLayerNorm(c *call) {
	x, axis := c.normed()
	if c.err != nil {
		return
	}
	a := &norm.Attrs{Axis: axis, Eps: float32(c.float("eps", 1e-5))}
	c.result(c.emit("", norm.LayerNorm, a, c.affine(x, x.Type.Shape[axis:])...))
}

// convertRMSNorm: without eps it is the distance of 1 to the next float32.
func convertRMSNorm(c *call) {
	x, axis := c.normed()
	a := &norm.Attrs{Axis: axis, Eps: float32(c.float("eps", 1.1920928955078125e-07))}
	if w := c.maybe("weight"); w != nil {
		c.result(c.emit("", norm.RMSNorm, a, x, w))
		return
	}
	c.result(c.emit("", norm.RMSNorm, a, x))
}

func convertGroupNorm(c *call) {
	x := c.tensor("input")
	groups := c.int("num_groups", c.int("group", 1))
	if shape := c.shape(x); c.err == nil && (len(shape) < 2 || groups < 1 || groups > int64(shape[1])) {
		c.fail(diag.OperandShapes, "cuts the channels of %s into %d groups", ir.ShapeString(shape), groups)
	}
	if c.err != nil {
		return
	}
	a := &norm.GroupNormAttrs{Groups: int(groups), Eps: float32(c.float("eps", 1e-5))}
	args := c.affine(x, x.Type.Shape[1:2])
	for len(args) < 3 {
		args = append(args, c.filled([]string{"", "ones", "zeros"}[len(args)], float32(2-len(args)), x.Type.Shape[1:2]))
	}
	c.result(c.emit("", norm.GroupNorm, a, args...))
}

// convertAttention: inputs of other ranks than 4 get their leading axes merged, or new ones. With as many queries as
// keys, causal means the same here and in the graph; else it is a mask that lets query i see keys 0 to i.
func convertAttention(c *call) {
	q, k, v := c.tensor("query"), c.tensor("key"), c.tensor("value")
	mask := c.maybe("attn_mask")
	if c.float("dropout_p", 0) != 0 {
		c.fail(diag.UnsupportedForm, "drops out with p = %g", c.float("dropout_p", 0)).
			WithHint("call model.eval() before torch.export")
	}
	if c.err != nil {
		return
	}
	shape := q.Type.Shape
	if rank := len(shape); rank < 2 || len(k.Type.Shape) != rank || len(v.Type.Shape) != rank {
		c.fail(diag.OperandShapes, "takes queries %s, keys %s and values %s", ir.ShapeString(shape),
			ir.ShapeString(k.Type.Shape), ir.ShapeString(v.Type.Shape))
		return
	}
	a := &sequence.AttentionAttrs{Causal: c.bool("is_causal", false)}
	if c.has("scale") {
		if a.Scale = float32(c.float("scale", 0)); a.Scale == 0 {
			c.fail(diag.UnsupportedForm, "scale is 0, which is not supported")
		}
	}
	if !c.bool("enable_gqa", false) && len(shape) > 2 && !slices.Equal(shape[:len(shape)-2],
		k.Type.Shape[:len(shape)-2]) {
		c.fail(diag.OperandShapes, "has queries %s and keys %s, without enable_gqa", ir.ShapeString(shape),
			ir.ShapeString(k.Type.Shape))
	}
	t, s := shape[len(shape)-2], k.Type.Shape[len(shape)-2]
	if a.Causal && t != s && c.err == nil {
		a.Causal, mask = false, c.lower(t, s)
	}
	args := []*ir.Node{c.heads("query", q), c.heads("key", k), c.heads("value", v)}
	if mask != nil {
		args = append(args, c.headMask(mask, len(shape), shape))
	}
	y := c.emit("", sequence.Attention, a, args...)
	if c.err == nil && len(shape) != 4 {
		y = c.reshape("shape", y, append(slices.Clone(shape[:len(shape)-1]), v.Type.Shape[len(shape)-1]))
	}
	c.result(y)
}

// heads gives queries, keys or values four axes.
func (c *call) heads(part string, x *ir.Node) *ir.Node {
	shape := c.shape(x)
	if n := len(shape); n > 4 {
		return c.reshape(part, x, append([]int{elems(shape[:n-3])}, shape[n-3:]...))
	}
	return c.reshape(part, x, append(slices.Repeat([]int{1}, max(4-len(shape), 0)), shape...))
}

// headMask gives a mask the axes that heads gives the scores; one that differs along merged axes is spread first.
func (c *call) headMask(m *ir.Node, rank int, q []int) *ir.Node {
	if c.err != nil || rank <= 4 {
		return m
	}
	shape := c.shape(m)
	if len(shape) < 4 {
		return m
	}
	full := append(append([]int(nil), q[:rank-3]...), shape[len(shape)-3:]...)
	return c.heads("mask", c.broadcast("mask.spread", m, full))
}

// lower is the mask of truth values [t,s] that keeps what stands on and below the diagonal.
func (c *call) lower(t, s int) *ir.Node {
	if t*s > 1<<24 {
		c.fail(diag.ModelLimit, "needs a mask of %d elements", t*s)
		return nil
	}
	keep := make([]int64, t*s)
	for i := range t {
		for j := range min(i+1, s) {
			keep[i*s+j] = 1
		}
	}
	n, err := c.b.Const(c.place.Name+".causal", build.IntBlob(ir.B1, keep), []int{t, s})
	c.wrap(err)
	return n
}
