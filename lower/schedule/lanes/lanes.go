// SPDX-License-Identifier: Apache-2.0

// Package lanes decides what the unit of each node is like: its lanes, its style, where its weights and lines lie, what
// multiplies; and tries the foldings that a node may have.
package lanes

import (
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/lane"
	"lathe/ir/unit"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Lanes where neither plan nor mode say more: enough to keep a small layer fast, few enough for a small device.
const (
	defaultIn  = 8
	defaultOut = 4
)

// laner decides the lanes of one graph.
type laner struct {
	g     *ir.Graph
	plan  *plan.Fold
	users map[*ir.Node][]*ir.Node
	taken map[*ir.Node]int // what takes has found
	Errs  diag.List
	// chosen is what the modes lean and balance chose, where rules say nothing.
	Chosen Foldings
	causes map[dspWish]dspCause // what notDSP has found
	notes  []string
	asked  map[string]*request  // by rules, and the keys of each
	padded map[*ir.Node]*padded // the rows of keys that may end in dead lanes, by the nodes that know of them
}

func newLaner(plan *plan.Fold, g *ir.Graph) *laner {
	l := &laner{g: g, plan: plan, users: g.Users(), taken: map[*ir.Node]int{}, causes: map[dspWish]dspCause{},
		asked: map[string]*request{}}
	l.padded = findPadded(g, l.users)
	return l
}

// Choose gives every node its lanes, style and memory: rules first, then the mode. Errors: L0412 for lanes that do
// not divide.
func Choose(g *ir.Graph, fold *plan.Fold, chosen Foldings, units *unit.Cache, report *pass.Report) error {
	l := newLaner(fold, g)
	l.Chosen = chosen
	// Rules that cover nodes, some with windows, some with words in a memory.
	hit, rows, words := make(map[*plan.FoldRule]bool), make(map[*plan.FoldRule]bool), make(map[*plan.FoldRule]bool)
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		for _, r := range l.plan.Rules {
			covers := r.Covers(n)
			hit[r], rows[r] = hit[r] || covers, rows[r] || covers && n.Op.Traits.Windows
			words[r] = words[r] || covers && r.Mem != "" && keepsWords(n)
		}
		l.Node(n)
	}
	for _, r := range l.plan.Rules {
		switch {
		case !hit[r]:
			report.Warn("%s", r.Unmatched(g))
		case r.Lines != "" && !rows[r]:
			report.Warn("%s: line_mem changes nothing: only convolutions and pools have a line buffer", r.From)
		case r.Mem != "" && r.Mem != "auto" && !words[r]:
			report.Warn("%s: mem changes nothing: no node of the rule keeps weights or frames in a memory", r.From)
		}
	}
	unrolled := func(n *ir.Node) bool { return n.HW.Style == ir.StyleUnroll }
	if from := fold.SumsFrom; from != "" && !fold.AutoUnroll && !slices.ContainsFunc(g.Nodes, unrolled) {
		report.Warn("%s changes nothing: no layer is unrolled", from)
	}
	l.settle(units, g)
	l.settleCaches(units, g)
	for _, note := range l.notes {
		report.Note("%s", note)
	}
	return l.err()
}

func keepsWords(n *ir.Node) bool {
	d, err := op.LanesOf(n)
	return err == nil && d.Mem
}

// wishes are what the rules say of one node; 0 and "" where they say nothing. From names the rules that set the lanes;
// dspFrom only a rule with the whole name of the node.
type wishes struct {
	in, out         int
	inFrom, outFrom string
	style           ir.Style
	shared          bool   // unrolled by wish, but the unit is one for several layers
	Mem, Lines      string // of constants and of line buffers
	dsp, dspFrom    string
	// weightsFrom is the rule that says where weights live, "" where none does.
	Weights, weightsFrom string
	// ram is the RAM of weights that are loaded, ramFrom the rule that says so.
	Ram, ramFrom string
}

// Ruled is what the rules alone say.
func (l *laner) Ruled(n *ir.Node) wishes {
	var a wishes
	for _, r := range l.plan.Rules {
		if !r.Covers(n) {
			continue
		}
		if a.in == 0 && r.InLanes > 0 {
			a.in, a.inFrom = r.InLanes, r.From
		}
		if a.out == 0 && r.OutLanes > 0 {
			a.out, a.outFrom = r.OutLanes, r.From
		}
		if a.style == ir.StyleUndecided {
			a.style = r.Style
		}
		if a.Mem == "" {
			a.Mem = r.Mem
		}
		if a.Lines == "" {
			a.Lines = r.Lines
		}
		if a.Weights == "" && r.Weights != "" {
			a.Weights, a.weightsFrom = r.Weights, r.From
		}
		if a.Ram == "" && r.Ram != "" {
			a.Ram, a.ramFrom = r.Ram, r.From
		}
		if a.dsp == "" && r.DSP != "" {
			a.dsp = r.DSP
			if r.Name == n.Name {
				a.dspFrom = r.From
			}
		}
	}
	return a
}

