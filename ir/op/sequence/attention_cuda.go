// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/walk"
)

// attentionCUDA takes queries, keys, values and a result in one float of 16 bits.
func attentionCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	in, out, err := column.FloatWords(n)
	if err != nil {
		return nil, err
	}
	a, q, k := n.Attrs.(*AttentionAttrs), n.Args[0].Type, n.Args[1].Type
	switch {
	case in == word.Float32 || out != in || k.Format != q.Format || n.Args[2].Type.Format != q.Format:
		return nil, cuda.Refuse("the library's attention computes in bf16 or f16 throughout, not with %s, %s, %s and %s",
			q.Format, k.Format, n.Args[2].Type.Format, n.Type.Format)
	case a.Softcap != 0:
		return nil, cuda.Refuse("the library's attention has no softcap")
	case n.Type.Shape[3] != q.Shape[3]:
		return nil, cuda.Refuse("the library's attention has values as long as its keys")
	}
	size := func(s []int, axis int) int64 { return int64(s[axis]) }
	dim := size(q.Shape, 3)
	p := attn.SDPA{Word: in, Batch: size(q.Shape, 0), Heads: size(q.Shape, 1), KVHeads: size(k.Shape, 1),
		Queries: size(q.Shape, 2), Keys: size(k.Shape, 2), Dim: dim, Scale: float32(attentionScale(n)),
		Q: attn.Dense(size(q.Shape, 1), size(q.Shape, 2), dim), K: attn.Dense(size(k.Shape, 1), size(k.Shape, 2), dim)}
	p.O, p.V = p.Q, p.K
	if a.Causal {
		p.Causal = attn.BottomRight
	}
	var u cuda.Unit
	args := attn.Args{Q: u.Add(cuda.Operand{Kind: cuda.Input}), K: u.Add(cuda.Operand{Kind: cuda.Input, Index: 1}),
		V: u.Add(cuda.Operand{Kind: cuda.Input, Index: 2}), Mask: cuda.Null(), Lengths: cuda.Null(), LSE: cuda.Null()}
	if len(n.Args) > 3 {
		o, err := maskCUDA(n, &p)
		if err != nil {
			return nil, err
		}
		args.Mask = u.Add(o)
	}
	args.O = u.Add(cuda.Operand{Kind: cuda.Output})
	return column.CUDAUnit(&u, p, args, t)
}

// maskCUDA is the mask as an operand. The kernel counts batches through all samples.
func maskCUDA(n *ir.Node, p *attn.SDPA) (cuda.Operand, error) {
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
		return cuda.Operand{Kind: cuda.Input, Index: 3}, nil
	}
	v, err := mask.Value()
	if err != nil {
		return cuda.Operand{}, err
	}
	if p.Mask == attn.Keep {
		return cuda.Operand{Kind: cuda.Table, Data: word.U8.Append(nil, v.Codes...)}, nil
	}
	p.Mask = attn.AddF32
	return cuda.Operand{Kind: cuda.Table, Data: hlo.FromFloat32s(mask.Type.Shape, v.Floats).Data}, nil
}
