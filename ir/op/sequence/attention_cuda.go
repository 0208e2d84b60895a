// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/walk"
)

// attentionCUDA takes queries, keys, values and a result in one float of 16 bits, or keys and values in MXINT8 and the
// rest in bf16.
func attentionCUDA(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	n, u := g.Anchor, &cuda.Unit{}
	p, err := attentionProblem(n)
	if err != nil {
		return nil, err
	}
	mask, position := extra(n)
	if position != nil {
		if err := placedCUDA(&p.SDPA, mask, position); err != nil {
			return nil, err
		}
	}
	args := attn.MXINT8Args{KScales: cuda.Null(), VScales: cuda.Null(),
		Args: attn.Args{Mask: cuda.Null(), Lengths: cuda.Null(), LSE: cuda.Null()}}
	r := rows{group: g, unit: u}
	for i, at := range []struct {
		arg, scales *cuda.Arg
		strides     *attn.Strides
	}{{&args.Q, nil, &p.Q}, {&args.K, &args.KScales, &p.K}, {&args.V, &args.VScales, &p.V}} {
		if *at.arg, *at.strides, err = r.source(n.Args[i]); err != nil {
			return nil, err
		}
		if t := n.Args[i].Type; t.InBlocks() {
			*at.scales = u.Add(cuda.Operand{Kind: cuda.InputScales, Index: slices.Index(g.Inputs, n.Args[i])})
			p.Scales = attn.Dense(int64(t.Shape[1]), int64(t.Shape[2]), int64(len(t.BlockLengths())))
		}
	}
	if mask != nil {
		o, err := maskCUDA(g, &p.SDPA)
		if err != nil {
			return nil, err
		}
		args.Mask = u.Add(o)
	}
	if args.O, p.O, err = r.target(n); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(g.Members, func(m *ir.Node) bool { return m != n && !move.Moves(m) }) {
		return nil, cuda.Refuse("the library's attention moves rows, and computes nothing else")
	}
	h := attn.Hopper{SDPA: p.SDPA}
	switch {
	case position != nil && !position.IsConst():
		return decodeCUDA(g, u, p, args, position, t)
	case n.Args[1].Type.InBlocks():
		u, err = column.CUDAUnit(u, p, args, t)
	case t.Hopper && position == nil && h.Worthwhile(t): // caches have rows yet to be written
		return column.CUDAUnit(u, h, args.Args, t)
	default:
		u, err = column.CUDAUnit(u, p.SDPA, args.Args, t)
	}
	if err == nil && position != nil { // keys behind the last query are not there yet
		u.Calls[0].Flops = p.SDPA.Floor().Flops
	}
	return u, err
}

// attentionProblem is n yet without strides.
func attentionProblem(n *ir.Node) (attn.MXINT8, error) {
	fail := func(format string, args ...any) (attn.MXINT8, error) {
		return attn.MXINT8{}, cuda.Refuse("the library's attention "+format, args...)
	}
	in, _, err := column.FloatWords(n)
	if err != nil {
		return attn.MXINT8{}, err
	}
	a, q, k, v := n.Attrs.(*AttentionAttrs), n.Args[0].Type, n.Args[1].Type, n.Args[2].Type
	cached := in == word.BFloat16 && k.Format == format.MXInt8
	switch {
	case in == word.Float32 || n.Type.Format != q.Format || k.Format != q.Format && !cached || v.Format != k.Format:
		return fail("computes in bf16 or f16 throughout, or in bf16 over mxint8, not with %s, %s, %s and %s", q.Format,
			k.Format, v.Format, n.Type.Format)
	case a.Softcap != 0:
		return fail("has no softcap")
	case n.Type.Shape[3] != q.Shape[3]:
		return fail("has values as long as its keys")
	}
	p := attn.SDPA{Word: in, Batch: int64(q.Shape[0]), Heads: int64(q.Shape[1]), KVHeads: int64(k.Shape[1]),
		Queries: int64(q.Shape[2]), Keys: int64(k.Shape[2]), Dim: int64(q.Shape[3]), Scale: float32(attentionScale(n))}
	if a.Causal {
		p.Causal = attn.BottomRight
	}
	return attn.MXINT8{SDPA: p}, nil
}

// placedCUDA is attention at a position: of one query at any, of several at 0, which see no key behind the last.
func placedCUDA(p *attn.SDPA, mask, position *ir.Node) error {
	switch {
	case position.IsConst():
		v, err := position.Value()
		if err != nil || v.Codes[0] != 0 || p.Queries > p.Keys {
			return cuda.Refuse("the library's attention of several queries takes the position 0, with room for them")
		}
		p.Keys, p.Causal = p.Queries, attn.BottomRight
	case mask != nil:
		return cuda.Refuse("the library's attention at a position takes no mask")
	case p.Queries != 1:
		return cuda.Refuse("the library's attention at a position takes one query, not %d", p.Queries)
	}
	return nil
}

