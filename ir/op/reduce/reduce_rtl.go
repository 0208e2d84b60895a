// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// reducedRun is a stream of outer*n*inner elements of which n are reduced to one, each of inner ones by itself.
type reducedRun struct {
	Outer, N, Inner int
}

// reduceRun is the run of a reduction; false where axes that stay lie between those that go.
func reduceRun(n *ir.Node) (reducedRun, bool) {
	r := reducedRun{1, 1, 1}
	shape, axes := n.Args[0].Type.Shape, n.AxesOf()
	if a, ok := n.Attrs.(*ArgMaxAttrs); ok {
		axes = []int{(a.Axis + len(shape)) % len(shape)}
	}
	for i, d := range shape {
		switch reduced := slices.Contains(axes, i); {
		case d == 1:
		case reduced && r.Inner > 1:
			return reducedRun{}, false
		case reduced:
			r.N *= d
		case r.N > 1:
			r.Inner *= d
		default:
			r.Outer *= d
		}
	}
	return r, true
}

// reduceLanes are the lanes of the argument, divisors of the elements that are reduced, or, where an outer axis is, of
// those behind it. Along the innermost axis one lane goes out.
func reduceLanes(n *ir.Node) (*ir.Lanes, error) {
	run, _ := reduceRun(n) // what is none is refused by the unit
	size, _ := run.lanes(1)
	l := &ir.Lanes{In: lane.Counts(max(size, 1), "elements")}
	if run.Inner <= 1 {
		l.Tie = func(lanes int) (in, out int) { return lanes, 1 }
	}
	return l, nil
}

// lanes is how many lanes of the argument may be taken, a divisor of the first result, and how many come out of
// that many.
func (r reducedRun) lanes(in int) (size, out int) {
	if r.Inner > 1 {
		return r.Inner, in
	}
	return r.N, 1
}

// runOf checks what the modules of reductions take.
func runOf(n *ir.Node) (reducedRun, error) {
	r, ok := reduceRun(n)
	if !ok {
		return r, n.Errorf(diag.NoHardwareForm,
			"%s of %s over axes with others between them has no hardware in this version", n.Op.Name,
			ir.ShapeString(n.Args[0].Type.Shape)).WithHint("reduce one axis at a time")
	}
	size, _ := r.lanes(1)
	if e := lane.CheckDivisor(n, "lanes", n.HW.InLanes, size, "elements"); e != nil {
		return r, e
	}
	return r, nil
}

func (k reduction) rtl(n *ir.Node) (*rtl.Unit, error) {
	r, err := runOf(n)
	if err != nil {
		return nil, err
	}
	in, err := hardware.CodesIn(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	params := []any{"OUTER", r.Outer, "N", r.N, "INNER", r.Inner}
	if k == reduceMax || k == reduceMin {
		u := rtl.NewUnit("op_reduce", params...)
		return u.With("LANES", n.HW.InLanes, "E_W", in.W, "SIGNED", rtl.Flag(in.Signed), "KIND", int(k),
			"ACC_W", in.W), nil
	}
	div := 1
	if k == reduceMean {
		div = r.N
	}
	return hardware.MeanUnit(n, "op_reduce_mean", append(params, "DIV", div))
}
