// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"lathe/internal/diag"
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

// softmaxRTL is a unit of rows.
func softmaxRTL(n *ir.Node) (*rtl.Unit, error) {
	u, err := rowsUnit(n, "op_softmax")
	if err != nil {
		return nil, err
	}
	rows, err := PlanRows(n, 1)
	if err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	return rows.Params(n, u)
}

// logSoftmaxRTL is the same, with another third pass.
func logSoftmaxRTL(n *ir.Node) (*rtl.Unit, error) {
	u, err := rowsUnit(n, "op_log_softmax")
	if err != nil {
		return nil, err
	}
	rows, err := PlanLogRows(n)
	if err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	if err := rows.Powers.params(n, u); err != nil {
		return nil, err
	}
	out, err := hardware.ResultParams(n, -eBits)
	if err != nil {
		return nil, err
	}
	return u.With("STEP", rows.Step, "STEP_SHIFT", rows.StepShift).With(out...), nil
}

// rowsUnit takes rows: the innermost axis.
func rowsUnit(n *ir.Node, module string) (*rtl.Unit, error) {
	shape := n.Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, err
	}
	if walk.Size(shape[axis+1:]) != 1 {
		return nil, n.Errorf(diag.NoHardwareForm,
			"%s of %s over axis %d, not the innermost, has no hardware in this version", n.Op.Name,
			ir.ShapeString(shape), axis).WithHint("take it over the last axis")
	}
	if shape[axis] > mostRow {
		return nil, n.Errorf(diag.NoHardwareForm,
			"%s over %d elements has no hardware in this version, which takes rows of up to %d",
			n.Op.Name, shape[axis], mostRow)
	}
	return rtl.NewUnit(module, "ROWS", walk.Size(shape[:axis]), "N", shape[axis], "LANES", n.HW.InLanes), nil
}

// Params adds the parameters of op_softmax that formats decide.
func (r *Rows) Params(n *ir.Node, u *rtl.Unit) (*rtl.Unit, error) {
	if err := r.Powers.params(n, u); err != nil {
		return nil, err
	}
	out, err := hardware.Result(n)
	if err != nil {
		return nil, err
	}
	return u.With("OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "FO", r.Frac), nil
}

// params adds those of the argument and of its powers.
func (p Powers) params(n *ir.Node, u *rtl.Unit) error {
	in, err := hardware.CodesIn(n, n.Args[0].Type)
	u.With("IN_W", in.W, "SIGNED", rtl.Flag(in.Signed), "K", p.K, "K_SHIFT", p.Shift)
	return err
}
