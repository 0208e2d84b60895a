// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"lathe/ir"
	"lathe/rtl"
)

// Front is the beats of the FIFO that always stands in front of the unit of n, whose lanes are decided; 0 for none.
// Errors are those of its RTL column.
func Front(n *ir.Node) (int, error) {
	if n.Op.Traits.Source {
		return 0, nil
	}
	u, err := n.Op.RTL(n)
	if err != nil {
		return 0, err
	}
	return u.Front()
}

// unit is what the module of a node says of its beats.
type unit struct {
	flow  rtl.Flow
	front int
	turns []int
}

// units reads that once a node.
type units map[*ir.Node]*unit

func (r units) of(n *ir.Node) (*unit, error) {
	if u, known := r[n]; known {
		return u, nil
	}
	u := &unit{}
	if !n.Op.Traits.Source && !n.Op.Traits.Wire {
		module, err := n.Op.RTL(n)
		if err != nil {
			return nil, err
		}
		if u.flow, err = module.Flow(); err != nil {
			return nil, err
		}
		if u.front, err = module.Front(); err != nil {
			return nil, err
		}
		if u.turns, err = module.Turns(); err != nil {
			return nil, err
		}
	}
	r[n] = u
	return u, nil
}

// fifo says that n is a FIFO and nothing else.
func (u *unit) fifo() bool { return len(u.flow) == 1 && u.flow[0].Kind == rtl.StageFifo }

func (u *unit) fork() bool { return len(u.flow) == 1 && u.flow[0].Kind == rtl.StageFork }

// wait says that argument i of n may be held up while other beats move: it comes out of a fork, or n takes its streams
// by turns.
func (r units) wait(n *ir.Node, i int) (bool, error) {
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
	return before.fork() || u.turnBeats(stream(n, i)) > 0, nil
}

// stream is the number of argument i of n among those that are no constants.
func stream(n *ir.Node, i int) (number int) {
	for _, a := range n.Args[:i] {
		if !a.IsConst() {
			number++
		}
	}
	return number
}

// longestTurn bounds the beats of FIFOs before units that take their streams by turns: longer turns wait.
const longestTurn = 1024

// turnBeats is how many beats of stream i gather at most while the unit takes none of them: a concat is at the other
// one, a pad sends what it adds, a repeat what it holds. 0 for units that keep no stream waiting.
func (u *unit) turnBeats(i int) int {
	if i >= len(u.turns) || u.turns[i] > longestTurn {
		return 0
	}
	return u.turns[i]
}