// rules is what the rules say, else what the mode does.
func (l *laner) rules(n *ir.Node) wishes {
	a := l.Ruled(n)
	l.Chosen.fill(n, &a)
	if a.style == ir.StyleUndecided {
		a.style = ir.StyleFold
		if l.plan.Mode == "unroll" {
			a.style = ir.StyleUnroll
		}
	}
	if a.style == ir.StyleUnroll && len(n.InTurns()) > 1 {
		a.style, a.shared = ir.StyleFold, true
	}
	if a.Weights == "" {
		a.Weights = l.plan.Memory.Weights
	}
	l.Chosen.store(n, &a)
	if a.Mem == "" {
		a.Mem = "auto"
	}
	if a.dsp = l.dsp(a); a.dsp == "auto" {
		a.dsp = l.Chosen.multipliers(n)
	}
	return a
}

func (l *laner) Node(n *ir.Node) {
	a := l.rules(n)
	l.row(n, a)
	l.lanes(n, a)
	l.multipliers(n, a)
	l.weights(n, a)
	l.cache(n)
}

// lanes decides lanes, style and memory of n: what is asked for, else what its operation has by default.
func (l *laner) lanes(n *ir.Node, a wishes) {
	d, err := op.LanesOf(n)
	switch {
	case err != nil:
		l.fail(n, "", "%s", diag.Message(err))
	case d.Follows():
		lanes := n.Args[0].HW.OutLanes
		if enters := l.g.Find(n.HW.Back); enters != nil { // which takes what comes back beside what it follows
			lanes = enters.HW.OutLanes
		}
		d.Set(&n.HW, lanes, lanes, lanes)
	default:
		var in, out int
		if d.Product() {
			in, out = l.product(n, a, d)
		} else {
			in, out = l.tied(n, a, d)
		}
		d.Set(&n.HW, in, out, l.stream(n, d, in, out))
		if l.unrolls(n, a, d, in, out) || n.Op.Each != nil {
			n.HW.Sums = l.Chosen.sums(n, l.plan.Sums)
		}
		if d.Mem {
			n.HW.Mem = a.Mem
		}
		if n.HW.Lines = ""; n.Op.Traits.Windows && a.Lines != "auto" {
			n.HW.Lines = a.Lines
		}
	}
}

// product decides a unit that computes in by out products at once.
func (l *laner) product(n *ir.Node, a wishes, d *ir.Lanes) (in, out int) {
	in, out = largest(d.In.Legal, defaultIn), largest(d.Out.Legal, defaultOut)
	if a.style == ir.StyleUnroll {
		in, out = slices.Max(d.In.Legal), slices.Max(d.Out.Legal)
	}
	if a.in > 0 {
		in = l.divides(n, "in_lanes", a.in, d.In, a.inFrom)
	}
	if a.out > 0 {
		out = l.divides(n, "out_lanes", a.out, d.Out, a.outFrom)
	}
	return in, out
}

// tied decides a unit whose lanes on both sides follow from one number: as asked, or by the pace of what arrives.
func (l *laner) tied(n *ir.Node, a wishes, d *ir.Lanes) (in, out int) {
	if a.in == 0 && a.out == 0 {
		if a.style == ir.StyleUnroll && len(d.Styles) > 0 {
			return d.Tied(slices.Max(d.In.Legal))
		}
		return d.Tied(largest(d.In.Legal, l.pace(n, d)))
	}
	if d.Tie == nil && a.in > 0 && a.out > 0 && a.in != a.out {
		l.fail(n, a.outFrom, "%s has as many lanes in as out, not in_lanes %d and out_lanes %d", n.Op.Name, a.in, a.out)
		return d.Tied(largest(d.In.Legal, l.pace(n, d)))
	}
	ins, outs, fits := d.In, d.In, d.In
	ins.Legal, outs.Legal, fits.Legal = nil, nil, nil
	for _, lanes := range d.In.Legal {
		in, out := d.Tied(lanes)
		ins.Legal, outs.Legal = append(ins.Legal, in), append(outs.Legal, out)
		if (a.in == 0 || a.in == in) && (a.out == 0 || a.out == out) {
			fits.Legal = append(fits.Legal, lanes)
		}
	}
	switch {
	case len(fits.Legal) > 0:
		return d.Tied(largest(fits.Legal, l.pace(n, d)))
	case a.in > 0 && !slices.Contains(ins.Legal, a.in):
		l.divides(n, "in_lanes", a.in, ins, a.inFrom)
	case a.in == 0 && slices.Max(outs.Legal) > slices.Min(outs.Legal):
		l.divides(n, "out_lanes", a.out, outs, a.outFrom)
	default:
		in, out = d.Tied(largest(d.In.Legal, max(a.in, 1)))
		l.fail(n, a.outFrom, "%s gives %d lanes for %d in, not out_lanes %d", n.Op.Name, out, in, a.out)
	}
	return d.Tied(d.In.Legal[0])
}

