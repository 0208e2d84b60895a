// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
)

// round is a step that is taken again and again: parts make next of a row and of the state before.
type round struct {
	row    *ir.Node
	before state // c is nil where next has none
	parts  []*ir.Node
	next   state
	shown  *ir.Node // the row of results
	first  []*ir.Tensor
}

// round prepares a step of n.
func (k *kind) round(n *ir.Node) (*round, error) {
	s, err := k.begin(n)
	if err != nil {
		return nil, err
	}
	row := func(name string, like ir.Type, size int) *ir.Node {
		return draw.Input(name, ir.Type{Shape: []int{size}, Format: like.Format})
	}
	x := n.Args[0].Type
	r := &round{row: row("x", x, x.Shape[1]), before: state{h: row("h", n.Type, hidden(n))}}
	if k.cell {
		r.before.c = row("c", n.Type, hidden(n))
	}
	if s.plan != nil {
		r.before.h.Type.Format = s.plan.h
	}
	if s.plan != nil && k.cell {
		r.before.c.Type.Format = s.plan.cell
	}
	r.next = k.next(s, r.row, r.before)
	r.shown = s.shown(r.next)
	r.parts = s.Parts
	if s.Err != nil {
		return nil, s.Err
	}
	first := k.start(s)
	for i, b := range r.before.nodes() {
		if r.first = append(r.first, ir.NewTensor(b.Type)); first[i] != nil {
			r.first[i] = first[i]
		}
	}
	return r, s.Err
}

// start is the state before the first row, h and c, in their formats; nil for zeros.
func (k *kind) start(s *step) (first [2]*ir.Tensor) {
	for i, a := range s.Of.Args[min(k.first, len(s.Of.Args)):] {
		v, err := a.Value()
		if err != nil {
			s.Err = err
			return first
		}
		first[i] = v
	}
	if first[0] == nil {
		return first
	}
	if k == gru {
		first[1] = first[0]
	}
	if s.plan != nil {
		if first[1] != nil {
			first[1] = rounded(first[1], s.plan.cell)
		}
		if k == gru {
			first[0] = first[1]
		}
		first[0] = rounded(first[0], s.plan.h)
	}
	return first
}

// rounded is t in another format.
func rounded(t *ir.Tensor, f format.Fixed) *ir.Tensor {
	out := ir.NewTensor(ir.Type{Shape: t.Type.Shape, Format: f})
	for i, c := range t.Codes {
		out.Codes[i] = f.Encode(t.Type.Format.Decode(c))
	}
	return out
}

// constants are the state before the first row as nodes; nil for zeros.
func (k *kind) constants(s *step) state {
	var at [2]*ir.Node
	for i, v := range k.start(s) {
		if v == nil || i > 0 && !k.cell {
			continue
		}
		data := ir.CodeBlob(v.Codes)
		if v.Type.IsFloat() {
			data = ir.FloatBlob(v.Floats)
		}
		at[i] = s.Const([]string{"h_before", "c_before"}[i], v.Type, data)
	}
	return state{at[0], at[1]}
}

// read are the nodes that parts read, made those that the next round does.
func (r *round) read() []*ir.Node { return append([]*ir.Node{r.row}, r.before.nodes()...) }
func (r *round) made() []*ir.Node { return r.next.nodes()[:len(r.before.nodes())] }

func (s state) nodes() []*ir.Node {
	if s.c == nil {
		return []*ir.Node{s.h}
	}
	return []*ir.Node{s.h, s.c}
}

// eval takes a step for each row.
func (k *kind) eval(n *ir.Node) (ir.Kernel, error) {
	r, err := k.round(n)
	if err != nil {
		return nil, err
	}
	kernel, err := composite.Kernels(r.read(), r.parts)
	if err != nil {
		return nil, err
	}
	size := n.Type.Shape[1]
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y, now := ir.NewTensor(n.Type), slices.Clone(r.first)
		for t := range n.Type.Shape[0] {
			values, err := kernel(append([]*ir.Tensor{rowOf(args[0], r.row.Type, t)}, now...))
			if err != nil {
				return nil, err
			}
			for i, m := range r.made() {
				now[i] = values[slices.Index(r.parts, m)]
			}
			column.CopyRun(y, t*size, values[slices.Index(r.parts, r.shown)], 0, size)
		}
		return y, nil
	}, nil
}

// rowOf is row t of a matrix.
func rowOf(m *ir.Tensor, typ ir.Type, t int) *ir.Tensor {
	row, size := ir.NewTensor(typ), typ.Shape[0]
	column.CopyRun(row, 0, m, t*size, size)
	return row
}

// print is a loop over the rows, whose text has one length for any number of them.
func (k *kind) print(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if b.Straight {
		return composite.PartsHLO(b, n, args)
	}
	r, err := k.round(n)
	if err != nil {
		return hlo.Value{}, err
	}
	x, err := carrier.Value(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	samples, axis := b.Samples, b.Axis(0)
	var all []hlo.Value
	for i, v := range r.first {
		c := hlo.FromInt64s(carrier.DType(v.Type), v.Type.Shape, v.Codes)
		if v.Type.IsFloat() {
			c = hlo.FromFloat32s(v.Type.Shape, v.Floats)
		}
		all = append(all, b.BroadcastTo(b.Const(c), b.Dims(r.before.nodes()[i].Type.Shape...)...))
	}
	y := b.BroadcastTo(b.Const(zeroOf(n.Type)), b.Dims(n.Type.Shape...)...)
	all = b.Times(n.Type.Shape[0], append(all, y), func(t hlo.Value, now []hlo.Value) []hlo.Value {
		values := map[*ir.Node]hlo.Value{r.row: b.Row(x, axis, t)}
		for i, m := range r.before.nodes() {
			values[m] = now[i]
		}
		if e := composite.Print(b, r.parts, values); e != nil {
			err = e
			return nil
		}
		next, last := []hlo.Value(nil), len(now)-1
		for _, m := range r.made() {
			next = append(next, values[m])
		}
		return append(next, b.PutRow(now[last], values[r.shown], axis, t))
	})
	if b.Samples = samples; err != nil {
		return hlo.Value{}, err
	}
	return all[len(all)-1], b.Err()
}

// zeroOf is a zero as values of the type travel.
func zeroOf(t ir.Type) hlo.Array {
	if t.IsFloat() {
		return hlo.FromFloat32s(nil, []float32{0})
	}
	return hlo.FromInt64s(carrier.DType(t), nil, []int64{0})
}
