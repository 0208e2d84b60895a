// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/lower/schedule/balance"
	"lathe/lower/schedule/lanes"
	"lathe/rtl"
)

// deepest is the most words that weights in LUTs have: what picks a word of more would be the slowest path of a design.
// target.Memory.Deep says what each of their bits takes.
const deepest = 1024

// placed is a layer with a folding.
type placed struct {
	layer int
	lanes.Folding
}

// layerMemory is one memory of a layer: its line buffer, or that of its weights.
type layerMemory struct {
	placed
	isLines bool
}

// word is where it lies: a word of stores, "" where synthesis puts it.
func (h *layerMemory) word() *string {
	if h.isLines {
		return &h.Lines
	}
	return &h.Store
}

// stored is what a unit takes with one of its memories in a store.
type stored struct {
	word string
	cost rtl.Cost
}

// moved is a choice with weights and line buffers in other memories so that a design, which takes so much, keeps the
// budget: nil where it does, where nothing helps, and beyond so many rounds.
func (b *balancer) moved(chosen lanes.Foldings, cost rtl.Cost, round int) lanes.Foldings {
	if round > rounds || b.over(cost) == nil {
		return nil
	}
	var from []layerMemory
	var lists [][]stored
	var stores []balance.Store
	for i, n := range b.table.Nodes {
		for _, h := range memoriesOf(placed{i, chosen[n.Name]}) {
			if list := b.memories(h); list != nil {
				costs := make(balance.Store, len(list))
				for k, m := range list {
					costs[k] = m.cost
				}
				from, lists, stores = append(from, h), append(lists, list), append(stores, costs)
			}
		}
	}
	bounds := rtl.Cost{LUT: b.budget.LUT, FF: b.budget.FF, DSP: b.budget.DSP, BRAM: 2 * b.budget.BRAM, URAM: b.budget.URAM}
	at, sum := balance.Place(stores, make([]int, len(stores)), cost, bounds)
	if b.over(sum) != nil {
		return nil
	}
	next := maps.Clone(chosen)
	for i, h := range from {
		name := b.table.Nodes[h.layer].Name
		h.Folding = next[name]
		*h.word() = lists[i][at[i]].word
		next[name] = h.Folding
	}
	return next
}

// memoriesOf are the memories that a layer may have.
func memoriesOf(p placed) [2]layerMemory { return [2]layerMemory{{p, false}, {p, true}} }

// memories are the stores that a memory of a layer can be, with what its unit takes then: first that where it lies.
func (b *balancer) memories(h layerMemory) []stored {
	if list, known := b.stores[h]; known {
		return list
	}
	from, is := h, *h.word()
	var list []stored
	if words := b.words(h); words != nil {
		list = append(list, stored{is, b.weighed(h.placed)})
		for _, *h.word() = range words {
			if *h.word() != is && !b.tooDeep(h) {
				list = append(list, stored{*h.word(), b.weighed(h.placed)})
			}
		}
	}
	b.stores[from] = list
	return list
}

// tooDeep says of a memory in LUTs that it has too many words. Of a line buffer what it takes beyond block RAM tells: a
// flip-flop for each bit of a word.
func (b *balancer) tooDeep(h layerMemory) bool {
	switch {
	case *h.word() != unit.StoreLUT:
		return false
	case !h.isLines:
		return b.table.Nodes[h.layer].Args[1].Type.Elems() > deepest*h.In*h.Out
	}
	here := b.weighed(h.placed)
	*h.word() = unit.StoreBlock
	more := here.Add(b.weighed(h.placed).Times(-1))
	return more.LUT > b.ram().Deep*more.FF
}

// ram is the memory of the family.
func (b *balancer) ram() target.Memory { return b.plan.Fold.Part.Technology().Memory }

// weighed is what the unit of a layer takes, by a plan that the schedule takes again.
func (b *balancer) weighed(p placed) rtl.Cost {
	n, l := b.table.Nodes[p.layer], b.table.Laner
	kept := n.HW
	defer func() { n.HW, l.Chosen, l.Errs = kept, nil, nil }()
	l.Chosen = lanes.Foldings{n.Name: p.Folding}
	l.Node(n)
	facts, err := b.opts.Units.Facts(n)
	if err != nil { // it has been planned before
		return rtl.Cost{}
	}
	return facts.Cost
}

// words are the stores that the plan leaves open for a memory; "" is where synthesis puts it.
func (b *balancer) words(h layerMemory) (list []string) {
	n := b.table.Nodes[h.layer]
	a, m := b.table.Laner.Ruled(n), &b.plan.Fold.Memory
	if h.isLines {
		if !n.Op.Traits.Windows || a.Lines != "" {
			return nil
		}
		list = []string{"", unit.StoreBlock}
		if b.ram().Deep > 0 {
			list = append(list, unit.StoreLUT)
		}
		if b.budget.URAM > 0 {
			list = append(list, unit.StoreUltra)
		}
		return list
	}
	if !n.Op.Traits.Weighted || a.Mem != "" {
		return nil
	}
	ram := cmp.Or(a.Ram, m.Ram)
	if ram == plan.RamWords[0] {
		list = []string{"", unit.StoreBlock, unit.StoreLUT}
	}
	loads := plan.Outside(cmp.Or(a.Weights, m.Weights)) || b.loads && a.Weights == ""
	if loads && ram == plan.RamWords[0] && b.budget.URAM > 0 {
		list = append(list, unit.StoreUltra)
	}
	return list
}

// mayLoad says that UltraRAM may help where a budget is not met: the part has some, and the plan does not say that
// weights are in ROMs.
func (b *balancer) mayLoad(err error) bool {
	code := diag.CodeOf(err)
	return (code == diag.RateOverBudget || code == diag.OverBudget) && b.budget.URAM > 0 && b.plan.Fold.Memory.From == ""
}

// placedStores lists the stores that were moved.
func (b *balancer) placedStores(o *outcome) (list []unit.Store) {
	for i, n := range b.table.Nodes {
		for _, h := range memoriesOf(placed{i, o.foldings[n.Name]}) {
			word := *h.word()
			if word == "" {
				continue
			}
			here := b.weighed(h.placed)
			*h.word() = ""
			list = append(list, unit.Store{Node: n.Name, Lines: h.isLines, Memory: word,
				Why: b.exchange(b.weighed(h.placed), here)})
		}
	}
	return list
}

// exchange says what a cost takes more and less than another, without flip-flops.
func (b *balancer) exchange(from, to rtl.Cost) string {
	var more, less []string
	had := resources(b.budget, from)
	for i, r := range resources(b.budget, to) {
		switch d := r.has - had[i].has; {
		case r.name == "FF":
		case d > 0:
			more = append(more, fmt.Sprintf("%s %s", diag.Grouped(d), r.name))
		case d < 0:
			less = append(less, fmt.Sprintf("%s %s", diag.Grouped(-d), r.name))
		}
	}
	return fmt.Sprintf("%s instead of %s", strings.Join(more, " and "), strings.Join(less, " and "))
}
