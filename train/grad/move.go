// SPDX-License-Identifier: Apache-2.0

package grad

import (
	"slices"

	"lathe/ir/hlo"
)

func reshape(s *sweep, o *step) []hlo.Value {
	return []hlo.Value{s.Reshape(o.grad, s.arg(o, 0).Type().Dims...)}
}

func transpose(s *sweep, o *step) []hlo.Value {
	back := make([]int, len(o.Attrs.Axes))
	for i, a := range o.Attrs.Axes {
		back[a] = i
	}
	return []hlo.Value{s.Transpose(o.grad, back...)}
}

// broadcast sums over the axes along which the operand is repeated.
func broadcast(s *sweep, o *step) []hlo.Value {
	x := s.arg(o, 0).Type()
	var over []int
	for a, d := range o.Type.Dims {
		at := slices.Index(o.Attrs.Axes, a)
		if at < 0 || x.Dims[at] != d {
			over = append(over, a)
		}
	}
	return []hlo.Value{s.Reshape(s.Reduce(hlo.ReduceAdd, o.grad, over...), x.Dims...)}
}

// slice puts the gradient back where it was taken from, with zeros around and between.
func slice(s *sweep, o *step) []hlo.Value {
	x, a := s.arg(o, 0).Type(), o.Attrs
	high, inner := make([]int, x.Rank()), make([]int, x.Rank())
	for i, d := range x.Dims {
		inner[i] = a.Stride[i] - 1
		high[i] = d - a.Start[i] - extent(o.Type.Dims[i], a.Stride[i])
	}
	return []hlo.Value{s.Pad(o.grad, s.num(o.grad, 0), a.Start, high, inner)}
}

// extent is that of n elements at the given distance.
func extent(n, distance int) int {
	if n == 0 {
		return 0
	}
	return (n-1)*distance + 1
}

func concatenate(s *sweep, o *step) []hlo.Value {
	axis, from := o.Attrs.Axes[0], 0
	out := make([]hlo.Value, len(o.Operands))
	for i := range out {
		to := from + s.arg(o, i).Type().Dims[axis]
		if s.wants(o, i) {
			out[i] = s.SliceAxis(o.grad, axis, from, to)
		}
		from = to
	}
	return out
}

// pad takes what lies where the operand went; the padding itself has the rest.
func pad(s *sweep, o *step) []hlo.Value {
	a, rank := o.Attrs, o.Type.Rank()
	low, high, stride := make([]int, rank), make([]int, rank), make([]int, rank)
	for i := range rank {
		low[i], high[i], stride[i] = -a.Low[i], -a.High[i], a.Inner[i]+1
	}
	g := s.Pad(o.grad, s.num(o.grad, 0), low, high, nil)
	x := s.Slice(g, make([]int, rank), g.Type().Dims, stride)
	out := []hlo.Value{x, {}}
	if s.wants(o, 1) {
		out[1] = s.Sub(s.total(o.grad), s.total(x))
	}
	return out
}

// total is the sum of all elements.
func (s *sweep) total(v hlo.Value) hlo.Value {
	return s.Reduce(hlo.ReduceAdd, v, seq(0, v.Type().Rank())...)
}

// gather adds the gradient of each row that was looked up to the row.
func gather(s *sweep, o *step) []hlo.Value {
	table, idx := s.arg(o, 0), s.arg(o, 1)
	dims := table.Type().Dims
	n := idx.Type().Len()
	at := s.Clamp(s.Splat(idx, 0), idx, s.Splat(idx, int64(dims[0]-1)))
	rows := s.Reshape(o.grad, append([]int{n}, dims[1:]...)...)
	return []hlo.Value{s.ScatterRows(hlo.ReduceAdd, s.Splat(table, 0), s.Reshape(at, n), rows), {}}
}

// scatter is that of rows that are added; rows outside of the table have no gradient.
func scatter(s *sweep, o *step) []hlo.Value {
	if o.Attrs.Reducer != hlo.ReduceAdd {
		return s.refuse(o, string(o.Attrs.Reducer))
	}
	idx, rows := s.arg(o, 1), s.arg(o, 2)
	inside := s.And(s.Compare(hlo.GE, idx, s.Splat(idx, 0)),
		s.Compare(hlo.LT, idx, s.Splat(idx, int64(o.Type.Dims[0]))))
	taken := s.TakeI(o.grad, idx)
	return []hlo.Value{o.grad, {}, s.Select(s.Along(inside, rows.Type().Dims, 0), taken, s.num(taken, 0))}
}

// place is the axis along which a part of one element is taken of x, and where.
func (s *sweep) place(o *step, x, part hlo.Type, first int) (axis int, at hlo.Value) {
	for a := range x.Dims {
		if part.Dims[a] != x.Dims[a] {
			return a, s.arg(o, first+a)
		}
	}
	return 0, s.arg(o, first)
}

func dynamicSlice(s *sweep, o *step) []hlo.Value {
	x := s.arg(o, 0)
	axis, at := s.place(o, x.Type(), o.Type, 1)
	out := make([]hlo.Value, len(o.Operands))
	out[0] = s.PutRow(s.Splat(x, 0), o.grad, axis, at)
	return out
}

func dynamicUpdate(s *sweep, o *step) []hlo.Value {
	row := s.arg(o, 1)
	axis, at := s.place(o, o.Type, row.Type(), 2)
	out := make([]hlo.Value, len(o.Operands))
	out[0] = s.PutRow(o.grad, s.Splat(row, 0), axis, at)
	out[1] = s.Reshape(s.Row(o.grad, axis, at), row.Type().Dims...)
	return out
}
