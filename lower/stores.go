// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/balance"
	"lathe/rtl"
)

// What the balance mode does with the weights or the line buffer of a layer that would be beyond the bounds where
// synthesis puts them: stores are the memories that it moves them to. UltraRAM has no initial contents, so weights in
// it are loaded; a line buffer is written before it is read.
const (
	storeBlock = "block"
	storeLUT   = "distributed"
	storeUltra = "ultra"
)

// deepest is the most words that weights in LUTs have: what picks a word of more would be the slowest path of a design.
const deepest = 1024

// deepestLUTs are the LUTs for each bit of so many words: one of 56 bits, and what picks a word.
const deepestLUTs = 23

// Store is where the balance mode puts the weights of a node, or its line buffer.
type Store struct {
	Node string `json:"node"`
	// Lines says that it is the line buffer: the memory of rows of a window.
	Lines bool `json:"lines,omitempty"`
	// Memory is block, distributed or ultra, as of keys of the plan; weights in ultra are loaded after reset.
	Memory string `json:"memory"`
	// Why is what it takes there and what it took elsewhere.
	Why string `json:"why"`
}

// Holds says what the store holds, in words.
func (s Store) Holds() string {
	if s.Lines {
		return "line buffer"
	}
	return "weights"
}

// Place says where that lies, in words.
func (s Store) Place() string {
	switch {
	case s.Memory == storeLUT:
		return "in LUTs"
	case s.Memory == storeBlock:
		return "in block RAM"
	case s.Lines:
		return "in UltraRAM"
	}
	return "in UltraRAM, loaded after reset"
}

// placed is a layer with a folding.
type placed struct {
	layer int
	folding
}

// held is one memory of a layer: its line buffer, or that of its weights.
type held struct {
	placed
	isLines bool
}

// word is where it lies: a word of stores, "" where synthesis puts it.
func (h *held) word() *string {
	if h.isLines {
		return &h.lines
	}
	return &h.store
}

// stored is what a unit takes with one of its memories in a store.
type stored struct {
	word string
	cost rtl.Cost
}

// foldings are those of a choice of options.
func (t *tried) foldings(picks []int) foldings {
	chosen := foldings{}
	for i, n := range t.nodes {
		o := t.layers[i].Options[picks[i]]
		chosen[n.Name] = folding{o.In, o.Asked, o.Stream, o.Row, o.Wired, o.DSP, "", ""}
	}
	return chosen
}

// store puts weights and line buffers where they were moved to.
func (f foldings) store(n *ir.Node, a *asked) {
	if word := f[n.Name].lines; word != "" {
		a.lines = word
	}
	switch word := f[n.Name].store; word {
	case "":
	case storeUltra:
		a.ram = storeUltra
		if !outside(a.weights) {
			a.weights = "hold"
		}
	default:
		a.mem = word
	}
}

// moved is a choice with weights and line buffers in other memories so that a design, which takes so much, keeps the
// budget: nil where it does, where nothing helps, and beyond so many rounds.
func (b *balancer) moved(chosen foldings, cost rtl.Cost, round int) foldings {
	if round > rounds || b.over(cost) == nil {
		return nil
	}
	var from []held
	var lists [][]stored
	var stores []balance.Store
	for i, n := range b.tried.nodes {
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
		name := b.tried.nodes[h.layer].Name
		h.folding = next[name]
		*h.word() = lists[i][at[i]].word
		next[name] = h.folding
	}
	return next
}

// memoriesOf are the memories that a layer may have.
func memoriesOf(p placed) [2]held { return [2]held{{p, false}, {p, true}} }

