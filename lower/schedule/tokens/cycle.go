// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"slices"

	"lathe/ir"
)

// inCycle says, of a net that has stopped, that it stops without a FIFO at b whatever others it gets: there is a cycle
// of units each of which waits for the next one alone. b alone holds its fork up; the unit behind b starves for one
// stream; and whatever feeds that stream starves in its turn, up to the other side of the fork. No other FIFO stands
// where beats are held up, and where units starve one has nothing to hold: parts being determinate, none helps. false
// where the net does not tell.
func (s *sizer) inCycle(branches []*ir.Node, b *ir.Node) bool {
	users, fork := s.g.Users(), b.Args[0]
	for _, w := range s.net.forks[fork].Out {
		if w.Full() != (w == s.net.into[b]) {
			return false
		}
	}
	at := b
	for s.net.args[at] == nil || at == b { // forwards, to the unit with several streams
		if len(users[at]) != 1 {
			return false
		}
		if at = users[at][0]; slices.Contains(branches, at) {
			return false
		}
	}
	if out := s.net.results[at]; len(out) != 1 || out[0].Full() {
		return false
	}
	for { // backwards, along what starves
		if at = s.starving(at); at == nil {
			return false
		}
		if f := s.net.forks[at]; f != nil && (at == fork || f.In.Full()) {
			return at == fork
		}
	}
}

// starving is the argument that n waits for: the only stream without a beat. nil where there are none or several.
func (s *sizer) starving(n *ir.Node) (found *ir.Node) {
	wires, i := s.net.args[n], 0
	for _, a := range n.Args {
		if a.IsConst() {
			continue
		}
		if wires == nil || !wires[i].Full() {
			if found != nil {
				return nil
			}
			found = a
		}
		i++
	}
	return found
}
