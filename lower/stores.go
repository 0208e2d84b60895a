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

// What the balance mode does with the weights of a layer that would be beyond the bounds where synthesis puts them:
// stores are the memories that it moves them to. UltraRAM has no initial contents, so words for it are loaded.
const (
	storeBlock = "block"
	storeLUT   = "distributed"
	storeUltra = "ultra"
)

// deepest is the most words that weights in LUTs have: what picks a word of more would be the slowest path of a design.
const deepest = 1024

// Store is where the balance mode puts the weights of a node.
type Store struct {
	Node string `json:"node"`
	// Memory is block, distributed or ultra, as of keys of the plan; weights in ultra are loaded after reset.
	Memory string `json:"memory"`
	// Why is what it takes there and what it took elsewhere.
	Why string `json:"why"`
}

// Place says where the weights lie, in words.
func (s Store) Place() string {
	switch s.Memory {
	case storeLUT:
		return "in LUTs"
	case storeUltra:
		return "in UltraRAM, loaded after reset"
	}
	return "in block RAM"
}

// placed is a layer with a folding.
type placed struct {
	layer int
	folding
}

// stored is what a unit takes with its weights in a memory.
type stored struct {
	word string
	cost rtl.Cost
}

// foldings are those of a choice of options.
func (t *tried) foldings(picks []int) foldings {
	chosen := foldings{}
	for i, n := range t.nodes {
		o := t.layers[i].Options[picks[i]]
		chosen[n.Name] = folding{o.In, o.Asked, o.Stream, o.Row, o.DSP, ""}
	}
	return chosen
}

// store puts weights where they were moved to.
func (f foldings) store(n *ir.Node, a *asked) {
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

// moved is a choice with stores of weights in other memories so that a design, which takes so much, keeps the budget:
// nil where it does, where nothing helps, and beyond so many rounds.
func (b *balancer) moved(chosen foldings, cost rtl.Cost, round int) foldings {
	if round > rounds || b.over(cost) == nil {
		return nil
	}
	var names []string
	var lists [][]stored
	var stores []balance.Store
	for i, n := range b.tried.nodes {
		if list := b.memories(placed{i, chosen[n.Name]}); list != nil {
			costs := make(balance.Store, len(list))
			for k, m := range list {
				costs[k] = m.cost
			}
			names, lists, stores = append(names, n.Name), append(lists, list), append(stores, costs)
		}
	}
	bounds := rtl.Cost{LUT: b.budget.LUT, FF: b.budget.FF, DSP: b.budget.DSP, BRAM: 2 * b.budget.BRAM, URAM: b.budget.URAM}
	at, sum := balance.Place(stores, make([]int, len(stores)), cost, bounds)
	if b.over(sum) != nil {
		return nil
	}
	next := maps.Clone(chosen)
	for i, name := range names {
		f := next[name]
		f.store = lists[i][at[i]].word
		next[name] = f
	}
	return next
}

// memories are those that the weights of a layer can lie in, with what its unit takes then: first that where they lie.
func (b *balancer) memories(p placed) []stored {
	if list, known := b.stores[p]; known {
		return list
	}
	n, is := b.tried.nodes[p.layer], p.store
	var list []stored
	if words := b.words(n); words != nil {
		list = append(list, stored{is, b.weighed(p)})
		for _, p.store = range words {
			if p.store != is && (p.store != storeLUT || n.Args[1].Type.Elems() <= deepest*p.in*p.out) {
				list = append(list, stored{p.store, b.weighed(p)})
			}
		}
		p.store = is
	}
	b.stores[p] = list
	return list
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

// words are the memories that the plan leaves open for the weights of n; "" is where synthesis puts them.
func (b *balancer) words(n *ir.Node) (list []string) {
	a, m := b.tried.laner.ruled(n), &b.plan.Fold.Memory
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
		f := d.chosen[n.Name]
		if f.store == "" {
			continue
		}
		here := b.weighed(placed{i, f})
		word := f.store
		f.store = ""
		list = append(list, Store{n.Name, word, b.exchange(b.weighed(placed{i, f}), here)})
	}
	return list
}

// store writes where weights of a node were moved to, as a comment.
func (t *planText) store(b *Balance, node string) {
	if b == nil {
		return
	}
	for _, s := range b.Stores {
		switch {
		case s.Node != node:
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
