// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/schedule/tokens/beat"
)

// sizer looks for the FIFOs of a graph that has one on every branch of its forks.
type sizer struct {
	g      *ir.Graph
	frames int
	on     map[*ir.Node]bool // branches whose FIFO is needed
	late   map[*ir.Node]bool // those of them that are block RAM
	// guessed are those of them that are taken for block RAM before they are measured.
	guessed map[*ir.Node]bool
	turns   map[*ir.Node]int  // branches that no fork feeds, and the beats that they ever need
	proven  map[*ir.Node]bool // branches whose FIFO is needed, whatever others there are
	known   *known
	net     *net           // of the last run
	quiet   map[string]ran // runs with all places, by the FIFOs that they had
	pace    float64        // cycles between the samples of an input; 0: as fast as they are taken
	ctx     context.Context
	users   map[*ir.Node][]*ir.Node
}

// ran is a net behind its run.
type ran struct {
	net   *net
	times *Times
}

// depths computes how deep each of the FIFO nodes called branches must be, which insert made, so that the design
// neither stops nor waits for them: the most beats that a FIFO without an end would hold, and one more. 0: no FIFO is
// needed. The depths in the graph do not count. ii is the cycles of a sample with them, in a steady run where there is
// time for one. Error L0433 for a design that stops all the same.
//
// Registers that move together have fewer places for beats that come with gaps. What must never happen, a design that
// stops, is therefore looked at with one place for each such row, and how fast it is without stalls with all.
//
// A design that does not stop with these depths and places in one run does not stop in any: its units are determinate,
// and a beat that moves never takes from another the chance to move.
func depths(ctx context.Context, g *ir.Graph, branches []*ir.Node, known *known) (depth map[*ir.Node]int, ii float64,
	err error) {
	s, err := newSizer(ctx, g, branches, known)
	if err != nil {
		return nil, 0, err
	}
	for {
		if depth, ii, err = s.sized(branches); err != nil {
			return nil, 0, err
		}
		if 2*framesFor(g, known) > affordable(g, known) {
			return depth, ii, nil
		}
		t, frames, err := steady(g, known, func(frames int) (*Times, error) { return s.with(branches, depth, frames) })
		if err != nil {
			return nil, 0, err
		}
		if frames <= s.frames || t.II() <= ii+slack {
			return depth, t.II(), nil
		}
		s.longer(frames)
	}
}

// sized are the depths that the samples of one run ask for, and the cycles of a sample with FIFOs without end.
func (s *sizer) sized(branches []*ir.Node) (depth map[*ir.Node]int, ii float64, err error) {
	if err := s.untilItRuns(branches); err != nil {
		return nil, 0, err
	}
	if err := s.untilItIsFast(branches); err != nil {
		return nil, 0, err
	}
	if err := s.prune(branches); err != nil {
		return nil, 0, err
	}
	return s.measure(branches)
}

func newSizer(ctx context.Context, g *ir.Graph, branches []*ir.Node, known *known) (*sizer, error) {
	turns, err := turns(g, branches, known)
	return &sizer{ctx: ctx, g: g, users: g.Users(), frames: framesFor(g, known), on: map[*ir.Node]bool{},
		late: map[*ir.Node]bool{}, known: known, guessed: map[*ir.Node]bool{}, turns: turns,
		proven: map[*ir.Node]bool{}, quiet: map[string]ran{}}, err
}

// turns lists the branches that no fork feeds, and the beats that gather at each.
func turns(g *ir.Graph, branches []*ir.Node, known *known) (map[*ir.Node]int, error) {
	found, users := map[*ir.Node]int{}, g.Users()
	for _, b := range branches {
		before, err := known.of(b.Args[0])
		if err != nil {
			return nil, err
		}
		if before.fork() {
			continue
		}
		reader := users[b][0]
		u, err := known.of(reader)
		if err != nil {
			return nil, err
		}
		found[b] = u.turnBeats(streamOf(reader, slices.Index(reader.Args, b)))
	}
	return found, nil
}

// run simulates with the chosen FIFOs without end and the other branches without FIFO.
func (s *sizer) run(branches []*ir.Node, frames int, worst bool) (t *Times, err error) {
	o := options{frames: frames, worst: worst, known: s.known, depth: func(n *ir.Node) (int, bool) {
		switch {
		case !slices.Contains(branches, n):
			return scheduled(n)
		case s.on[n] && s.turns[n] > 0:
			return s.turns[n], s.late[n]
		case s.on[n]:
			return beat.Unlimited, s.late[n]
		}
		return 0, false
	}}
	if !worst {
		o.pace = s.pace
	}
	if s.net, err = build(s.g, o); err != nil {
		return nil, err
	}
	return s.net.times(s.ctx, len(s.g.Out))
}

// undisturbed is run with all places. It runs once for the same FIFOs.
func (s *sizer) undisturbed(branches []*ir.Node) (*Times, error) {
	key := make([]byte, len(branches))
	for i, b := range branches {
		if s.on[b] {
			key[i] = 1
		}
		if s.late[b] {
			key[i] |= 2
		}
	}
	if r, known := s.quiet[string(key)]; known {
		s.net = r.net
		return r.times, nil
	}
	t, err := s.run(branches, s.frames, false)
	if err == nil {
		s.quiet[string(key)] = ran{s.net, t}
	}
	return t, err
}

// worstFrames is how many frames show whether a design stops: one that is on its way out holds up the next, and that
// one a third.
const worstFrames = 4

