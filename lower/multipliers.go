// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"

	"lathe/ir"
)

// multipliers decides what multiplies in n, whose lanes are decided. Where two products cannot share a DSP, a rule that
// names n is wrong; a wish for all layers leaves n as it is, and says so.
func (l *laner) multipliers(n *ir.Node, a asked) {
	if !n.Op.Traits.Weighted && n.Op.PackCause == nil {
		return
	}
	n.HW.DSP = a.dsp
	if a.dsp != "pack" {
		return
	}
	cause, hint, err := l.unpacked(n)
	switch {
	case err != nil: // the layer has no hardware, and its unit will say so
		n.HW.DSP = "one"
	case cause == "":
	case a.dspFrom != "":
		e := n.Errorf("L0418", `dsp = "pack": %s`, cause)
		l.errs = append(l.errs, e.WithNote("set by %s", a.dspFrom).WithHint("%s", hint))
	default:
		n.HW.DSP = "one"
		l.notes = append(l.notes, fmt.Sprintf(`%s keeps dsp = "one": %s`, n.Name, cause))
	}
}

// unpacked says why products of n cannot share DSPs, and what would help.
func (l *laner) unpacked(n *ir.Node) (cause, hint string, err error) {
	cause, known := l.causes[n]
	if !known {
		cause = n.Op.Name + " has no two products with a common factor"
		if n.Op.PackCause != nil {
			if cause, err = n.Op.PackCause(n); err != nil {
				return "", "", err
			}
		}
		l.causes[n] = cause
	}
	hint = `leave dsp out, or give weights or data fewer bits`
	if cause == "" && n.HW.OutLanes%2 != 0 {
		cause, hint = fmt.Sprintf("out_lanes %d are odd, two of them share a DSP", n.HW.OutLanes), "choose an even out_lanes"
	}
	return cause, hint, nil
}
