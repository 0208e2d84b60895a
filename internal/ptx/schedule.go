// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
)

// patience is the number of turns after which a warp that runs ahead gives way, so that a warp that waits for another
// in a loop does not wait for ever.
const patience = 1 << 14

// run executes block index of the grid.
func (c *cta) run(index int64) *fault {
	c.reset(index)
	done := make([]bool, len(c.warps))
	left, last, turns, executed := len(c.warps), -1, 0, int64(0)
	for left > 0 {
		ready := c.ready(done)
		if len(ready) == 0 {
			return c.deadlock(done)
		}
		next := c.pick(ready, last, turns)
		if next == last {
			turns++
		} else {
			turns = 0
		}
		last = next
		w := c.warps[next]
		before := w.count
		t, f := w.run()
		executed += w.count - before
		c.stats.Instructions += w.count - before
		if f != nil {
			return f
		}
		if executed > c.m.opt.Limit {
			in := &c.prog.insts[w.pc]
			return newFault("L0970", w, in, w.active, "no end after %d instructions of the block", executed)
		}
		if t == turnDone {
			done[next] = true
			left--
			if f := c.ended(w); f != nil {
				return f
			}
		}
	}
	c.stats.Blocks++
	return nil
}

func (c *cta) ready(done []bool) []int {
	var list [32]int
	ready := list[:0]
	for i, w := range c.warps {
		if !done[i] && w.wait == nil {
			ready = append(ready, i)
		}
	}
	return ready
}

// pick is the warp whose turn it is.
func (c *cta) pick(ready []int, last, turns int) int {
	switch s := c.m.opt.Schedule; {
	case s == Random:
		c.rng += 0x9E3779B97F4A7C15
		z := c.rng
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return ready[(z^z>>31)%uint64(len(ready))]
	case s == RoundRobin || turns > patience:
		for _, i := range ready {
			if i > last {
				return i
			}
		}
	case s == Reverse:
		return ready[len(ready)-1]
	}
	return ready[0]
}

// deadlock is the fault of a block in which all warps wait.
func (c *cta) deadlock(done []bool) *fault {
	e := diag.New("L0969", c.prog.mod.Name, "kernel %s: block (%d,%d,%d) is stuck: all warps that have not ended wait",
		c.prog.name, c.id[0], c.id[1], c.id[2])
	for i, w := range c.warps {
		if !done[i] && w.wait != nil {
			e = e.WithNote("warp %d waits %s at %s", i, w.wait.what(c), c.prog.where(max(w.pc-1, 0)))
		}
	}
	var ended []string
	for i, d := range done {
		if d {
			ended = append(ended, fmt.Sprint(i))
		}
	}
	if len(ended) > 0 {
		e = e.WithNote("ended: warps %s", strings.Join(ended, " "))
	}
	return &fault{e}
}
