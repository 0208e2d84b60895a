// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/dot"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/lower/schedule/balance"
	"lathe/lower/schedule/forms"
	"lathe/lower/schedule/timing"
	"lathe/lower/schedule/tokens"
	"lathe/rtl"
)

// Table has the layers of a graph with all their foldings, and what units they could not be weighed by.
type Table struct {
	Layers  []balance.Layer
	Nodes   []*ir.Node
	Laner   *laner
	wiring  *Wiring          // of units whose weights may be wired into sums; nil: none may
	units   *unit.Cache      // of one node at a time: most foldings are never asked for again
	turns   map[*ir.Node]int // of units that layers share
	Unknown []string         // modules that do not state what they cost
}

// Known holds the foldings of nodes by their names and shapes: those of nodes that the same plan made before.
type Known map[string]known

type known struct {
	options []balance.Option
	unknown []string
}

// TryFoldings evaluates the foldings of every node, of a graph with forks: all of them, or with a limit of cycles those
// that may be the cheapest within it, or as they are known. The first is the one that a node has by default. Wires and
// forks are no layers, since they have the lanes that arrive: who reads one reads what is behind it.
func TryFoldings(ctx context.Context, plan *plan.Fold, g *ir.Graph, limit int, w *Wiring,
	before Known) (*Table, error) {
	l := newLaner(plan, g)
	for _, n := range g.Nodes { // something legal everywhere first: nodes look at what arrives
		if !n.IsConst() {
			l.Node(n)
		}
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	t := &Table{Laner: l, wiring: w, turns: ring.Turns(g)}
	at := map[*ir.Node]int{}
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := op.LanesOf(n)
		if err != nil {
			return nil, err
		}
		if d.Follows() {
			at[n] = at[n.Args[0]]
			continue
		}
		layer := balance.Layer{Chain: l.chain(n)}
		if n.Type.Elems() > 0 {
			layer.Bits = n.Type.BeatWidth(1)
		}
		for _, a := range n.Streams() {
			layer.Args = append(layer.Args, at[a])
		}
		if layer.Options, err = t.once(before, l, n, limit); err != nil {
			return nil, err
		}
		at[n] = len(t.Layers)
		t.Layers, t.Nodes = append(t.Layers, layer), append(t.Nodes, n)
	}
	slices.Sort(t.Unknown)
	t.Unknown = slices.Compact(t.Unknown)
	return t, nil
}

// once are the options of a node that are known before, or from now on.
func (t *Table) once(before Known, l *laner, n *ir.Node, limit int) ([]balance.Option, error) {
	key := fmt.Sprint(limit, n.Name, n.Type.Shape)
	for _, a := range n.Args {
		key += fmt.Sprint(a.Type.Shape)
	}
	if have, ok := before[key]; ok {
		t.Unknown = append(t.Unknown, have.unknown...)
		return slices.Clone(have.options), nil
	}
	from := len(t.Unknown)
	options, err := t.options(l, n, limit)
	if err == nil && before != nil {
		before[key] = known{slices.Clone(options), slices.Clone(t.Unknown[from:])}
	}
	return options, err
}

// Unshare drops the options that share DSPs where the layer can do without, and says whether there were any: other
// lanes may then cost least, whose streams hold each other up less.
func (t *Table) Unshare() (had bool) {
	for i := range t.Layers {
		l := &t.Layers[i]
		if !slices.ContainsFunc(l.Options, func(o balance.Option) bool { return o.DSP == "one" }) {
			continue
		}
		before := len(l.Options)
		l.Options = slices.DeleteFunc(l.Options, func(o balance.Option) bool { return strings.HasPrefix(o.DSP, "pack") })
		had = had || len(l.Options) < before
	}
	return had
}

// guessed is the LUTs of a product in a unit that does not state its cost. It orders the foldings of such a unit, and
// is in no figure that anybody sees.
const guessed = 64

// options are the foldings of one node that are legal, evaluated, as tryFoldings says.
func (t *Table) options(l *laner, n *ir.Node, limit int) ([]balance.Option, error) {
	kept := n.HW
	defer func() { n.HW = kept }()
	t.units = &unit.Cache{Part: l.plan.Part, Forms: forms.Cheapest}
	e := evaluation{Table: t, node: n, known: map[Folding]int{}}
	e.option(foldingOf(n)) // first, so that it comes first among equals
	sharing := l.sharing(n)
	for _, length := range l.lengths(n) {
		l.Chosen = Foldings{n.Name: {row: length}}
		l.row(n, wishes{})
		d, err := op.LanesOf(n)
		if err != nil {
			return nil, err
		}
		for _, row := range proposals(d, length) {
			if limit > 0 && d.Product() {
				row = e.within(row, limit)
			}
			for _, f := range row {
				for _, f.dsp = range sharing {
					e.option(f)
				}
			}
		}
	}
	if t.wiring != nil && len(e.list) > 0 {
		e.wired()
	}
	l.Chosen, l.Errs = nil, nil
	if len(e.list) == 0 {
		return nil, e.first
	}
	return e.list, nil
}

// evaluation collects the options of one node.
type evaluation struct {
	*Table
	node  *ir.Node
	list  []balance.Option
	known map[Folding]int // places in the list; -1 for what is not legal
	first error
}

