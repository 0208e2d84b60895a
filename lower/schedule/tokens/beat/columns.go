// SPDX-License-Identifier: Apache-2.0

package beat

import "lathe/rtl"

// columns is op_window_cols.
type columns struct {
	in *Wire
	c  rtl.Columns
	// t is the next column to take, next that of the next window; tail and done are as in the module.
	t, next    int
	tail, done bool
	// took and sent are the cycles of the last column in and the last window out; a row ended in cycle row, the windows
	// sent after one in cycle ended.
	took, sent, row, ended int
	pipe                   pipe
}

func newColumns(c rtl.Columns, in, out *Wire) *columns {
	return &columns{in: in, c: c, next: c.First, took: -1, sent: -1, row: -1, ended: -1, pipe: pipe{out: out, regs: 1}}
}

func (c *columns) move() {
	c.pipe.settle()
	for c.drain() || c.column() {
	}
}

// drain sends a window of a row whose columns are all there. It waits for no column of the next row.
func (c *columns) drain() bool {
	if !c.tail {
		return false
	}
	cycle, ok := c.pipe.free(max(c.sent, c.row) + 1)
	if !ok {
		return false
	}
	if c.send(cycle) {
		c.tail, c.ended = false, cycle
	}
	return true
}

// column takes one, and sends the window that it completes, if the row before has no windows left to send.
func (c *columns) column() bool {
	if !c.in.has || c.tail && c.t >= c.c.Ahead {
		return false
	}
	cycle := max(c.in.at, c.took+1)
	if c.t >= c.c.Ahead {
		cycle = max(cycle, c.ended+1)
	}
	cycle, ok := c.pipe.free(cycle)
	if !ok {
		return false
	}
	c.in.take(cycle)
	c.took = cycle
	if c.tail || cycle <= c.ended { // what drains, and may still, goes first
		c.t++
		return true
	}
	rowEnd, last := c.t == c.c.W-1, false
	if !c.done && (c.t == c.next || rowEnd && c.t < c.next) {
		last = c.send(cycle)
	}
	switch c.t++; {
	case rowEnd:
		c.tail, c.done, c.t, c.row = !c.done && !last, false, 0, cycle
	case last:
		c.done = true
	}
	return true
}

// send says whether the window that leaves is the last of its row.
func (c *columns) send(cycle int) (last bool) {
	c.pipe.enter(cycle, c.took, 1)
	c.sent = cycle
	if last = c.next == c.c.Last; last {
		c.next = c.c.First
	} else {
		c.next += c.c.Step
	}
	return last
}
