// SPDX-License-Identifier: Apache-2.0

package grad

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// refuse is the result of a rule that does not serve all forms of its kind.
func (s *sweep) refuse(o *step, what string) []hlo.Value {
	s.failed = diag.New(diag.NoGradient, s.Place(o.number), "%s (%s) has no gradient here: a parameter that is trained"+
		" reaches the loss through it", o.Kind, what)
	return nil
}

// reduce spreads the gradient of a sum over its terms, and gives that of a maximum or minimum to the first element that
// has it.
func reduce(s *sweep, o *step) []hlo.Value {
	x := s.arg(o, 0)
	var kept []int
	for a := range x.Type().Rank() {
		if !slices.Contains(o.Attrs.Axes, a) {
			kept = append(kept, a)
		}
	}
	spread := func(v hlo.Value) hlo.Value { return s.BroadcastInDim(v, x.Type().Dims, kept) }
	g := spread(o.grad)
	switch o.Attrs.Reducer {
	case hlo.ReduceAdd:
		return []hlo.Value{g, {}}
	case hlo.ReduceMax, hlo.ReduceMin:
		place := s.Splat(s.Convert(x, hlo.I32), 0) // of an element among those that are reduced
		for _, a := range o.Attrs.Axes {
			place = s.Add(s.Mul(place, s.Int(hlo.I32, int64(x.Type().Dims[a]))), s.Iota(place.Type(), a))
		}
		place = s.Select(s.Compare(hlo.EQ, x, spread(s.out(o))), place, s.Int(hlo.I32, math.MaxInt32))
		first := spread(s.Reduce(hlo.ReduceMin, place, o.Attrs.Axes...))
		return []hlo.Value{s.Select(s.Compare(hlo.EQ, place, first), g, s.num(g, 0)), {}}
	case hlo.ReduceMul:
		return []hlo.Value{s.Div(s.Mul(g, spread(s.out(o))), x), {}}
	}
	return s.refuse(o, string(o.Attrs.Reducer))
}

// reduceWindow adds up what the windows that hold an element pass back to it.
func reduceWindow(s *sweep, o *step) []hlo.Value {
	switch w := o.Attrs.Window; o.Attrs.Reducer {
	case hlo.ReduceAdd:
		return []hlo.Value{s.windowSum(o, w), {}}
	case hlo.ReduceMax, hlo.ReduceMin:
		return []hlo.Value{s.windowFirst(o, w), {}}
	}
	return s.refuse(o, string(o.Attrs.Reducer))
}

// windowSum is the gradient of sums: each element gets those of all windows that hold it, which is a sum over a window
// of gradients, spread as far as the windows are.
func (s *sweep) windowSum(o *step, w hlo.Window) hlo.Value {
	dims := s.arg(o, 0).Type().Dims
	low, high, inner := make([]int, len(dims)), make([]int, len(dims)), make([]int, len(dims))
	for i, d := range dims {
		reach := (w.Size[i] - 1) * w.Dilation[i]
		inner[i] = w.Stride[i] - 1
		low[i] = reach - w.Low[i]
		high[i] = d + reach - low[i] - extent(o.Type.Dims[i], w.Stride[i])
	}
	g := s.Pad(o.grad, s.num(o.grad, 0), low, high, inner)
	return s.ReduceWindow(hlo.ReduceAdd, g, hlo.Window{Size: w.Size, Dilation: w.Dilation})
}

// windowFirst is the gradient of a maximum or minimum: the first element of each window that has it gets the whole,
// element by element of the window.
func (s *sweep) windowFirst(o *step, w hlo.Window) hlo.Value {
	x, y := s.arg(o, 0), s.out(o)
	padded := s.Pad(x, s.arg(o, 1), w.Low, w.High, nil)
	open := s.Compare(hlo.EQ, y, y) // windows whose element is not found yet
	zero := s.num(o.grad, 0)
	var sum hlo.Value
	for tap := range (hlo.Type{Dims: w.Size}).Len() {
		start, limit := make([]int, len(w.Size)), make([]int, len(w.Size))
		high, inner := make([]int, len(w.Size)), make([]int, len(w.Size))
		for rest, i := tap, len(w.Size)-1; i >= 0; i-- {
			start[i], rest = rest%w.Size[i]*w.Dilation[i], rest/w.Size[i]
			limit[i] = start[i] + extent(y.Type().Dims[i], w.Stride[i])
			high[i], inner[i] = padded.Type().Dims[i]-limit[i], w.Stride[i]-1
		}
		hit := s.And(open, s.Compare(hlo.EQ, s.Slice(padded, start, limit, w.Stride), y))
		open = s.And(open, s.Not(hit))
		g := s.Pad(s.Select(hit, o.grad, zero), zero, start, high, inner)
		if tap == 0 {
			sum = g
		} else {
			sum = s.Add(sum, g)
		}
	}
	low, high := make([]int, len(w.Size)), make([]int, len(w.Size))
	for i := range low {
		low[i], high[i] = -w.Low[i], -w.High[i]
	}
	return s.Pad(sum, zero, low, high, nil)
}
