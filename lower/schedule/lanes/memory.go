// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/rtl"
)

// weights decides where the weights of n live, whose style and lanes are decided. Layers that have no words of weights
// keep what they have; settle says so.
func (l *laner) weights(n *ir.Node, a wishes) {
	n.HW.Weights, n.HW.Port, n.HW.Burst, n.HW.Ram = "", 0, 0, ""
	where := a.Weights
	if !n.Op.Traits.Weighted || n.Op.Traits.PerChannel || n.HW.Style != ir.StyleFold {
		return
	}
	if !plan.Outside(where) {
		if l.plan.Memory.Check {
			n.HW.Weights = "check"
		}
		return
	}
	if where == "external" {
		where = suits(&l.plan.Memory, n)
	}
	n.HW.Weights, n.HW.Port, n.HW.Burst = where, l.plan.Memory.AXIBits, l.plan.Memory.BurstOf()
	if n.HW.Ram = l.plan.Memory.Ram; a.Ram != "" {
		n.HW.Ram = a.Ram
	}
	if n.HW.Ram == plan.RamWords[0] {
		n.HW.Ram = ""
	}
}

// suits is where weights go that lie outside as suits the layer: what a sample uses once comes each time, if it is more
// than a buffer. Of several sets, which layers use by turns, two are in the chip at least.
func suits(m *plan.Memory, n *ir.Node) string {
	once, sets := unit.Sweeps(n)*n.HW.InRow() == 1, len(n.InTurns())
	if (once || sets > 2) && weightBits(n) > 2*m.BurstOf()*m.AXIBits {
		return "stream"
	}
	return "hold"
}

// weightBits is the bits of all weights of n, without what pads them.
func weightBits(n *ir.Node) int {
	t := n.Args[1].Type
	return t.Elems() * t.Format.Width()
}

// settle refuses or notes where weights cannot live outside although the plan asks for it: an error by the rule that
// says so, L0419, a note where it is the wish for all layers.
func (l *laner) settle(units *unit.Cache, g *ir.Graph) {
	for _, n := range g.Nodes {
		if n.IsConst() || n.Op.Traits.Source {
			continue
		}
		a := l.rules(n)
		l.unchecked(units, n, a)
		if a.ramFrom == "" && !plan.Outside(a.Weights) {
			continue
		}
		u, err := units.Of(n)
		if a.ramFrom != "" && err == nil && (u.Weights == nil || !u.Weights.Loaded()) {
			e := n.Errorf(diag.WeightsOutside, "ram = %q: its weights are not loaded after reset", a.Ram).WithNote("set by %s",
				a.ramFrom)
			l.Errs = append(l.Errs, e.WithHint(`say weights = "hold" beside it, or leave ram out of the rule`))
		}
		if !plan.Outside(a.Weights) {
			continue
		}
		if err != nil || n.HW.Weights != "" && u.Weights != nil {
			continue // an error of the unit is time_units' to tell
		}
		cause := portless(n, u)
		if n.HW.Weights, n.HW.Ram = "", ""; n.HW.Cache == "" {
			n.HW.Port, n.HW.Burst = 0, 0
		}
		if a.weightsFrom != "" {
			e := n.Errorf(diag.WeightsOutside, "weights = %q: %s", a.Weights, cause).WithNote("set by %s", a.weightsFrom)
			l.Errs = append(l.Errs, e.WithHint(`leave weights out of the rule, or say weights = "rom"`))
		} else if n.Op.Traits.Weighted && !n.Op.Traits.PerChannel {
			l.notes = append(l.notes, fmt.Sprintf(`%s keeps weights = "rom": %s`, n.Name, cause))
		}
	}
}

// portless is why the weights of n cannot stand outside of its unit.
func portless(n *ir.Node, u *rtl.Unit) string {
	switch {
	case !n.Op.Traits.Weighted || n.Op.Traits.PerChannel:
		return n.Op.Name + " has no weights that a memory holds"
	case n.HW.Style == ir.StyleUnroll:
		return "its weights are constants in the logic of an unrolled unit"
	}
	return fmt.Sprintf("the unit %s has no port for weights", u.Kind())
}

// unchecked refuses a rule that has weights lie outside, where those of the plan are checked in the chip, L0419, and
// notes where they cannot be.
func (l *laner) unchecked(units *unit.Cache, n *ir.Node, a wishes) {
	if !l.plan.Memory.Check || !n.Op.Traits.Weighted {
		return
	}
	if plan.Outside(a.Weights) {
		e := n.Errorf(diag.WeightsOutside, "weights = %q: check = \"start\" is about ROMs", a.Weights)
		l.Errs = append(l.Errs, e.WithNote("set by %s", a.weightsFrom).
			WithHint("leave weights out of the rule, or check out"))
		return
	}
	u, err := units.Of(n)
	if err != nil || u.Weights != nil {
		return
	}
	n.HW.Weights = ""
	l.notes = append(l.notes, fmt.Sprintf("nothing checks the weights of %s: %s", n.Name, portless(n, u)))
}
