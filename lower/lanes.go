// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
)

// Lanes where neither plan nor mode say more: enough to keep a small layer fast, few enough for a small device.
const (
	defaultIn  = 8
	defaultOut = 4
)

// laner decides the lanes of one graph.
type laner struct {
	g     *ir.Graph
	plan  *FoldPlan
	users map[*ir.Node][]*ir.Node
	taken map[*ir.Node]int // what takes has found
	errs  diag.List
	// chosen is what the balance mode chose, where rules say nothing.
	chosen foldings
	causes map[*ir.Node]string // what unpacked has found
	notes  []string
}

func newLaner(plan *FoldPlan, g *ir.Graph) *laner {
	return &laner{g: g, plan: plan, users: g.Users(), taken: map[*ir.Node]int{},
		causes: map[*ir.Node]string{}}
}

// chooseLanes gives every node its lanes, style and memory: rules first, then the mode. Errors: L0412 for lanes that do
// not divide.
func chooseLanes(s *State, g *ir.Graph) error {
	l := newLaner(&s.Plan.Fold, g)
	l.chosen = s.chosen
	hit := make(map[*FoldRule]bool)
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		for _, r := range l.plan.Rules {
			hit[r] = hit[r] || r.Covers(n)
		}
		l.node(n)
	}
	for _, r := range l.plan.Rules {
		if !hit[r] {
			s.Report.warnUnmatched(&r.Match, g)
		}
	}
	for _, note := range l.notes {
		s.Report.note("%s", note)
	}
	return l.errs.Err()
}

// asked is what the rules say of one node; 0 and "" where they say nothing. From names the rules that set the lanes;
// dspFrom only a rule with the whole name of the node.
type asked struct {
	in, out         int
	inFrom, outFrom string
	style           ir.Style
	mem             string
	dsp, dspFrom    string
}

func (l *laner) rules(n *ir.Node) asked {
	var a asked
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
		if a.mem == "" {
			a.mem = r.Mem
		}
		if a.dsp == "" && r.DSP != "" {
			a.dsp = r.DSP
			if r.Name == n.Name {
				a.dspFrom = r.From
			}
		}
	}
	l.chosen.fill(n, &a)
	if a.style == ir.StyleUndecided {
		a.style = ir.StyleFold
		if l.plan.Mode == "unroll" {
			a.style = ir.StyleUnroll
		}
	}
	if a.mem == "" {
		a.mem = "auto"
	}
	if a.dsp == "" {
		a.dsp = l.plan.DSP
	}
	return a
}

func (l *laner) node(n *ir.Node) {
	a := l.rules(n)
	l.lanes(n, a)
	l.multipliers(n, a)
}

// lanes decides lanes, style and memory.
func (l *laner) lanes(n *ir.Node, a asked) {
	_, byChannel := n.ChannelAxis()
	switch {
	case l.blocks(n, a):
	case n.Op == op.Input:
		l.same(n, a, l.wanted(n), n.Type.Elems(), "elements")
	case n.Op == op.Linear:
		l.linear(n, a)
	case n.Op == op.Conv:
		l.conv(n, a)
	case op.MoveLanes(n) != nil:
		l.moves(n, a, op.MoveLanes(n))
	case n.Op == op.ArgMax || n.Op.Traits.Axes != nil:
		l.reduces(n, a)
	case byChannel:
		channels := commonChannels(n)
		l.same(n, a, nearestDivisor(channels, arriving(n)), channels, "channels")
		if n.Op.Traits.Weighted {
			n.HW.Mem = a.mem
		}
	case n.Op.Traits.Wire || n.Op == op.Fork:
		lanes := n.Args[0].HW.OutLanes
		n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn = lanes, lanes, lanes
	default:
		l.same(n, a, nearestDivisor(n.Type.Elems(), arriving(n)), n.Type.Elems(), "elements")
	}
}

// same decides units that take and give equally many lanes: as asked, which must divide size, or as given.
func (l *laner) same(n *ir.Node, a asked, given, size int, things string) {
	lanes := given
	switch {
	case a.in > 0 && a.out > 0 && a.in != a.out:
		l.fail(n, a.outFrom, "%s has as many lanes in as out, not in_lanes %d and out_lanes %d", n.Op.Name, a.in, a.out)
	case a.in > 0:
		lanes = l.divides(n, "in_lanes", a.in, op.Divisors(size), size, things, a.inFrom)
	case a.out > 0:
		lanes = l.divides(n, "out_lanes", a.out, op.Divisors(size), size, things, a.outFrom)
	}
	n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn = lanes, lanes, lanes
}

