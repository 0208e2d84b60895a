// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens/beat"
	"lathe/rtl"
)

// Front is the beats of the FIFO that always stands in front of the unit of n, whose lanes are decided; 0 for none.
// Errors are those of its RTL column.
func Front(units *unit.Cache, n *ir.Node) (int, error) {
	if n.Op.Traits.Source {
		return 0, nil
	}
	u, err := units.Of(n)
	if err != nil || u == nil {
		return 0, err
	}
	return u.Front()
}

// moves is what the module of a node says of its beats.
type moves struct {
	flow  rtl.Flow
	front int
	turns []int
	// ring says that a sample takes several turns, in which the next one can gather whatever its size.
	ring bool
}

// known reads that once a node.
type known struct {
	units  *unit.Cache
	read   map[*ir.Node]*moves
	tables *beat.Tables
}

func newKnown(units *unit.Cache) *known {
	return &known{units, map[*ir.Node]*moves{}, beat.NewTables()}
}

func (r *known) of(n *ir.Node) (*moves, error) {
	if u, known := r.read[n]; known {
		return u, nil
	}
	u := &moves{ring: n.Op.Traits.Ring == ir.Enters}
	if !n.Op.Traits.Source && !n.Op.Traits.Wire {
		m, err := r.units.Motion(n)
		if err != nil {
			return nil, err
		}
		u.flow, u.front, u.turns = m.Flow, m.Front, m.Turns
	}
	r.read[n] = u
	return u, nil
}

// fifo says that n is a FIFO and nothing else.
func (u *moves) fifo() bool { return len(u.flow) == 1 && u.flow[0].Kind == rtl.StageFifo }

func (u *moves) fork() bool { return len(u.flow) == 1 && u.flow[0].Kind == rtl.StageFork }

// wait says that argument i of n may be held up while other beats move: it comes out of a fork, or n takes its streams
// by turns.
func (r *known) wait(n *ir.Node, i int) (bool, error) {
	if n.Args[i].IsConst() {
		return false, nil
	}
	before, err := r.of(n.Args[i])
	if err != nil {
		return false, err
	}
	u, err := r.of(n)
	if err != nil {
		return false, err
	}
	return before.fork() || u.turnBeats(streamOf(n, i)) > 0, nil
}

// streamOf is the number of argument i of n among those that are no constants.
func streamOf(n *ir.Node, i int) (number int) {
	for _, a := range n.Args[:i] {
		if !a.IsConst() {
			number++
		}
	}
	return number
}

// longestTurn bounds the beats of FIFOs before units that take their streams by turns: longer turns wait, but those in
// front of layers that share units, which take a sample for all of them.
const longestTurn = 1024

// turnBeats is how many beats of stream i gather at most while the unit takes none of them: a concat is at the other
// one, a pad sends what it adds, a repeat what it holds. 0 for units that keep no stream waiting.
func (u *moves) turnBeats(i int) int {
	if i >= len(u.turns) || u.turns[i] > longestTurn && !u.ring {
		return 0
	}
	return u.turns[i]
}