// pace is how many lanes n should have: what arrives; of an input, what its readers take; of what meets other streams,
// what those have.
func (l *laner) pace(n *ir.Node, d *ir.Lanes) int {
	if n.Op.Traits.Source {
		return l.wanted(n)
	}
	lanes := arriving(n)
	if users := l.users[n]; d.Meets && len(users) == 1 {
		lanes = max(lanes, arriving(users[0]))
	}
	return lanes
}

// stream is the lanes of the beats into n: as lean or balance chose, else those that arrive where the unit takes them,
// else the nearest below, else the fewest above.
func (l *laner) stream(n *ir.Node, d *ir.Lanes, in, out int) int {
	legal := d.Streams(in, out)
	if c, ok := l.Chosen[n.Name]; ok && slices.Contains(legal, c.stream) {
		return c.stream
	}
	return largest(legal, arriving(n))
}

// wanted is how many lanes an input should have: what the first units behind it take, the most of them.
func (l *laner) wanted(n *ir.Node) int {
	lanes := 0
	for _, u := range l.users[n] {
		lanes = max(lanes, l.takes(u))
	}
	if lanes == 0 {
		return largest(lane.Divisors(n.Type.Row()), defaultIn)
	}
	if n.HW.Tokens > 0 {
		return nearestDivisor(n.Type.OfToken(), lanes)
	}
	return nearestDivisor(n.Type.Elems(), lanes)
}

// takes is how many lanes u takes at best; where it has no wish of its own, those that its readers take. 0: any.
func (l *laner) takes(u *ir.Node) int {
	a := l.rules(u)
	l.row(u, a)
	_, byChannel := u.ChannelAxis()
	d, err := op.LanesOf(u)
	switch {
	case err != nil:
		return 0 // as u itself will say
	case d.Product() && d.Stream == nil:
		in, _ := l.product(u, a, d)
		return in
	case byChannel:
		channels := lane.CommonChannels(u)
		if a.style == ir.StyleUnroll {
			return channels
		}
		return largest(lane.Divisors(channels), defaultIn)
	case a.in > 0:
		return a.in
	case len(l.users[u]) == 0:
		return largest(lane.Divisors(u.Type.Row()), defaultIn)
	}
	if _, known := l.taken[u]; !known {
		l.taken[u] = 0
		for _, next := range l.users[u] {
			l.taken[u] = max(l.taken[u], l.takes(next))
		}
	}
	return l.taken[u]
}

func (l *laner) fail(n *ir.Node, from, msg string, args ...any) *diag.Error {
	e := n.Errorf(diag.LanesDivide, msg, args...)
	if from != "" {
		e = e.WithNote("set by %s", from)
	}
	l.Errs = append(l.Errs, e)
	return e
}

// divides returns lanes where it is legal; otherwise it reports the nearest legal ones.
func (l *laner) divides(n *ir.Node, key string, lanes int, c ir.Count, from string) int {
	legal := c.Legal
	wrong := lane.Check(n, key, lanes, legal, c.Size, c.Things)
	if wrong == nil {
		l.ask(from, key, lanes, legal, nil)
		return lanes
	}
	for _, e := range l.Errs { // an input asks its reader first: one message is enough
		if e.Pos == wrong.Pos && strings.HasPrefix(e.Msg, key) {
			return legal[0]
		}
	}
	if from != "" {
		wrong = wrong.WithNote("set by %s", from)
	}
	l.ask(from, key, lanes, legal, wrong)
	l.Errs = append(l.Errs, wrong)
	return legal[0]
}

// largest is the greatest of the ascending values that is at most limit; the least if none is.
func largest(values []int, limit int) int {
	best := values[0]
	for _, v := range values {
		if v <= limit {
			best = v
		}
	}
	return best
}

// nearestDivisor of size to lanes, rather below than above.
func nearestDivisor(size, lanes int) int { return largest(lane.Divisors(size), lanes) }

// arriving is the lanes of the widest stream into n: a unit of several keeps the pace of the fastest.
func arriving(n *ir.Node) int {
	lanes := 1
	for _, a := range n.Streams() {
		lanes = max(lanes, a.HW.OutLanes)
	}
	return lanes
}
