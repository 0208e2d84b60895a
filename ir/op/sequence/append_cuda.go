// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
)

// appending is a group of append operations, as one kernel: one or two caches, with the rotation of queries and keys
// in front.
type appending struct {
	rows
	turned       *ir.Node      // the rotation, nil for none
	keys, values *ir.Node      // what is appended: keys turned, if anything is
	format       format.Format // of rows: that of caches, or bf16 for blocks
	p            attn.RopeAppend
	args         attn.RopeAppendArgs
}

// appendCUDA writes rows where the caches lie.
func appendCUDA(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	a := &appending{rows: rows{group: g, unit: &cuda.Unit{InPlace: map[int]int{}}}}
	a.args = attn.RopeAppendArgs{X: cuda.Null(), V: cuda.Null(), Cos: cuda.Null(), Sin: cuda.Null(),
		Position: cuda.Null(), Q: cuda.Null(), KCache: cuda.Null(), KScales: cuda.Null(), VCache: cuda.Null(),
		VScales: cuda.Null()}
	if err := a.members(); err != nil {
		return nil, err
	}
	cache, rows := g.Anchor.Type.Shape, g.Anchor.Type
	if rows.Format == format.MXInt8 {
		rows.Format = format.BF16
	}
	word, err := column.FloatWord(g.Anchor, rows)
	if err != nil {
		return nil, err
	}
	a.format = rows.Format
	a.p = attn.RopeAppend{Word: word, Turns: a.turned != nil, Batch: int64(cache[0]), Rows: int64(cache[0]),
		Tokens: int64(g.Anchor.Args[1].Type.Shape[2]), KVHeads: int64(cache[1]), Room: int64(cache[2]),
		Dim: int64(cache[3]), InBlocks: g.Anchor.Type.InBlocks()}
	for _, step := range []func() error{a.turn, a.caches, a.position} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if len(g.Outputs) != len(a.unit.InPlace)+min(1, int(a.p.Heads)) {
		return nil, cuda.Refuse("the library's append gives caches and queries alone")
	}
	return column.CUDAUnit(a.unit, a.p, a.args, t)
}

// members finds the parts of the group.
func (a *appending) members() error {
	var caches []*ir.Node
	for _, n := range a.group.Members {
		switch {
		case n.Op == a.group.Anchor.Op:
			caches = append(caches, n)
		case ByPosition(n.Op) && a.turned == nil:
			a.turned = n
		case move.Moves(n):
		default:
			return cuda.Refuse("the library's append computes no %s", n.Op.Name)
		}
	}
	if len(caches) > 2 || len(caches) == 2 && !slices.Equal(caches[0].Type.Shape, caches[1].Type.Shape) {
		return cuda.Refuse("the library's append takes one or two caches of one shape")
	}
	for _, n := range caches {
		if n.Args[2] != caches[0].Args[2] || n.Args[1].Type.Shape[2] != caches[0].Args[1].Type.Shape[2] ||
			n.Type.Format != caches[0].Type.Format {
			return cuda.Refuse("the library's append takes caches of one format, and one position")
		}
		switch {
		case a.keys == nil && (a.turned == nil || a.reads(n.Args[1], a.turned)):
			a.keys = n
		case a.values == nil:
			a.values = n
		default:
			return cuda.Refuse("the library's append takes one cache of keys")
		}
	}
	if a.keys == nil {
		return cuda.Refuse("the library's append turns keys")
	}
	return nil
}

// reads says that moves lead from one value to another.
func (a *appending) reads(n, from *ir.Node) bool {
	for n != from && move.Moves(n) && slices.Contains(a.group.Members, n) {
		n = n.Args[0]
	}
	return n == from
}

// turn finds queries and keys in front of a rotation, and its angles.
func (a *appending) turn() (err error) {
	source := a.keys.Args[1]
	if a.turned != nil {
		attrs := a.turned.Attrs.(*RotaryAttrs)
		a.p.Unrounded = a.turned.Type.Format == format.FP32
		if attrs.Interleaved || rotated(a.turned) != a.turned.Type.Shape[3] || len(a.turned.Args) != 4 ||
			a.turned.Args[3] != a.keys.Args[2] || a.turned.Args[1].Type.Shape[0] != int(a.p.Room) ||
			a.turned.Type.Format != a.format && !a.p.Unrounded {
			return cuda.Refuse("the library's append turns all elements of a row, i with i + D/2, at the position of the keys")
		}
		source = a.turned.Args[0]
		for i, arg := range []*cuda.Arg{&a.args.Cos, &a.args.Sin} {
			table := a.turned.Args[1+i]
			if !table.IsConst() || table.Type.Format != format.FP32 {
				return cuda.Refuse("the library's append takes angles that are constant")
			}
			v, err := table.Value()
			if err != nil {
				return err
			}
			*arg = a.unit.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte {
				return hlo.FromFloat32s(table.Type.Shape, v.Floats).Data
			}})
		}
		if err := a.split(); err != nil {
			return err
		}
	}
	if err := a.reading(source); err != nil {
		return err
	}
	a.args.X, a.p.X, err = a.source(source)
	return err
}

