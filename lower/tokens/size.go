// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/tokens/beat"
)

// maxFrames is how many samples a simulation runs at most: as many as a simulation of the hardware without stalls.
const maxFrames = 16

// effort bounds the samples of one simulation by parts times cycles; fewest are those of one beyond it.
const (
	effort = 5e7
	fewest = 3
)

// sizer looks for the FIFOs of a graph that has one on every branch of its forks.
type sizer struct {
	g      *ir.Graph
	frames int
	on     map[*ir.Node]bool // branches whose FIFO is needed
	late   map[*ir.Node]bool // those of them that are block RAM
	turns  map[*ir.Node]int  // branches that no fork feeds, and the beats that they ever need
	known  *known
	net    *net
}

// depths computes how deep each of the FIFO nodes called branches must be, which insert made, so that the design
// neither stops nor waits for them: the most beats that a FIFO without an end would hold, and one more. 0: no FIFO is
// needed. The depths in the graph do not count. Error L0433 for a design that stops all the same.
//
// Registers that move together have fewer places for beats that come with gaps. What must never happen, a design that
// stops, is therefore looked at with one place for each such row, and how fast it is without stalls with all.
//
// A design that does not stop with these depths and places in one run does not stop in any: its units are determinate,
// and a beat that moves never takes from another the chance to move.
func depths(g *ir.Graph, branches []*ir.Node, known *known) (map[*ir.Node]int, error) {
	s := &sizer{g: g, frames: framesFor(g), on: map[*ir.Node]bool{}, late: map[*ir.Node]bool{}, known: known}
	var err error
	if s.turns, err = turns(g, branches, known); err != nil {
		return nil, err
	}
	if err := s.untilItRuns(branches); err != nil {
		return nil, err
	}
	if err := s.untilItIsFast(branches); err != nil {
		return nil, err
	}
	if err := s.prune(branches); err != nil {
		return nil, err
	}
	return s.measure(branches)
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

// framesFor is how many frames of g are simulated.
func framesFor(g *ir.Graph) int {
	ii, parts := 1, 0
	for _, n := range g.Nodes {
		if !n.IsConst() {
			ii, parts = max(ii, n.HW.II), parts+3
		}
	}
	return min(maxFrames, max(fewest, int(effort/float64(ii)/float64(parts))))
}

// run simulates with the chosen FIFOs without end and the other branches without FIFO.
func (s *sizer) run(branches []*ir.Node, worst bool) (*Times, error) {
	var err error
	frames := s.frames
	if worst {
		frames = min(frames, worstFrames)
	}
	s.net, err = build(s.g, options{frames: frames, worst: worst, known: s.known, depth: func(n *ir.Node) (int, bool) {
		switch {
		case !slices.Contains(branches, n):
			return scheduled(n)
		case s.on[n] && s.turns[n] > 0:
			return s.turns[n], s.late[n]
		case s.on[n]:
			return beat.Unlimited, s.late[n]
		}
		return 0, false
	}})
	if err != nil {
		return nil, err
	}
	return s.net.times(len(s.g.Out)), nil
}

// worstFrames is how many frames show whether a design stops: one that is on its way out holds up the next, and that
// one a third.
const worstFrames = 4

// untilItRuns adds FIFOs until the design does not stop: each where a fork is held up by a branch that leads to units
// which wait for another branch of the same fork. The run goes on from where it stopped.
func (s *sizer) untilItRuns(branches []*ir.Node) error {
	t, err := s.run(branches, true)
	for ; err == nil && !t.Done; t.Done = s.net.Run() {
		culprit := s.culprit(branches)
		if culprit == nil {
			return diag.New("L0433", s.g.Name, "the design stops, and no FIFO after a fork would help").
				WithHint("this is a fault of Lathe: report the model and the plan")
		}
		s.on[culprit] = true
		s.net.Open(s.net.into[culprit])
	}
	return err
}

// culprit finds a branch that holds its fork up, in graph order: one that the starved argument does not depend on, if
// there is any.
func (s *sizer) culprit(branches []*ir.Node) *ir.Node {
	var second *ir.Node
	for _, b := range branches {
		f := s.net.forks[b.Args[0]]
		if in := s.net.into[b]; s.on[b] || f == nil || !f.In.Full() || !in.Full() {
			continue
		}
		behind := downstream(s.g, b)
		beside := downstream(s.g, b.Args[0])
		for _, join := range s.g.Nodes {
			args := s.net.args[join]
			if args == nil || !behind[join] {
				continue
			}
			i := 0
			for _, a := range join.Args {
				if a.IsConst() {
					continue
				}
				starved := !args[i].Full() && beside[a]
				i++
				if starved && !behind[a] {
					return b
				}
				if starved && second == nil {
					second = b
				}
			}
		}
	}
	return second
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
	needed := s.on
	s.on = map[*ir.Node]bool{}
	for _, b := range branches {
		s.on[b] = true
	}
	best, err := s.run(branches, false)
	if err != nil {
		return err
	}
	s.on = needed
	now, err := s.run(branches, false)
	if err != nil {
		return err
	}
	if now.II() > best.II()+slack && len(s.turns) > 0 {
		for b := range s.turns {
			s.on[b] = true
		}
		if now, err = s.run(branches, false); err != nil {
			return err
		}
	}
	tried := map[*ir.Node]bool{}
	for now.II() > best.II()+slack {
		b := s.busiest(branches, tried)
		if b == nil {
			return nil // a pair of them might help
		}
		s.on[b], tried[b] = true, true
		next, err := s.run(branches, false)
		if err != nil {
			return err
		}
		now = next
	}
	return nil
}

// busiest is the branch that alone held its fork up in most cycles of the last run.
func (s *sizer) busiest(branches []*ir.Node, tried map[*ir.Node]bool) (found *ir.Node) {
	most := 0
	for _, b := range branches {
		if s.on[b] || tried[b] || s.turns[b] > 0 {
			continue
		}
		for i, w := range s.net.forks[b.Args[0]].Out {
			if count := s.net.forks[b.Args[0]].Blocked[i]; w == s.net.into[b] && count > most {
				found, most = b, count
			}
		}
	}
	return found
}

// prune takes away what is not needed after all.
func (s *sizer) prune(branches []*ir.Node) error {
	if len(s.on) < 2 {
		return nil
	}
	with, err := s.run(branches, false)
	if err != nil {
		return err
	}
	for _, b := range branches {
		if !s.on[b] {
			continue
		}
		delete(s.on, b)
		worst, err := s.run(branches, true)
		if err != nil {
			return err
		}
		if !worst.Done { // which shows soon
			s.on[b] = true
			continue
		}
		without, err := s.run(branches, false)
		if err != nil {
			return err
		}
		if !without.Done || without.II() > with.II()+slack {
			s.on[b] = true
		}
	}
	return nil
}

// measure runs with the chosen FIFOs. One that turns out to be block RAM has other timing, so the run repeats until
// none does.
func (s *sizer) measure(branches []*ir.Node) (map[*ir.Node]int, error) {
	for {
		t, err := s.run(branches, false)
		if err != nil {
			return nil, err
		}
		worst, err := s.run(branches, true)
		if err != nil {
			return nil, err
		}
		depth, again := map[*ir.Node]int{}, false
		for _, b := range branches {
			if !s.on[b] {
				depth[b] = 0
				continue
			}
			depth[b] = max(t.Most[b], worst.Most[b]) + 1
			if most := s.turns[b]; most > 0 {
				depth[b] = min(depth[b], most)
			}
			if late := depth[b] > beat.BlockRAM; late && !s.late[b] {
				s.late[b], again = true, true
			}
		}
		if !again {
			return depth, nil
		}
	}
}
