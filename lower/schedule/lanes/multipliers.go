// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
)

// multipliers decides what multiplies in n, whose lanes are decided. Where two products cannot share a DSP, or DSPs not
// sum, a rule that names n is wrong; a wish for all layers leaves n as it is, and says so.
func (l *laner) multipliers(n *ir.Node, a wishes) {
	if !n.Op.Traits.Weighted && n.Op.DSPCause == nil {
		if a.dsp == "none" { // which products of values, functions and units with a state obey
			n.HW.DSP = a.dsp
		}
		return
	}
	n.HW.DSP, n.HW.Part = a.dsp, l.plan.Part
	if a.dsp == "" || a.dsp == "one" || a.dsp == "none" || a.dsp == "auto" {
		return
	}
	cause, hint, err := l.notDSP(n, a.dsp)
	switch {
	case err != nil: // the layer has no hardware, and its unit will say so
		n.HW.DSP = "one"
	case cause == "":
	case a.dspFrom != "":
		e := n.Errorf(diag.DSPForm, "dsp = %q: %s", a.dsp, cause)
		l.Errs = append(l.Errs, e.WithNote("set by %s", a.dspFrom).WithHint("%s", hint))
	default:
		n.HW.DSP = "one"
		l.notes = append(l.notes, fmt.Sprintf(`%s keeps dsp = "one": %s`, n.Name, cause))
	}
}

// dsp is what the plan says of the multipliers of a node of which the rules say a; where it says nothing the balance
// mode chooses, and so does the lean mode for a part that the plan names.
func (l *laner) dsp(a wishes) string {
	switch {
	case a.dsp != "":
		return a.dsp
	case l.plan.DSP == "" && (l.plan.Mode == "balance" || l.plan.Mode == "lean" && l.plan.Part != nil):
		return "auto"
	}
	return l.plan.DSP
}

// sharing lists what may multiply in n: a DSP each, where the plan says "auto" one for two as well, and for a part of
// UltraScale+ that it names those that also sum: they bind a design to it.
func (l *laner) sharing(n *ir.Node) []string {
	switch {
	case l.dsp(l.Ruled(n)) != "auto" || !n.Op.Traits.Weighted && n.Op.DSPCause == nil:
		return []string{""}
	case l.plan.Part != nil && l.plan.Part.Family.DSP.Chain:
		return []string{"one", "pack", "chain", "pack_chain"}
	}
	return []string{"one", "pack"}
}

// dspWish is a node and what its products should do.
type dspWish struct {
	node *ir.Node
	how  string
}

// dspCause is why products of a node are not shared, or how many lanes share a DSP.
type dspCause struct {
	lanes int
	text  string
}

// notDSP says why products of n cannot share DSPs, or be summed in DSPs, and what would help.
func (l *laner) notDSP(n *ir.Node, how string) (cause, hint string, err error) {
	wish := dspWish{n, how}
	found, known := l.causes[wish]
	if !known {
		found.text = n.Op.Name + " has no products of this kind"
		if n.Op.DSPCause != nil {
			if found.lanes, found.text, err = n.Op.DSPCause(n, how); err != nil {
				return "", "", err
			}
		}
		l.causes[wish] = found
	}
	cause = found.text
	hint = `leave dsp out, or give weights or data fewer bits`
	switch d := n.HW.Part.Technology().DSP; how {
	case "chain":
		hint = fmt.Sprintf("leave dsp out: a chain takes weights of 5 bits or more, and factors of up to %d by %d bits", d.A,
			d.B)
	case "pack_chain":
		if cause != "" {
			hint = l.halfChain(n)
		}
	}
	if how != "chain" && cause == "" && n.HW.OutLanes%found.lanes != 0 {
		cause = fmt.Sprintf("out_lanes %d are no multiple of %d, so many share a DSP", n.HW.OutLanes, found.lanes)
		hint = fmt.Sprintf("choose a multiple of %d as out_lanes", found.lanes)
	}
	return cause, hint, nil
}

// halfChain is what to use where n cannot have two products in DSPs that also sum: one of both, if it can have that.
func (l *laner) halfChain(n *ir.Node) string {
	for _, other := range []string{"pack", "chain"} {
		if cause, _, err := l.notDSP(n, other); err == nil && cause == "" {
			return fmt.Sprintf("use %q, or leave dsp out", other)
		}
	}
	return "leave dsp out"
}