// moves decides units that move elements: lanes that divide what moves as one, as many as arrive or, for a value that
// is repeated, as the other streams of its reader have.
func (l *laner) moves(n *ir.Node, a asked, legal []int) {
	lanes := arriving(n)
	if users := l.users[n]; n.Op == op.Repeat && len(users) == 1 {
		lanes = max(lanes, arriving(users[0]))
	}
	lanes = largest(legal, lanes)
	const things = "elements that move as one"
	size := legal[len(legal)-1]
	switch {
	case a.out > 0:
		lanes = l.divides(n, "out_lanes", a.out, legal, size, things, a.outFrom)
	case a.in > 0:
		lanes = l.divides(n, "in_lanes", a.in, legal, size, things, a.inFrom)
	}
	n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn, n.HW.Mem = lanes, lanes, lanes, a.mem
	if n.Op == op.Repeat {
		n.HW.InLanes = op.RepeatLanes(n, lanes)
		n.HW.StreamIn = n.HW.InLanes
	}
}

func (l *laner) linear(n *ir.Node, a asked) {
	shape := n.Args[1].Type.Shape
	in, out := largest(op.Divisors(shape[1]), defaultIn), largest(op.Divisors(shape[0]), defaultOut)
	if a.style == ir.StyleUnroll {
		in, out = shape[1], shape[0]
	}
	if a.in > 0 {
		in = l.divides(n, "in_lanes", a.in, op.Divisors(shape[1]), shape[1], "inputs", a.inFrom)
	}
	if a.out > 0 {
		out = l.divides(n, "out_lanes", a.out, op.Divisors(shape[0]), shape[0], "outputs", a.outFrom)
	}
	if a.style == ir.StyleUnroll && (in < shape[1] || out < shape[0]) {
		a.style = ir.StyleFold // lanes for one layer say more than the mode
	}
	n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn, n.HW.Style, n.HW.Mem = in, out, in, a.style, a.mem
}

func (l *laner) conv(n *ir.Node, a asked) {
	attrs := n.Attrs.(*op.ConvAttrs)
	g, err := op.NewGeometry(n.Args[0].Type.Shape, &attrs.Window)
	if err != nil {
		l.fail(n, "", "%v", err)
		return
	}
	if attrs.Depthwise(g, n.Args[1].Type.Shape[0]) {
		l.depthwise(n, a, g)
		return
	}
	legal, size := op.ConvLanes(g, attrs.Groups), g.KH*g.KW*g.C/attrs.Groups
	channels := n.Args[1].Type.Shape[0] / attrs.Groups
	in, out := largest(legal, defaultIn), largest(op.Divisors(channels), defaultOut)
	if a.style == ir.StyleUnroll {
		in, out = legal[len(legal)-1], channels
	}
	if a.in > 0 {
		in = l.divides(n, "in_lanes", a.in, legal, size, "kernel elements in whole channels or pixels", a.inFrom)
	}
	if a.out > 0 {
		out = l.divides(n, "out_lanes", a.out, op.Divisors(channels), channels, "output channels", a.outFrom)
	}
	// A convolution of all lanes is the folded unit that folds nothing.
	n.HW.InLanes, n.HW.OutLanes, n.HW.Style, n.HW.Mem = in, out, ir.StyleFold, a.mem
	n.HW.StreamIn = streamLanes(g.C, in, n.Args[0].HW.OutLanes)
	l.chosen.arrive(n)
}

// streamLanes chooses the lanes of the stream into a convolution of c channels with in parallel inputs: those that
// arrive where the window generator takes them, else the nearest below, else the fewest above. It takes divisors of c
// of which one of stream and in divides the other; whole pixels in parallel take any.
func streamLanes(c, in, arriving int) int {
	best := 0
	for _, d := range op.Divisors(c) {
		if in < c && d%in != 0 && in%d != 0 {
			continue
		}
		if d <= arriving || best == 0 {
			best = d
		}
	}
	return best
}