// decodeCUDA is attention of one query a head at a position that is an input.
func decodeCUDA(g *ir.Group, u *cuda.Unit, p attn.MXINT8, args attn.MXINT8Args, position *ir.Node, t cuda.Target) (
	*cuda.Unit, error) {
	d := attn.Decode{Word: p.Word, Batch: p.Batch, Heads: p.Heads, KVHeads: p.KVHeads, Keys: p.Keys, Dim: p.Dim,
		Rows: p.Batch, Scale: p.Scale, Q: p.Q, K: p.K, V: p.V, O: p.O, Scales: p.Scales,
		InBlocks: g.Anchor.Args[1].Type.InBlocks()}
	at, err := placeOperand(g, u, position)
	if err != nil {
		return nil, err
	}
	o := attn.DecodeArgs{Q: args.Q, K: args.K, V: args.V, Position: at, O: args.O, Parts: cuda.Null(),
		KScales: args.KScales, VScales: args.VScales}
	if bytes := d.Workspace(); bytes > 0 {
		o.Parts = u.Add(cuda.Operand{Kind: cuda.Scratch, Bytes: bytes})
	}
	if u.Calls, err = d.Calls(o, t); err != nil {
		return nil, cuda.Refused(err)
	}
	return u, nil
}

// rows finds the rows of values in memory.
type rows struct {
	group *ir.Group
	unit  *cuda.Unit
}

// source is where an argument is read.
func (r *rows) source(n *ir.Node) (cuda.Arg, attn.Strides, error) {
	v, ok := move.Source(r.group, n)
	index := slices.Index(r.group.Inputs, v.Base)
	if !ok || index < 0 {
		return cuda.Arg{}, attn.Strides{}, cuda.Refuse("no strides lead to the rows of %s", n.Name)
	}
	arg := r.unit.Add(cuda.Operand{Kind: cuda.Input, Index: index})
	arg.Offset = int64(v.Offset) * 2
	if v.Base.Type.Format == format.FP32 {
		arg.Offset *= 2
	}
	s, err := rowsOf(v, n)
	if err == nil && v.Offset%8 != 0 {
		err = cuda.Refuse("the rows of %s start at element %d of %s, no multiple of 16 bytes", n.Name, v.Offset, v.Base.Name)
	}
	return arg, s, err
}

// target is where the result is written.
func (r *rows) target(n *ir.Node) (cuda.Arg, attn.Strides, error) {
	v, ok := move.Target(r.group, n)
	index := slices.Index(r.group.Outputs, v.Base)
	if !ok || len(r.group.Outputs) != 1 {
		return cuda.Arg{}, attn.Strides{}, cuda.Refuse("no strides lead from the rows of %s to what is read of them", n.Name)
	}
	s, err := rowsOf(v, n)
	return r.unit.Add(cuda.Operand{Kind: cuda.Output, Index: index}), s, err
}

// rowsOf are the strides of n, of four axes, in a view of it. Samples follow each other as batches do.
func rowsOf(v move.View, n *ir.Node) (attn.Strides, error) {
	s, elems := v.Strides, v.Base.Type.Elems()
	if s[3] != 1 && v.Shape[3] > 1 {
		return attn.Strides{}, cuda.Refuse("the elements of a row of %s do not follow each other", n.Name)
	}
	if v.Shape[0] > 1 && s[0]*v.Shape[0] != elems {
		return attn.Strides{}, cuda.Refuse("the batches of %s are not parts of %s", n.Name, v.Base.Name)
	}
	return attn.Strides{Batch: int64(elems / v.Shape[0]), Head: int64(s[1]), Row: int64(s[2])}, nil
}

// maskCUDA is the mask as an operand. The kernel counts batches through all samples.
func maskCUDA(g *ir.Group, p *attn.SDPA) (cuda.Operand, error) {
	n := g.Anchor
	mask := n.Args[3]
	shape := append([]int{1, 1, 1, 1}[:4-len(mask.Type.Shape)], mask.Type.Shape...)
	stride := func(axis int) int64 {
		if shape[axis] == 1 {
			return 0
		}
		return int64(walk.Size(shape[axis+1:]))
	}
	p.MaskStrides = attn.Strides{Batch: stride(0), Head: stride(1), Row: stride(2)}
	switch {
	case int64(shape[3]) != p.Keys:
		return cuda.Operand{}, cuda.Refuse("the library's attention takes a mask of an element for each key, not %s",
			ir.ShapeString(mask.Type.Shape))
	case mask.IsConst() && shape[0] > 1, !mask.IsConst() && shape[0] == 1 && p.Batch > 1:
		return cuda.Operand{}, cuda.Refuse(
			"the library's attention takes a mask for each batch of each sample, or one for all")
	}
	if !mask.IsConst() {
		p.MaskStrides.Batch = int64(walk.Size(shape[1:]))
	}
	switch mask.Type.Format {
	case ir.Bool:
		p.Mask = attn.Keep
	case format.FP32:
		p.Mask = attn.AddF32
	case n.Args[0].Type.Format:
		p.Mask = attn.AddWord
	default:
		return cuda.Operand{}, cuda.Refuse("the library's attention of %s takes no mask in %s", n.Args[0].Type.Format,
			mask.Type.Format)
	}
	if !mask.IsConst() {
		if index := slices.Index(g.Inputs, mask); index >= 0 {
			return cuda.Operand{Kind: cuda.Input, Index: index}, nil
		}
		return cuda.Operand{}, cuda.Refuse("the library's attention computes no mask")
	}
	v, err := mask.Value()
	if err != nil {
		return cuda.Operand{}, err
	}
	if p.Mask == attn.Keep {
		return cuda.Operand{Kind: cuda.Table, Data: func() []byte { return word.U8.Append(nil, v.Codes...) }}, nil
	}
	p.Mask = attn.AddF32
	return cuda.Operand{Kind: cuda.Table, Data: func() []byte {
		return hlo.FromFloat32s(mask.Type.Shape, v.Floats).Data
	}}, nil
}
