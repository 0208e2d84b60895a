// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// softmaxLanes are divisors of a row.
func softmaxLanes(n *ir.Node) (*ir.Lanes, error) {
	return &ir.Lanes{In: lane.Counts(n.Type.Row(), "elements of a row")}, nil
}

// softmaxRTL takes rows: the innermost axis.
func softmaxRTL(n *ir.Node) (*rtl.Unit, error) {
	shape := n.Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, err
	}
	if walk.Size(shape[axis+1:]) != 1 {
		return nil, n.Errorf("L0311", "softmax of %s over axis %d, not the innermost, has no hardware in this version",
			ir.ShapeString(shape), axis).WithHint("take it over the last axis")
	}
	rows, err := PlanRows(n, 1)
	if err != nil {
		return nil, n.Errorf("L0311", "%v", err)
	}
	u := rtl.NewUnit("op_softmax", "ROWS", walk.Size(shape[:axis]), "N", shape[axis], "LANES", n.HW.InLanes)
	return rows.Params(n, u)
}

// Params adds the parameters of op_softmax that formats decide.
func (r *Rows) Params(n *ir.Node, u *rtl.Unit) (*rtl.Unit, error) {
	in, err := hardware.CodesIn(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := hardware.Result(n)
	if err != nil {
		return nil, err
	}
	return u.With("IN_W", in.W, "SIGNED", rtl.Flag(in.Signed), "K", r.K, "K_SHIFT", r.Shift,
		"OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "FO", r.Frac), nil
}
