// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/op"
)

// Schedule gives every node of a quantized graph random legal lanes, and joins streams of different lanes by adapters.
// It covers what hardware can do, not what lowering would choose.
func Schedule(r *rand.Rand, g *ir.Graph) {
	op.PairConcats(g)
	op.InsertRepeats(g)
	op.InsertForks(g)
	users := g.Users()
	for _, n := range append([]*ir.Node(nil), g.Nodes...) {
		switch {
		case n.IsConst():
			continue
		case n.Op == op.Input:
			n.HW.OutLanes = inputLanes(r, n)
			if len(users[n]) > 0 && users[n][0].HW.InLanes == 0 && r.IntN(4) > 0 {
				lanes(r, users[n][0], 0)
				n.HW.OutLanes = arriving(users[n][0])
			}
			n.HW.InLanes = n.HW.OutLanes
			continue
		case n.HW.InLanes == 0:
			lanes(r, n, n.Args[0].HW.OutLanes)
		}
		for i, a := range n.Args {
			if !a.IsConst() {
				adapt(g, n, i)
			}
		}
	}
	g.Stage = ir.StageScheduled
}

// divisor draws a divisor of n.
func divisor(r *rand.Rand, n int) int {
	var all []int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return all[r.IntN(len(all))]
}

// lanes sets the lanes of one node, whose argument has the given lanes where that is known.
func lanes(r *rand.Rand, n *ir.Node, given int) {
	hw, shape := &n.HW, append([]int{1}, n.Args[0].Type.Shape...)
	last := shape[len(shape)-1]
	if legal := op.MoveLanes(n); legal != nil {
		hw.OutLanes = legal[r.IntN(len(legal))]
		hw.InLanes, hw.StreamIn = hw.OutLanes, hw.OutLanes
		if n.Op == op.Repeat {
			hw.InLanes = op.RepeatLanes(n, hw.OutLanes)
			hw.StreamIn = hw.InLanes
		}
		return
	}
	if blockLanes(r, n, given) {
		return
	}
	switch n.Op {
	case op.Linear:
		hw.Style = ir.StyleFold
		hw.InLanes, hw.OutLanes = divisor(r, last), divisor(r, n.Type.Shape[len(n.Type.Shape)-1])
		if r.IntN(3) == 0 {
			hw.Style, hw.InLanes, hw.OutLanes = ir.StyleUnroll, last, n.Type.Shape[len(n.Type.Shape)-1]
		}
		hw.Mem = []string{"", "auto", "block", "distributed"}[r.IntN(4)]
	case op.Conv:
		convLanes(r, n, last)
	case op.Scale, op.PRelu, op.MaxPool, op.AvgPool, op.GlobalAvgPool:
		hw.InLanes = divisor(r, last)
		hw.OutLanes = hw.InLanes
	case op.ArgMax, op.ReduceSum, op.ReduceMean, op.ReduceMax, op.ReduceMin:
		run, _ := op.ReduceRun(n) // what is no run has no hardware
		size, _ := run.ReduceLanes(1)
		hw.InLanes = divisor(r, max(size, 1))
		_, hw.OutLanes = run.ReduceLanes(hw.InLanes)
	case op.Widen, op.Narrow:
		hw.OutLanes = divisor(r, n.Type.Elems())
		hw.InLanes = divisor(r, hw.OutLanes)
		if n.Op == op.Narrow {
			hw.InLanes, hw.OutLanes = hw.OutLanes, hw.InLanes
		}
	default:
		if given == 0 || n.Type.Elems()%given != 0 {
			given = divisor(r, n.Type.Elems())
		}
		hw.InLanes, hw.OutLanes = given, given
		if n.Op == op.Fifo {
			hw.Fifo = 1 + r.IntN(100)
		}
	}
}

// convLanes sets the lanes of a convolution of c channels.
func convLanes(r *rand.Rand, n *ir.Node, c int) {
	a, hw, out := n.Attrs.(*op.ConvAttrs), &n.HW, n.Type.Shape[len(n.Type.Shape)-1]
	if a.Groups > 1 && a.Groups == c && a.Groups == out { // depthwise
		hw.InLanes = divisor(r, c)
		hw.OutLanes = hw.InLanes
		if pixels := divisor(r, a.Kernel[0]) * divisor(r, a.Kernel[len(a.Kernel)-1]); len(a.Kernel) == 2 && pixels > 1 {
			hw.InLanes, hw.OutLanes, hw.StreamIn = c*pixels, c, divisor(r, c)
		}
		return
	}
	hw.Style, hw.Mem = ir.StyleFold, []string{"", "block"}[r.IntN(2)]
	hw.OutLanes = divisor(r, out/a.Groups)
	hw.InLanes, hw.StreamIn = divisor(r, c/a.Groups), divisor(r, c)
	for hw.InLanes%hw.StreamIn != 0 && hw.StreamIn%hw.InLanes != 0 {
		hw.StreamIn = divisor(r, c)
	}
	if a.Groups == 1 && r.IntN(2) == 0 {
		pixels := 1
		for _, k := range a.Kernel {
			pixels *= k
		}
		hw.InLanes = c * divisor(r, pixels)
	}
}

// arriving is the lanes of the stream that the unit of n takes.
func arriving(n *ir.Node) int {
	if n.HW.StreamIn > 0 {
		return n.HW.StreamIn
	}
	return n.HW.InLanes
}

// adapt puts width converters between n and its argument k where their lanes differ.
func adapt(g *ir.Graph, n *ir.Node, k int) {
	have, want := n.Args[k].HW.OutLanes, arriving(n)
	if want%have != 0 { // first to what divides both
		both := have
		for want%both != 0 {
			both--
			for have%both != 0 {
				both--
			}
		}
		insert(g, op.Narrow, n, k, both)
		have = both
	}
	if want != have {
		insert(g, op.Widen, n, k, want)
	}
}

// insert puts an adapter to the given lanes in front of argument k of n.
func insert(g *ir.Graph, o *ir.Op, n *ir.Node, k, to int) {
	x := n.Args[k]
	a := &ir.Node{Name: g.FreshName(fmt.Sprintf("%s_%s", n.Name, o.Name)), Op: o, Args: []*ir.Node{x}, Type: x.Type}
	a.HW.InLanes, a.HW.OutLanes = x.HW.OutLanes, to
	n.Args[k] = a
	g.InsertBefore(n, a)
}