// memories are the stores that a memory of a layer can be, with what its unit takes then: first that where it lies.
func (b *balancer) memories(h held) []stored {
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
func (b *balancer) tooDeep(h held) bool {
	switch {
	case *h.word() != storeLUT:
		return false
	case !h.isLines:
		return b.tried.nodes[h.layer].Args[1].Type.Elems() > deepest*h.in*h.out
	}
	here := b.weighed(h.placed)
	*h.word() = storeBlock
	more := here.Add(b.weighed(h.placed).Times(-1))
	return more.LUT > deepestLUTs*more.FF
}

// weighed is what the unit of a layer takes, by a plan that the schedule takes again.
func (b *balancer) weighed(p placed) rtl.Cost {
	n, l := b.tried.nodes[p.layer], b.tried.laner
	kept := n.HW
	defer func() { n.HW, l.chosen, l.errs = kept, nil, nil }()
	l.chosen = foldings{n.Name: p.folding}
	l.node(n)
	facts, err := b.opts.Units.Facts(n)
	if err != nil { // it has been planned before
		return rtl.Cost{}
	}
	return facts.Cost
}

// words are the stores that the plan leaves open for a memory; "" is where synthesis puts it.
func (b *balancer) words(h held) (list []string) {
	n := b.tried.nodes[h.layer]
	a, m := b.tried.laner.ruled(n), &b.plan.Fold.Memory
	if h.isLines {
		switch {
		case !n.Op.Traits.Windows || a.lines != "":
			return nil
		case b.budget.URAM > 0:
			list = []string{storeUltra}
		}
		return append([]string{"", storeBlock, storeLUT}, list...)
	}
	if !n.Op.Traits.Weighted || a.mem != "" {
		return nil
	}
	ram := cmp.Or(a.ram, m.Ram)
	if ram == ramWords[0] {
		list = []string{"", storeBlock, storeLUT}
	}
	loads := outside(cmp.Or(a.weights, m.Weights)) || b.loads && a.weights == ""
	if loads && ram == ramWords[0] && b.budget.URAM > 0 {
		list = append(list, storeUltra)
	}
	return list
}

// mayLoad says that UltraRAM may help where a budget is not met: the part has some, and the plan does not say that
// weights are in ROMs.
func (b *balancer) mayLoad(err error) bool {
	code := diag.CodeOf(err)
	return (code == "L0456" || code == "L0457") && b.budget.URAM > 0 && b.plan.Fold.Memory.From == ""
}

// placedStores lists the stores that were moved.
func (b *balancer) placedStores(d *scheduled) (list []Store) {
	for i, n := range b.tried.nodes {
		for _, h := range memoriesOf(placed{i, d.chosen[n.Name]}) {
			word := *h.word()
			if word == "" {
				continue
			}
			here := b.weighed(h.placed)
			*h.word() = ""
			list = append(list, Store{n.Name, h.isLines, word, b.exchange(b.weighed(h.placed), here)})
		}
	}
	return list
}

// store writes where weights and the line buffer of a node were moved to, as comments.
func (t *planText) store(b *Balance, node string) {
	if b == nil {
		return
	}
	for _, s := range b.Stores {
		switch {
		case s.Node != node:
		case s.Lines:
			t.line("# line_mem = %q # %s", s.Memory, s.Why)
		case s.Memory == storeUltra:
			t.line("# weights = \"hold\" # %s\n# ram = %q", s.Why, s.Memory)
		default:
			t.line("# mem = %q # %s", s.Memory, s.Why)
		}
	}
}

// exchange says what a cost takes more and less than another, without flip-flops.
func (b *balancer) exchange(from, to rtl.Cost) string {
	var more, less []string
	had := b.budget.resources(from)
	for i, r := range b.budget.resources(to) {
		switch d := r.has - had[i].has; {
		case r.name == "FF":
		case d > 0:
			more = append(more, fmt.Sprintf("%s %s", grouped(d), r.name))
		case d < 0:
			less = append(less, fmt.Sprintf("%s %s", grouped(-d), r.name))
		}
	}
	return fmt.Sprintf("%s instead of %s", strings.Join(more, " and "), strings.Join(less, " and "))
}