func (s *sizer) worst(branches []*ir.Node) (*Times, error) {
	return s.run(branches, min(s.frames, worstFrames), true)
}

// untilItRuns adds FIFOs until the design does not stop in the first frame. Nearly all are found there.
func (s *sizer) untilItRuns(branches []*ir.Node) error {
	t, err := s.run(branches, 1, true)
	if err != nil {
		return err
	}
	if err := s.release(branches, t); err != nil {
		return err
	}
	for b := range s.on {
		if s.net.loads[b].Most > likelyDeep {
			s.late[b], s.guessed[b] = true, true
		}
	}
	return nil
}

// likelyDeep is how many beats a FIFO must have held in a run that has stopped in between, whose cycles are no real
// ones, to be taken for block RAM before it is measured.
const likelyDeep = 2 * beat.BlockRAM

// release adds FIFOs until the net of the last run does not stop: each where a fork is held up by a branch that leads
// to units which wait for another branch of the same fork. The run goes on from where it stopped.
func (s *sizer) release(branches []*ir.Node, t *Times) (err error) {
	for ; err == nil && !t.Done; t.Done, err = s.net.Run(s.ctx) {
		culprit := s.culprit(branches)
		if culprit == nil {
			return diag.New(diag.Deadlock, s.g.Name, "the design stops, and no FIFO after a fork would help").
				WithHint("this is a fault of Lathe: report the model and the plan")
		}
		if s.on[culprit] = true; s.inCycle(branches, culprit) {
			s.proven[culprit] = true
		}
		s.net.loads[culprit] = s.net.Open(s.net.into[culprit])
	}
	return err
}

// culprit finds a branch that holds its fork up, in graph order. Behind it a unit starves for another stream: best one
// from the same fork that does not depend on the branch, then any from that fork. Last comes one from elsewhere: two
// forks that hold each other up, each by a unit that waits for the other one.
func (s *sizer) culprit(branches []*ir.Node) *ir.Node {
	var second, third *ir.Node
	for _, b := range branches {
		f := s.net.forks[b.Args[0]]
		if in := s.net.into[b]; s.on[b] || f == nil || !f.In.Full() || !in.Full() {
			continue
		}
		behind := downstream(s.g, b)
		beside := downstream(s.g, b.Args[0])
		for _, a := range s.starved(behind) {
			switch {
			case beside[a] && !behind[a]:
				return b
			case beside[a] && second == nil:
				second = b
			case !behind[a] && third == nil && slices.ContainsFunc(f.Out, func(w *beat.Wire) bool { return !w.Full() }):
				third = b
			}
		}
	}
	if second == nil {
		return third
	}
	return second
}

// starved are the arguments that those of the given units with several streams wait for.
func (s *sizer) starved(units map[*ir.Node]bool) (found []*ir.Node) {
	for _, join := range s.g.Nodes {
		args := s.net.args[join]
		if args == nil || !units[join] {
			continue
		}
		i := 0
		for _, a := range join.Args {
			if a.IsConst() {
				continue
			}
			if !args[i].Full() {
				found = append(found, a)
			}
			i++
		}
	}
	return found
}

// downstream are the nodes that depend on n, itself included.
func downstream(g *ir.Graph, n *ir.Node) map[*ir.Node]bool {
	found := map[*ir.Node]bool{n: true}
	for _, u := range g.Nodes {
		for _, a := range u.Args {
			if found[a] {
				found[u] = true
			}
		}
	}
	return found
}

// slack is how far an initiation interval may be above the best, in cycles a sample.
const slack = 0.5

// untilItIsFast adds FIFOs until samples follow each other as fast as with FIFOs on all branches.
func (s *sizer) untilItIsFast(branches []*ir.Node) error {
	now, err := s.undisturbed(branches)
	if err != nil || now.Done && now.II() <= slowest(s.g)+slack {
		return err
	}
	needed := s.on
	s.on = map[*ir.Node]bool{}
	for _, b := range branches {
		s.on[b] = true
	}
	best, err := s.undisturbed(branches)
	if err != nil {
		return err
	}
	s.on = needed
	if now, err = s.undisturbed(branches); err != nil {
		return err
	}
	if now.II() > best.II()+slack && len(s.turns) > 0 {
		for b := range s.turns {
			s.on[b] = true
		}
		if now, err = s.undisturbed(branches); err != nil {
			return err
		}
	}
	for now.II() > best.II()+slack {
		list := s.busiest(branches)
		if len(list) == 0 {
			return nil // a pair of them might help
		}
		// One after the other; in large designs that of the same place in all layers, which lack the same. What was too much
		// is pruned.
		for _, b := range s.alike(branches, list[0]) {
			s.on[b] = true
		}
		if now, err = s.undisturbed(branches); err != nil {
			return err
		}
	}
	return nil
}

// busiest are the branches that alone held their forks up in the last run, those of the most cycles first.
func (s *sizer) busiest(branches []*ir.Node) (found []*ir.Node) {
	held := map[*ir.Node]int{}
	for _, b := range branches {
		if s.on[b] || s.turns[b] > 0 {
			continue
		}
		for i, w := range s.net.forks[b.Args[0]].Out {
			if count := s.net.forks[b.Args[0]].Blocked[i]; w == s.net.into[b] && count > 0 {
				found, held[b] = append(found, b), count
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *ir.Node) int { return held[b] - held[a] })
	return found
}