// split demands that the heads of the rotation are queries that leave, and behind them keys.
func (a *appending) split() error {
	heads, keys := a.turned.Type.Shape[1], a.keys.Args[1]
	if keys == a.turned {
		return nil
	}
	first, ok := keys.Attrs.(*move.SliceAttrs)
	queries := heads - int(a.p.KVHeads)
	if !ok || keys.Args[0] != a.turned || first.Axis != 1 || first.Step != 1 || first.Start != queries {
		return cuda.Refuse("the library's append takes the last heads of a rotation as keys")
	}
	for i, n := range a.group.Outputs {
		s, ok := n.Attrs.(*move.SliceAttrs)
		if !ok || n.Args[0] != a.turned || n == keys {
			continue
		}
		if s.Axis != 1 || s.Start != 0 || s.Step != 1 || s.Count != queries {
			return cuda.Refuse("the library's append takes the first heads of a rotation as queries")
		}
		size := int64(n.Type.Shape[2] * n.Type.Shape[3])
		a.p.Heads, a.p.Q = int64(queries), attn.Strides{Batch: int64(queries) * size, Head: size, Row: a.p.Dim}
		a.args.Q = a.unit.Add(cuda.Operand{Kind: cuda.Output, Index: i})
	}
	if a.p.Heads == 0 {
		return cuda.Refuse("the library's append gives the queries of a rotation")
	}
	return nil
}

// caches finds where keys and values go, and where values come from.
func (a *appending) caches() (err error) {
	for _, c := range []struct {
		node        *ir.Node
		arg, scales *cuda.Arg
	}{{a.keys, &a.args.KCache, &a.args.KScales}, {a.values, &a.args.VCache, &a.args.VScales}} {
		if c.node == nil {
			continue
		}
		in, out := slices.Index(a.group.Inputs, c.node.Args[0]), slices.Index(a.group.Outputs, c.node)
		if in < 0 || out < 0 || c.node.Args[0].Type.Format != c.node.Type.Format {
			return cuda.Refuse("the library's append changes caches that come from outside")
		}
		a.unit.InPlace[out] = in
		*c.arg = a.unit.Add(cuda.Operand{Kind: cuda.Output, Index: out})
		if a.p.InBlocks {
			*c.scales = a.unit.Add(cuda.Operand{Kind: cuda.OutputScales, Index: out})
		}
	}
	if a.values == nil {
		return nil
	}
	if err := a.reading(a.values.Args[1]); err != nil {
		return err
	}
	a.p.Copied = a.p.KVHeads
	a.args.V, a.p.V, err = a.source(a.values.Args[1])
	return err
}

// reading demands rows in the format that the kernel reads.
func (a *appending) reading(n *ir.Node) error {
	if n.Type.Format == a.format {
		return nil
	}
	return cuda.Refuse("the library's append reads %s for a cache in %s, not %s", a.format, a.keys.Type.Format,
		n.Type.Format)
}

// position finds where the position is read; that of constants must be 0.
func (a *appending) position() error {
	arg, err := placeOperand(a.group, a.unit, a.keys.Args[2])
	a.args.Position = arg
	return err
}

// placeOperand is a position that a kernel reads as an i32; null for a constant 0.
func placeOperand(g *ir.Group, u *cuda.Unit, n *ir.Node) (cuda.Arg, error) {
	if n.IsConst() {
		v, err := n.Value()
		if err != nil || v.Codes[0] > 0 {
			return cuda.Null(), cuda.Refuse("the library takes positions that are inputs, or 0")
		}
		return cuda.Null(), nil
	}
	index := slices.Index(g.Inputs, n)
	if index < 0 || n.Type.Format != ir.Int32 {
		return cuda.Null(), cuda.Refuse("the library takes positions of 32 bits")
	}
	return u.Add(cuda.Operand{Kind: cuda.Input, Index: index}), nil
}
