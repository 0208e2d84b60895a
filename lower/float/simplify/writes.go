// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/walk"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// write is what a scatter at constant positions does: indices of an axis of to, each at one of the places, become
// those of from, combined by o unless it is nil.
type write struct {
	to, from source
	axis     int
	places   []int
	o        *ir.Op
}

// kept stands for an index that no write reaches.
const kept = -1

// Writes turns updates at constant positions, which have no unit, into concats of what stays and what is written.
func Writes(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		w, err := writeOf(n)
		if err != nil {
			return err
		}
		if w == nil {
			continue
		}
		w.split()
		r := &rearranger{g: g, n: n}
		y := r.written(w)
		if r.err != nil {
			return r.err
		}
		if y != nil {
			n.Op, n.Attrs, n.Args = move.Reshape, &move.ReshapeAttrs{Shape: n.Type.Shape}, []*ir.Node{y}
		}
	}
	g.DropDead()
	return ref.Compute(g) // slices of constants
}

// writeOf says what n writes; nil where that is no write of values at constant positions.
func writeOf(n *ir.Node) (*write, error) {
	if len(n.Args) != 3 || !n.Args[1].IsConst() || n.Type.Elems() == 0 || n.Args[1].Type.Elems() == 0 {
		return nil, nil
	}
	in, at, updates := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Args[2].Type.Shape
	w, reduce := &write{to: source{n.Args[0], in}, from: source{n.Args[2], updates}}, ""
	var sizes []int // of the axes that a tuple of positions is for
	switch a := n.Attrs.(type) {
	case *whole.ScatterAttrs:
		axis, err := walk.Axis(a.Axis, len(in))
		if err != nil {
			return nil, err
		}
		w.axis, reduce, sizes = axis, a.Reduce, in[axis:axis+1]
	case *whole.ScatterNDAttrs:
		reduce, sizes = a.Reduce, in[:at[len(at)-1]]
		rest := in[len(sizes):]
		w.to.shape = slices.Concat([]int{walk.Size(sizes)}, rest)
		w.from.shape = slices.Concat([]int{walk.Size(at[:len(at)-1])}, rest)
	default:
		return nil, nil
	}
	t, err := n.Args[1].Value()
	if err != nil {
		return nil, err
	}
	codes := t.Codes
	if n.Op == whole.ScatterElements {
		codes = line(codes, at, in, w.axis)
	}
	w.places = positions(codes, sizes)
	combined := map[string]*ir.Op{"add": pointwise.Add, "mul": pointwise.Mul, "max": pointwise.Max, "min": pointwise.Min}
	w.o = combined[reduce]
	if len(w.places) == 0 || w.o == nil && reduce != "" || w.o != nil && (!n.Type.IsFloat() || w.meets()) {
		return nil, nil
	}
	return w, nil
}

// meets says that two writes have the same place.
func (w *write) meets() bool {
	sorted := slices.Sorted(slices.Values(w.places))
	return len(slices.Compact(sorted)) < len(w.places)
}

// split divides the axis where the places recur: a column of a matrix that lies flat becomes one index of an axis.
func (w *write) split() {
	size, all := w.to.shape[w.axis], len(w.places)
	for period := 1; period < size; period++ {
		if size%period != 0 || all*period%size != 0 {
			continue
		}
		each := all * period / size
		recurs := each > 0
		for i, p := range w.places {
			recurs = recurs && w.places[i%each] < period && p == i/each*period+w.places[i%each]
		}
		if recurs {
			parted := func(shape []int, inner int) []int {
				return slices.Concat(shape[:w.axis], []int{size / period, inner}, shape[w.axis+1:])
			}
			w.to.shape, w.from.shape = parted(w.to.shape, period), parted(w.from.shape, each)
			w.axis, w.places = w.axis+1, w.places[:each]
			return
		}
	}
}

// written is what w makes of the value that it writes to; nil where that falls into too many pieces.
func (r *rearranger) written(w *write) *ir.Node {
	to, from := r.shaped(w.to), r.shaped(w.from)
	if w.o != nil {
		old := r.taken(to, w.axis, w.places)
		if old == nil {
			return nil
		}
		from = r.emit(w.o, nil, old, from)
	}
	if r.err != nil {
		return nil
	}
	size := to.Type.Shape[w.axis]
	of := slices.Repeat([]int{kept}, size) // the index of from that stands at each index, the last of several
	for i, p := range w.places {
		of[p] = i
	}
	var pieces []*ir.Node
	for at := 0; at < size && r.err == nil; {
		last := at + 1
		for last < size && (of[last] == kept) == (of[at] == kept) {
			last++
		}
		x, places := from, of[at:last]
		if of[at] == kept {
			x, places = to, span(at, last)
		}
		cuts := runs(w.axis, places)
		if len(pieces)+len(cuts) > maxPieces {
			return nil
		}
		for _, a := range cuts {
			pieces = append(pieces, r.emit(move.Slice, a, x))
		}
		at = last
	}
	if len(pieces) == 1 {
		return pieces[0]
	}
	return r.emit(move.Concat, &move.ConcatAttrs{Axis: w.axis}, pieces...)
}

// span is from, from+1, ... to-1.
func span(from, to int) []int {
	out := make([]int, to-from)
	for i := range out {
		out[i] = from + i
	}
	return out
}