// wanted is how many lanes an input should have: what the first units behind it take, the most of them.
func (l *laner) wanted(n *ir.Node) int {
	lanes := 0
	for _, u := range l.users[n] {
		lanes = max(lanes, l.takes(u))
	}
	if lanes == 0 {
		return largest(op.Divisors(last(n.Type.Shape)), defaultIn)
	}
	return nearestDivisor(n.Type.Elems(), lanes)
}

// takes is how many lanes u takes at best; where it has no wish of its own, those that its readers take. 0: any.
func (l *laner) takes(u *ir.Node) int {
	a := l.rules(u)
	_, byChannel := u.ChannelAxis()
	switch {
	case op.NamesWindow(u):
		l.blockSum(u, a)
		return u.HW.InLanes
	case u.Op == op.Linear:
		l.linear(u, a)
		return u.HW.InLanes
	case byChannel:
		channels := commonChannels(u)
		if a.style == ir.StyleUnroll {
			return channels
		}
		return largest(op.Divisors(channels), defaultIn)
	case a.in > 0:
		return a.in
	case len(l.users[u]) == 0:
		return largest(op.Divisors(last(u.Type.Shape)), defaultIn)
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
	e := n.Errorf("L0412", msg, args...)
	if from != "" {
		e = e.WithNote("set by %s", from)
	}
	l.errs = append(l.errs, e)
	return e
}

// divides returns lanes where it is legal; otherwise it reports the nearest legal ones.
func (l *laner) divides(n *ir.Node, key string, lanes int, legal []int, size int, things, from string) int {
	wrong := op.CheckLanes(n, key, lanes, legal, size, things)
	if wrong == nil {
		return lanes
	}
	for _, e := range l.errs { // an input asks its reader first: one message is enough
		if e.Pos == wrong.Pos && strings.HasPrefix(e.Msg, key) {
			return legal[0]
		}
	}
	if from != "" {
		wrong = wrong.WithNote("set by %s", from)
	}
	l.errs = append(l.errs, wrong)
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
func nearestDivisor(size, lanes int) int { return largest(op.Divisors(size), lanes) }

func last(shape []int) int {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}

// blocks decides the lanes of n where blocks are in play, and says whether they are: beats do not cross the borders of
// blocks.
func (l *laner) blocks(n *ir.Node, a asked) bool {
	t, found := n.Type, n.Type.InBlocks()
	for _, x := range n.Args {
		if !found && x.Type.InBlocks() && !x.IsConst() {
			t, found = x.Type, true
		}
	}
	switch {
	case op.NamesWindow(n):
		l.blockSum(n, a)
		return true
	case !found || n.Op.Traits.Wire:
		return false
	}
	legal := op.BlockLanes(t)
	given := defaultIn
	if n.Op == op.Input {
		given = l.wanted(n)
	} else {
		given = arriving(n)
	}
	most := legal[len(legal)-1]
	l.same(n, a, largest(legal, given), most, "elements of every block")
	return true
}

// blockSum decides a linear or convolution over blocks: inputs a beat, and rows, the outputs computed at once. How many
// of those leave a beat follows from both.
func (l *laner) blockSum(n *ir.Node, a asked) {
	lengths, err := op.SumLengths(n)
	if err != nil {
		l.fail(n, "", "%s", message(err))
		return
	}
	legal := op.Divisors(op.CommonLength(lengths))
	outs := n.Args[1].Type.Shape[0]
	in, rows := largest(legal, defaultIn), largest(op.Divisors(outs), defaultOut)
	if a.style == ir.StyleUnroll {
		in, rows = legal[len(legal)-1], outs
	}
	if a.in > 0 {
		in = l.divides(n, "in_lanes", a.in, legal, legal[len(legal)-1], "elements of every block", a.inFrom)
	}
	if a.out > 0 {
		rows = l.divides(n, "out_lanes", a.out, op.Divisors(outs), outs, "outputs", a.outFrom)
	}
	n.HW.InLanes, n.HW.StreamIn, n.HW.Rows, n.HW.OutLanes = in, in, rows, op.Drain(rows, in, lengths)
	n.HW.Style, n.HW.Mem = ir.StyleFold, a.mem
}
