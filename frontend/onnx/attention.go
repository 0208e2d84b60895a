// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// heads cuts [B,T,H*D] into [B,H,T,D]; values of four axes stay.
func (c *call) heads(role string, x *ir.Node, heads int64) *ir.Node {
	if c.err != nil {
		return nil
	}
	s := x.Type.Shape
	switch {
	case len(s) == 4:
		return x
	case len(s) != 3 || heads < 1 || int64(s[2])%heads != 0:
		c.fail(diag.OperandShapes, "%s of shape %s do not consist of %d heads", role, ir.ShapeString(s), heads)
		return nil
	}
	cut := c.reshape(role+"_cut", x, []int{s[0], s[1], int(heads), s[2] / int(heads)})
	return c.emit(role, move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, cut)
}

// convertAttention: queries, keys, values, mask, past keys, past values, lengths of keys. Present keys and values, and
// the scores, are further results.
func convertAttention(c *call) {
	flat := len(c.shape(0)) == 3
	q := c.heads("queries", c.data(0), c.int("q_num_heads", 0))
	k := c.heads("keys", c.data(1), c.int("kv_num_heads", 0))
	v := c.heads("values", c.data(2), c.int("kv_num_heads", 0))
	past := 0
	if c.has(4) && c.has(5) && c.err == nil {
		join := &move.ConcatAttrs{Axis: 2}
		past = c.shape(4)[min(2, len(c.shape(4))-1)]
		k, v = c.emit("all_keys", move.Concat, join, c.data(4), k), c.emit("all_values", move.Concat, join, c.data(5), v)
	}
	if c.err != nil {
		return
	}
	c.resultAt(1, k)
	c.resultAt(2, v)
	a := &sequence.AttentionAttrs{Scale: c.finite("scale", 0), Causal: c.int("is_causal", 0) != 0,
		Softcap: c.finite("softcap", 0)}
	mask := c.mask(a, q.Type.Shape, k.Type.Shape, past)
	if c.wants(3) {
		c.scores(a, q, k, mask)
	}
	args := []*ir.Node{q, k, v}
	if mask != nil {
		args = append(args, mask)
	}
	if !flat {
		c.result(c.emit("", sequence.Attention, a, args...))
		return
	}
	y := c.emit("heads", sequence.Attention, a, args...)
	if c.err != nil {
		return
	}
	s := y.Type.Shape
	y = c.emit("turned", move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
	c.result(c.reshape("", y, []int{s[0], s[2], s[1] * s[3]}))
}

// mask is the mask of the scores [B,H,T,S]. It covers all keys, and holds the order of time where the rule of the
// operation, by which the last query sees all keys, is another one.
func (c *call) mask(a *sequence.AttentionAttrs, q, k []int, past int) *ir.Node {
	if len(q) != 4 || len(k) != 4 {
		c.fail(diag.OperandShapes, "queries %s and keys %s have not four axes", ir.ShapeString(q), ir.ShapeString(k))
		return nil
	}
	var mask *ir.Node
	if c.has(3) {
		mask = c.arg(3)
		if s := c.shape(3); c.err == nil && len(s) > 0 && s[len(s)-1] < k[2] && s[len(s)-1] > 1 {
			mask = c.longer(mask, k[2])
		}
	}
	if a.Causal && c.has(6) && !c.has(4) { // the last query stands at the last key that there is
		a.Causal = false
		return c.windowed(c.both(c.both(mask, c.upTo(q[2], k[2])), c.within(k[2])), q[2], k[2], past)
	}
	if a.Causal && q[2]+past != k[2] {
		a.Causal = false
		mask = c.both(mask, c.allowed("order", q[2], k[2], func(i, j int) bool { return j <= i+past }))
	}
	if c.has(6) {
		mask = c.both(mask, c.within(k[2]))
	}
	return c.windowed(mask, q[2], k[2], past)
}

// windowed hides the keys that lie too far to the left or right of a query; -1 bounds nothing. Query i stands at i +
// past.
func (c *call) windowed(mask *ir.Node, queries, keys, past int) *ir.Node {
	left, right := c.int("left_window_size", -1), c.int("right_window_size", -1)
	switch {
	case c.err != nil || left < 0 && right < 0:
		return mask
	case c.has(6) && !c.has(4):
		c.fail(diag.UnsupportedForm, "windows at places that lengths of keys choose are not supported").
			WithHint("bind the lengths, or leave nonpad_kv_seqlen out")
		return nil
	}
	return c.both(mask, c.allowed("window", queries, keys, func(i, j int) bool {
		at := int64(i + past)
		return (left < 0 || int64(j) >= at-left) && (right < 0 || int64(j) <= at+right)
	}))
}

// longer hides the keys behind those that a mask speaks of.
func (c *call) longer(mask *ir.Node, keys int) *ir.Node {
	if c.err != nil {
		return nil
	}
	axis := len(mask.Type.Shape) - 1
	a := &move.PadAttrs{Axis: axis, After: keys - mask.Type.Shape[axis]}
	if mask.Type.IsFloat() {
		a.Value = float32(math.Inf(-1))
	}
	return c.emit("longer", move.Pad, a, mask)
}

// allowed is a constant mask [rows, columns] of truth values.
func (c *call) allowed(role string, rows, columns int, see func(i, j int) bool) *ir.Node {
	if rows*columns > maxMade {
		c.fail(diag.ModelLimit, "a mask of %d by %d is too large, the limit is %d elements", rows, columns, maxMade)
		return nil
	}
	v := make([]int64, rows*columns)
	for i := range v {
		if see(i/columns, i%columns) {
			v[i] = 1
		}
	}
	return c.made(role, build.IntBlob(ir.B1, v), []int{rows, columns})
}

// within is a mask of the keys below the lengths of input 6, [B,1,1,S].
func (c *call) within(keys int) *ir.Node {
	n := c.converted("lengths64", c.arg(6), ir.I64)
	if c.err != nil {
		return nil
	}
	n = c.reshape("lengths", n, []int{n.Type.Elems(), 1, 1, 1})
	return c.emit("within", whole.Compare, &whole.CompareAttrs{Rel: "gt"}, n, c.iota("keys_at", []int{keys}))
}

// upTo is a mask of the keys j <= i + length - queries, for the lengths of input 6, [B,1,T,S].
func (c *call) upTo(queries, keys int) *ir.Node {
	if queries*keys > maxMade {
		c.fail(diag.ModelLimit, "a mask of %d by %d is too large, the limit is %d elements", queries, keys, maxMade)
		return nil
	}
	v := make([]int64, queries*keys)
	for i := range v {
		v[i] = int64(i%keys - i/keys + queries)
	}
	n := c.converted("lengths64", c.arg(6), ir.I64)
	if c.err != nil {
		return nil
	}
	n = c.reshape("lengths", n, []int{n.Type.Elems(), 1, 1, 1})
	return c.emit("up_to", whole.Compare, &whole.CompareAttrs{Rel: "ge"}, n,
		c.whole64("distances", []int{queries, keys}, v...))
}

// both is a mask that hides what either hides; the second holds truth values, the first may be nil.
func (c *call) both(a, b *ir.Node) *ir.Node {
	switch {
	case c.err != nil || a == nil:
		return b
	case a.Type.IsFloat():
		return c.emit("masks", whole.Where, nil, b, a, c.number(float32(math.Inf(-1)), "hidden"))
	}
	return c.emit("masks", whole.And, nil, a, b)
}

// scores makes result 3: products of queries and keys, with the cap, with the mask, or behind softmax, by the mode.
func (c *call) scores(a *sequence.AttentionAttrs, q, k, mask *ir.Node) {
	mode := c.int("qk_matmul_output_mode", 0)
	if heads, groups := q.Type.Shape[1], k.Type.Shape[1]; heads != groups && groups > 0 && heads%groups == 0 {
		s := k.Type.Shape
		k = c.reshape("grouped", k, []int{s[0], groups, 1, s[2], s[3]})
		k = c.repeat("repeated", k, []int{s[0], groups, heads / groups, s[2], s[3]})
		k = c.reshape("per_head", k, []int{s[0], heads, s[2], s[3]})
	}
	scale := a.Scale
	if scale == 0 {
		scale = float32(1 / math.Sqrt(float64(q.Type.Shape[3])))
	}
	k = c.emit("turned_keys", move.Transpose, &move.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, k)
	y := c.emit("scores", pointwise.Mul, nil, c.emit("products", sum.MatMul, nil, q, k), c.number(scale, "scale"))
	if c.err != nil {
		return
	}
	capped := func() {
		if a.Softcap != 0 {
			y = c.emit("steps", pointwise.Mul, nil, y, c.number(1/a.Softcap, "inverse_cap"))
			y = c.emit("capped", pointwise.Mul, nil, c.emit("tanh", curve.Tanh, nil, y), c.number(a.Softcap, "cap"))
		}
	}
	masked := func() {
		if a.Causal {
			t, s := y.Type.Shape[2], y.Type.Shape[3]
			mask = c.both(mask, c.allowed("order", t, s, func(i, j int) bool { return j <= i+s-t }))
		}
		switch {
		case mask == nil || c.err != nil:
		case mask.Type.IsFloat():
			y = c.emit("masked", pointwise.Add, nil, y, mask)
		default:
			y = c.emit("masked", whole.Where, nil, mask, y, c.number(float32(math.Inf(-1)), "hidden_score"))
		}
	}
	switch mode {
	case 0:
	case 1:
		capped()
	case 2:
		capped()
		masked()
	case 3:
		capped()
		masked()
		y = c.emit("weights", norm.Softmax, &column.AxisAttrs{Axis: 3}, y)
	default:
		c.fail(diag.BadAttribute, "qk_matmul_output_mode is %d; 0 to 3 are known", mode)
	}
	c.resultAt(3, y)
}

// convertRotary: x [B,H,T,D] or [B,T,H*D], tables of cosines and sines, and where these hold all positions, those of x.
func convertRotary(c *call) {
	flat := len(c.shape(0)) == 3
	x := c.heads("heads", c.data(0), c.int("num_heads", 0))
	cos, sin := c.data(1), c.data(2)
	if c.has(3) {
		at := c.arg(3)
		cos = c.emit("cos", whole.Gather, &column.AxisAttrs{Axis: 0}, cos, at)
		sin = c.emit("sin", whole.Gather, &column.AxisAttrs{Axis: 0}, sin, at)
	}
	dim := c.int("rotary_embedding_dim", 0)
	if dim < 0 || dim > maxAttr {
		c.fail(diag.BadAttribute, "rotary_embedding_dim is %d", dim)
	}
	a := &sequence.RotaryAttrs{Interleaved: c.int("interleaved", 0) != 0, Dim: int(dim)}
	if !flat {
		c.result(c.emit("", sequence.Rotary, a, x, cos, sin))
		return
	}
	y := c.emit("turned", sequence.Rotary, a, x, cos, sin)
	if c.err != nil {
		return
	}
	s := y.Type.Shape
	y = c.emit("rows", move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
	c.result(c.reshape("", y, []int{s[0], s[2], s[1] * s[3]}))
}