// option is the evaluated folding; nil if it is not legal.
func (e *evaluation) option(f Folding) *balance.Option {
	n, l := e.node, e.Laner
	l.Chosen = Foldings{n.Name: f}
	l.Errs = nil
	l.Node(n)
	if len(l.Errs) > 0 {
		return nil
	}
	f = foldingOf(n)
	at, seen := e.known[f]
	if !seen {
		at = e.add(f)
		e.known[f] = at
	}
	if at < 0 {
		return nil
	}
	return &e.list[at]
}

// Wiring is what decides whether an unrolled unit is weighed beside the foldings of a layer: these may take as many
// cycles as Cycles says, 0 where the fastest design is sought.
type Wiring struct {
	Cycles  int
	Weights balance.Weights
}

// Bounds of layers that are weighed unrolled without a rule. The sums of so many digits of weights are found in
// seconds, and no layer was ever counted with fewer LUTs for each digit.
const (
	mostDigits = 40_000
	leastLUTs  = 1.5
)

// wired adds the unrolled unit of the node, of whole elements and of the digits of the plan, for each stream that it
// may read, unless a folding that is fast enough weighs less than any such unit could.
func (e *evaluation) wired() {
	n := e.node
	d, err := op.LanesOf(n)
	if err != nil || !slices.Contains(d.Styles, ir.StyleUnroll) || len(n.InTurns()) > 1 {
		return
	}
	digits, ok := dot.Digits(n, mostDigits)
	if !ok {
		return
	}
	cycles := e.wiring.Cycles
	if cycles == 0 {
		cycles = slices.MinFunc(e.list, func(a, b balance.Option) int { return a.II - b.II }).II
	}
	least := e.wiring.Weights.Of(rtl.Cost{LUT: int(leastLUTs * float64(digits))})
	if e.Laner.plan.Sums.Digits > 0 { // a layer that comes digit by digit takes a fraction of that
		least = 0
	}
	if slices.ContainsFunc(e.list, func(o balance.Option) bool {
		return o.II <= cycles && e.wiring.Weights.Of(o.Cost) <= least
	}) {
		return
	}
	f := Folding{In: slices.Max(d.In.Legal), wired: true}
	if d.Product() {
		f.Out = slices.Max(d.Out.Legal)
	} else {
		f.In, f.Out = d.Tied(f.In)
	}
	for _, f.stream = range d.Streams(f.In, f.Out) {
		for _, f.digits = range slices.Compact([]int{0, e.Laner.plan.Sums.Digits}) {
			e.option(f)
		}
	}
}

// add evaluates the folding that the node has, and returns its place in the list, -1 for what is not legal.
func (e *evaluation) add(f Folding) int {
	n := e.node
	var u timing.Unit
	if err := timing.Of(e.units, n, e.turns[n], &u); err != nil {
		if e.first == nil {
			e.first = err
		}
		return -1
	}
	if !u.Costed && u.Module != "" {
		e.Unknown = append(e.Unknown, u.Module)
		u.Cost = rtl.Cost{LUT: guessed * f.In * f.Out}
	}
	e.list = append(e.list, balance.Option{Stream: f.stream, In: f.In, Out: n.HW.OutLanes, Asked: f.Out, II: u.II,
		Second: n.HW.Second, Row: f.row, DSP: f.dsp, Wired: f.wired, Digits: f.digits, Cost: u.Cost.Add(e.buffer(n))})
	return len(e.list) - 1
}

// within are the foldings of a row that may be the cheapest of those that take at most so many cycles: from the fewest
// lanes in that do to twice as many, which may save an adapter.
func (e *evaluation) within(row []Folding, limit int) []Folding {
	var last []int // of each number of lanes in the place with the widest stream
	for i, f := range row {
		if i > 0 && row[i-1].In == f.In {
			last = last[:len(last)-1]
		}
		last = append(last, i)
	}
	from := sort.Search(len(last), func(i int) bool {
		o := e.option(row[last[i]])
		return o != nil && o.II <= limit
	})
	if from == len(last) {
		return nil
	}
	least := row[last[from]].In
	return slices.DeleteFunc(row, func(f Folding) bool { return f.In < least || f.In > 2*least })
}

// buffer is the FIFO of a vector that a folded unit gets in front.
func (t *Table) buffer(n *ir.Node) rtl.Cost {
	beats, err := tokens.Front(t.units, n)
	if err == nil && beats > 1 && !tokens.Producer(n.Args[0]).Op.Traits.Source {
		return balance.Fifo(n.Args[0].Type.BeatWidth(n.HW.StreamIn), beats, t.units.Part.Technology())
	}
	return rtl.Cost{}
}

// proposals are the foldings of a unit whose rows of keys are so long, in rows of ascending lanes in.
func proposals(d *ir.Lanes, length int) (rows [][]Folding) {
	for _, out := range append([]int{0}, d.Out.Legal...) {
		if d.Product() == (out == 0) {
			continue
		}
		var row []Folding
		for _, lanes := range d.In.Legal {
			in, results := lanes, out
			if !d.Product() {
				in, results = d.Tied(lanes)
			}
			for _, s := range d.Streams(in, results) {
				row = append(row, Folding{In: in, Out: results, stream: s, row: length})
			}
		}
		rows = append(rows, row)
	}
	return rows
}
