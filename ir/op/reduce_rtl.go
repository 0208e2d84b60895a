// SPDX-License-Identifier: Apache-2.0

package op

import (
	"slices"

	"lathe/ir"
	"lathe/rtl"
)

// Run is a stream of outer*n*inner elements of which n are reduced to one, each of inner ones by itself.
type Run struct {
	Outer, N, Inner int
}

// ReduceRun is the run of a reduction; false where axes that stay lie between those that go.
func ReduceRun(n *ir.Node) (Run, bool) {
	r := Run{1, 1, 1}
	shape, axes := n.Args[0].Type.Shape, n.AxesOf()
	if a, ok := n.Attrs.(*ArgMaxAttrs); ok {
		axes = []int{(a.Axis + len(shape)) % len(shape)}
	}
	for i, d := range shape {
		switch reduced := slices.Contains(axes, i); {
		case d == 1:
		case reduced && r.Inner > 1:
			return Run{}, false
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

// ReduceLanes is how many lanes of the argument may be taken, a divisor of the first result, and how many come out of
// that many.
func (r Run) ReduceLanes(in int) (size, out int) {
	if r.Inner > 1 {
		return r.Inner, in
	}
	return r.N, 1
}

// run checks what the modules of reductions take.
func runOf(n *ir.Node) (Run, error) {
	r, ok := ReduceRun(n)
	if !ok {
		return r, n.Errorf("L0311", "%s of %s over axes with others between them has no hardware in this version", n.Op.Name,
			ir.ShapeString(n.Args[0].Type.Shape)).WithHint("reduce one axis after the other")
	}
	size, _ := r.ReduceLanes(1)
	if e := checkLanes(n, "lanes", n.HW.InLanes, size, "elements"); e != nil {
		return r, e
	}
	return r, nil
}

func (k reduction) rtl(n *ir.Node) (*rtl.Unit, error) {
	r, err := runOf(n)
	if err != nil {
		return nil, err
	}
	in, err := codesIn(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	params := []any{"OUTER", r.Outer, "N", r.N, "INNER", r.Inner}
	if k == reduceMax || k == reduceMin {
		u := unit("op_reduce", params...)
		return with(u, "LANES", n.HW.InLanes, "E_W", in.W, "SIGNED", flag(in.Signed), "KIND", int(k), "ACC_W", in.W), nil
	}
	div := 1
	if k == reduceMean {
		div = r.N
	}
	return averageUnit(n, "op_reduce_mean", append(params, "DIV", div))
}

// argMaxRTL is an index along the innermost axis of the stream.
func argMaxRTL(n *ir.Node) (*rtl.Unit, error) {
	r, err := runOf(n)
	if err != nil {
		return nil, err
	}
	if r.Inner > 1 {
		return nil, n.Errorf("L0311", "argmax of %s over axis %d, not the innermost, has no hardware in this version",
			ir.ShapeString(n.Args[0].Type.Shape), n.Attrs.(*ArgMaxAttrs).Axis).
			WithHint("take it over the channels of an image, or the last axis")
	}
	in, err := codesIn(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := hardwareResult(n)
	if err != nil {
		return nil, err
	}
	return unit("op_argmax", "OUTER", r.Outer, "N", r.N, "LANES", n.HW.InLanes, "E_W", in.W, "SIGNED", flag(in.Signed),
		"TAIL", flag(n.Attrs.(*ArgMaxAttrs).Last), "OUT_W", out.W, "OUT_SIGNED", flag(out.Signed), "OVER", int(out.Over)), nil
}
