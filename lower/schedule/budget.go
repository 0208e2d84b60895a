// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/lower/schedule/balance"
	"lathe/rtl"
)

// fill is the part of a device that the balance mode uses where the plan asks for neither a rate nor bounds: routing a
// fuller one is hard.
const fill = 0.7

// capacity is what a part has.
func capacity(d *target.Device) unit.Budget {
	return unit.Budget{LUT: d.LUT, FF: d.FF, DSP: d.DSP, BRAM: int(d.RAM36()), URAM: d.URAM}
}

// resource is one kind of cells, as a design takes it and as it is bounded.
type resource struct {
	name, key string // the key of [fold] that bounds it, "" for none
	has, most int
}

// resources are what a cost takes beside the bounds of a budget.
func resources(b unit.Budget, c rtl.Cost) []resource {
	return []resource{{"LUT", "max_lut", c.LUT, b.LUT}, {"FF", "max_ff", c.FF, b.FF}, {"DSP", "max_dsp", c.DSP, b.DSP},
		{"block RAM", "max_bram", (c.BRAM + 1) / 2, b.BRAM}, {"UltraRAM", "", c.URAM, b.URAM}}
}

// budgetOf are the bounds of a plan: what it states, and of all else what the part has that it names. A plan that asks
// for neither a rate nor bounds gets fill of its part, or of the default.
func budgetOf(p *plan.Plan) unit.Budget {
	fold, b := &p.Fold, capacity(&p.Target.FPGA)
	if plan.Filled(fold) {
		for _, n := range []*int{&b.LUT, &b.FF, &b.DSP, &b.BRAM, &b.URAM} {
			*n = int(fill * float64(*n))
		}
		return b
	}
	if !p.Target.Stated {
		b = unit.Budget{}
	}
	for i, bound := range []*int{&b.LUT, &b.FF, &b.DSP, &b.BRAM} {
		if stated := *fold.Bounds()[i].Most; stated > 0 {
			*bound = stated
		}
	}
	return b
}

// over lists what a cost takes beyond the budget.
func (b *balancer) over(c rtl.Cost) []resource { return Beyond(c, b.budget) }

// overTexts says by how much each is beyond which bound.
func (b *balancer) overTexts(list []resource) (texts []string) {
	fold, part := &b.plan.Fold, b.plan.Target.FPGA.Part
	stated := fold.Stated()
	for _, r := range list {
		text := fmt.Sprintf("%s %s more than ", diag.Grouped(r.has-r.most), r.name)
		switch {
		case stated[r.key] > 0:
			text += fmt.Sprintf("%s = %d", r.key, r.most)
		case plan.Filled(fold):
			text += fmt.Sprintf("%g %% of %s", 100*fill, part)
		default:
			text += part + " has"
		}
		texts = append(texts, text)
	}
	return texts
}

// less says how a design comes within the budget that is too small for all foldings, the least of which is o: which
// bounds of the plan it takes, and at which rate where the plan asks for one.
func (b *balancer) less(o *outcome) string {
	hint := "lower the bits of weights and data, or take a larger part"
	stated := b.plan.Fold.Stated()
	var raised []string
	for _, r := range b.over(o.cost) {
		if stated[r.key] == 0 {
			return hint // the part has no more
		}
		raised = append(raised, fmt.Sprintf("%s = %d", r.key, roundUp(r.has)))
	}
	text := "raise the bound to " + strings.Join(raised, " and ")
	if b.plan.Fold.FPS > 0 {
		text += " and ask for at most fps = " + floorRate(b.rate(o.report.Interval()))
	}
	return text + ", or " + hint
}

// roundUp leaves two digits, and so some room: a search within n takes other ways than the one that came to n.
func roundUp(n int) int {
	unit := 1
	for n/unit > 99 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

// Beyond lists what a cost takes more of than a budget bounds.
func Beyond(c rtl.Cost, budget unit.Budget) (list []resource) {
	for _, r := range resources(budget, c) {
		if r.most > 0 && r.has > r.most {
			list = append(list, r)
		}
	}
	return list
}

// weights start at the share of the budget, or of the device, that a unit of each takes; flip-flops, of which a family
// has some beside each LUT, count for less by that number.
func (b *balancer) weights() balance.Weights {
	dev, budget, family := capacity(&b.plan.Target.FPGA), b.budget, b.plan.Fold.Part.Technology()
	share := func(bound, all int) float64 {
		if bound > 0 {
			all = bound
		}
		return 1 / float64(max(all, 1))
	}
	return balance.Weights{LUT: share(budget.LUT, dev.LUT), FF: share(b.plan.Fold.MaxFF, dev.FF) / float64(family.FFs),
		DSP: share(budget.DSP, dev.DSP), BRAM: share(budget.BRAM, dev.BRAM) / 2, URAM: share(budget.URAM, dev.URAM),
		Family: family}
}

// raised makes what is over budget count for more.
func raised(w balance.Weights, over []resource) balance.Weights {
	of := map[string]*float64{"LUT": &w.LUT, "FF": &w.FF, "DSP": &w.DSP, "block RAM": &w.BRAM, "UltraRAM": &w.URAM}
	for _, r := range over {
		*of[r.name] *= 4
	}
	return w
}
