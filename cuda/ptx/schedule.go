// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"context"
	"fmt"
	"math/bits"
	"path"
	"strconv"
	"strings"

	"lathe/cuda/ptx/parse"
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
		if c.m.cancelled() {
			return &fault{context.Canceled}
		}
		ready := c.ready(done)
		if len(ready) == 0 {
			more, f := c.unstick()
			if f != nil {
				return f
			}
			if !more {
				return c.deadlock(done)
			}
			continue
		}
		if n := uint64(len(c.flying)); n > 0 && c.m.opt.Copies == Anytime && c.draw()%4 == 0 {
			if f := c.land(int(c.draw() % n)); f != nil {
				return f
			}
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
			return newFault(diag.InstructionLimit, w, in, w.active, "no end after %d instructions of the block", executed)
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
	return c.finish(c.warps[last])
}

func (c *cta) ready(done []bool) []int {
	var list [32]int
	ready := list[:0]
	for i, w := range c.warps {
		if !done[i] && w.wait == nil && w.polls == nil {
			ready = append(ready, i)
		}
	}
	return ready
}

// pick is the warp whose turn it is.
func (c *cta) pick(ready []int, last, turns int) int {
	switch s := c.m.opt.Schedule; {
	case s == Random:
		return ready[c.draw()%uint64(len(ready))]
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
	e := diag.New(diag.BlockStuck, c.prog.mod.Name,
		"kernel %s: block (%d,%d,%d) is stuck: all warps that have not ended wait",
		c.prog.name, c.id[0], c.id[1], c.id[2])
	for i, w := range c.warps {
		if !done[i] && w.wait != nil {
			e = e.WithNote("warp %d waits %s at %s", i, w.wait.what(c), c.prog.where(max(w.pc-1, 0)))
		} else if !done[i] && w.polls != nil {
			e = e.WithNote("warp %d waits %s at %s", i, w.polls.rests(), c.prog.where(w.pc))
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

// fault is why a launch ended: a diag.Error with the place where it happened, or context.Canceled.
type fault struct{ err error }

// newFault makes the error of an instruction; its first lane of mask names the thread.
func newFault(code diag.Code, w *warp, in *inst, mask uint32, msg string, args ...any) *fault {
	p := w.cta.prog
	e := diag.New(code, p.mod.Name+":"+strconv.Itoa(in.src.Line), "kernel %s: %s", p.name, fmt.Sprintf(msg, args...))
	e = e.WithNote("%s%s", line(p.mod.text, in.src.Line), source(p.mod.text, in.src.From))
	if mask != 0 {
		e = e.WithNote("%s", w.thread(bits.TrailingZeros32(mask)))
	}
	return &fault{e}
}

// source is ", from k.cu:7" where the text tells that; folders are left out.
func source(m *parse.Module, from parse.Place) string {
	if from.Line == 0 || from.File >= len(m.Files) || m.Files[from.File] == "" {
		return ""
	}
	return fmt.Sprintf(", from %s:%d", path.Base(m.Files[from.File]), from.Line)
}

// thread names a lane as a thread of its block.
func (w *warp) thread(lane int) string {
	c := w.cta
	t := c.threadOf(w.id, lane)
	return fmt.Sprintf("thread (%d,%d,%d) of block (%d,%d,%d), lane %d of warp %d",
		t[0], t[1], t[2], c.id[0], c.id[1], c.id[2], lane, w.id)
}

// where is an instruction in a message: its line and text.
func (p *program) where(index int32) string {
	in := p.insts[index].src
	return fmt.Sprintf("line %d (%s%s)", in.Line, line(p.mod.text, in.Line), source(p.mod.text, in.From))
}

// Stats counts what a launch did. Only Instructions, Blocks and Divergent are filled without Options.Count.
type Stats struct {
	// Blocks is the number of blocks that ran, Instructions that of instructions that warps executed.
	Blocks, Instructions int64
	// Threads counts instructions once for each lane that took part.
	Threads int64
	// Divergent counts branches that parted a warp.
	Divergent int64
	// SharedAccesses counts loads, stores and ldmatrix of shared memory; SharedCycles the passes that their banks need:
	// equal numbers mean no bank conflict but those of accesses wider than 4 bytes a lane, which SharedIdeal counts.
	SharedAccesses, SharedCycles, SharedIdeal int64
	// GlobalAccesses counts loads and stores of global memory, Sectors the 32-byte sectors that they touch, and
	// SectorsIdeal the least number for as many bytes.
	GlobalAccesses, Sectors, SectorsIdeal int64
	// Opcodes counts the instructions of each opcode, without modifiers.
	Opcodes map[string]int64
}

func (s *Stats) note(_ *warp, in *inst, mask uint32) {
	if s.Opcodes == nil {
		s.Opcodes = map[string]int64{}
	}
	s.Opcodes[in.src.Op]++
	s.Threads += int64(bits.OnesCount32(mask))
}

func (s *Stats) add(o *Stats) {
	s.Blocks += o.Blocks
	s.Instructions += o.Instructions
	s.Threads += o.Threads
	s.Divergent += o.Divergent
	s.SharedAccesses += o.SharedAccesses
	s.SharedCycles += o.SharedCycles
	s.SharedIdeal += o.SharedIdeal
	s.GlobalAccesses += o.GlobalAccesses
	s.Sectors += o.Sectors
	s.SectorsIdeal += o.SectorsIdeal
	for op, n := range o.Opcodes {
		if s.Opcodes == nil {
			s.Opcodes = map[string]int64{}
		}
		s.Opcodes[op] += n
	}
}

// Order is the order in which the blocks of a grid run. Nothing promises one: a sound kernel yields the same bits in
// all of them.
type Order int

// The orders.
const (
	Ascending Order = iota
	Descending
	// Shuffled draws one; Options.Seed begins it.
	Shuffled
)

// block is the place in the grid of the i-th of n blocks that run.
func (o Options) block(i, n int64) int64 {
	switch o.Blocks {
	case Descending:
		i = n - 1 - i
	case Shuffled:
		seed := o.Seed*0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03
		step := seed%uint64(n) | 1
		for ; common(step, uint64(n)) > 1; step += 2 {
		}
		hi, lo := bits.Mul64(uint64(i), step)
		lo, carry := bits.Add64(lo, seed>>32, 0)
		i = int64(bits.Rem64(hi+carry, lo, uint64(n)))
	}
	return o.First + i
}

func common(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
