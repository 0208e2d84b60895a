// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"

	"lathe/ir"
	"lathe/lower/schedule/tokens/beat"
	"lathe/rtl"
)

// Alone runs one unit by itself: frames of in[i] beats on stream i, and of out beats on each of its outs results.
func Alone(ctx context.Context, flow rtl.Flow, in []int, out, outs, frames int) (*Times, error) {
	n := &ir.Node{Op: &ir.Op{}}
	k := newKnown(nil)
	k.read[n] = &moves{flow: flow}
	if k.read[n].fifo() {
		n.HW.Fifo = flow[0].N
	}
	b := &builder{net: newNet(k), out: map[*ir.Node][]*beat.Wire{}, readers: map[*ir.Node]int{n: outs},
		o: options{known: k, depth: scheduled}}
	var wires []*beat.Wire
	for _, beats := range in {
		wires = append(wires, b.source(beats, frames))
	}
	b.out[n] = []*beat.Wire{b.net.Wire()}
	b.chain(n, flow, wires)
	for range outs {
		b.sink(b.next(n), out)
	}
	return b.net.times(ctx, outs)
}
