// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"math/bits"
	"strconv"

	"lathe/internal/diag"
)

// fault is why a launch ended: an error with the place where it happened.
type fault struct{ err *diag.Error }

// newFault makes the error of an instruction; its first lane of mask names the thread.
func newFault(code string, w *warp, in *inst, mask uint32, msg string, args ...any) *fault {
	p := w.cta.prog
	e := diag.New(code, p.mod.Name+":"+strconv.Itoa(in.src.Line), "kernel %s: %s", p.name, fmt.Sprintf(msg, args...))
	e = e.WithNote("%s", line(p.mod.text, in.src.Line))
	if mask != 0 {
		e = e.WithNote("%s", w.thread(bits.TrailingZeros32(mask)))
	}
	return &fault{e}
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
	n := p.insts[index].src.Line
	return fmt.Sprintf("line %d (%s)", n, line(p.mod.text, n))
}
