// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/move"
	"lathe/ir/op/stream"
)

// Schedule gives every node of a quantized graph random legal lanes, and joins streams of different lanes by adapters.
// It covers what hardware can do, not what lowering would choose.
func Schedule(r *rand.Rand, g *ir.Graph) {
	move.SplitConcats(g)
	move.InsertRepeats(g)
	stream.InsertForks(g)
	users := g.Users()
	for _, n := range append([]*ir.Node(nil), g.Nodes...) {
		switch {
		case n.IsConst():
			continue
		case n.Op.Traits.Source:
			lanes(r, n, 0)
			if len(users[n]) > 0 && r.IntN(4) > 0 {
				reader := users[n][0]
				if wishes(reader) {
					lanes(r, reader, 0)
				}
				if reader.HW.InLanes > 0 {
					n.HW.OutLanes = reader.Takes(slices.Index(reader.Args, n))
				}
			}
			n.HW.InLanes, n.HW.StreamIn = n.HW.OutLanes, n.HW.OutLanes
			continue
		case n.HW.InLanes == 0:
			lanes(r, n, n.Args[0].HW.OutLanes)
		}
		for i, a := range n.Args {
			if !a.IsConst() {
				adapt(g, n, i)
			}
		}
		Form(r, n)
	}
	g.Stage = ir.StageScheduled
}

// Form draws the form of the products of n, whose lanes are decided, of those that its unit can have.
func Form(r *rand.Rand, n *ir.Node) {
	if n.Op.Products == nil {
		return
	}
	list, _ := n.Op.Products(n) // its error is that of the unit
	list = slices.DeleteFunc(list, func(f ir.ProductForm) bool { return f.Decoded })
	if len(list) > 0 {
		n.HW.Products = oneOf(r, list).Products
	}
}

// wishes says that n has no lanes yet, and may choose some.
func wishes(n *ir.Node) bool {
	d, err := op.LanesOf(n)
	return n.HW.InLanes == 0 && err == nil && !d.Follows()
}

// lanes draws a folding of one node, whose argument has the given lanes where that is known.
func lanes(r *rand.Rand, n *ir.Node, given int) {
	d, err := op.LanesOf(n)
	switch {
	case err != nil: // refused by whoever asks for the unit
		d = &ir.Lanes{In: ir.Count{Legal: []int{1}}}
	case d.Follows():
		d.Set(&n.HW, given, given, given)
		return
	}
	in, out, style := 0, 0, ir.StyleFold
	unrolled := slices.Equal(d.Styles, []ir.Style{ir.StyleUnroll})
	switch {
	case !d.Product() && unrolled:
		in, out = d.Tied(slices.Max(d.In.Legal))
		style = ir.StyleUnroll
	case !d.Product():
		lanes := oneOf(r, d.In.Legal)
		if d.Tie == nil && slices.Contains(d.In.Legal, given) && r.IntN(2) == 0 {
			lanes = given // without an adapter
		}
		in, out = d.Tied(lanes)
	case slices.Contains(d.Styles, ir.StyleUnroll) && (unrolled || r.IntN(3) == 0):
		in, out, style = slices.Max(d.In.Legal), slices.Max(d.Out.Legal), ir.StyleUnroll
	default:
		in, out = oneOf(r, d.In.Legal), oneOf(r, d.Out.Legal)
	}
	d.Set(&n.HW, in, out, oneOf(r, d.Streams(in, out)))
	n.HW.Style = d.StyleOf(style, in, out)
	if d.Mem && len(d.Styles) > 0 {
		n.HW.Mem = oneOf(r, []string{"", "auto", "block", "distributed"})
	}
	if n.Op.Traits.Windows {
		n.HW.Lines = []string{"", "block", "distributed", "ultra"}[(in+n.HW.StreamIn)%4]
	}
}

func oneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// arriving is the lanes of the stream that the unit of n takes.
func arriving(n *ir.Node) int {
	if n.HW.StreamIn > 0 {
		return n.HW.StreamIn
	}
	return n.HW.InLanes
}

// adapt puts width converters between n and its argument k where their lanes Differ.
func adapt(g *ir.Graph, n *ir.Node, k int) {
	have, want := n.Args[k].HW.OutLanes, n.Takes(k)
	if want%have != 0 { // first to what divides both
		both := have
		for want%both != 0 {
			both--
			for have%both != 0 {
				both--
			}
		}
		insert(g, stream.Narrow, n, k, both)
		have = both
	}
	if want != have {
		insert(g, stream.Widen, n, k, want)
	}
}

// insert puts an adapter to the given lanes in front of argument k of n.
func insert(g *ir.Graph, o *ir.Op, n *ir.Node, k, to int) {
	x := n.Args[k]
	a := &ir.Node{Name: g.FreshName(fmt.Sprintf("%s_%s", n.Name, o.Name)), Op: o, Args: []*ir.Node{x}, Type: x.Type}
	a.HW.InLanes, a.HW.OutLanes = x.HW.OutLanes, to
	a.HW.RowIn, a.HW.RowOut = x.HW.RowOut, x.HW.RowOut
	n.Args[k] = a
	g.InsertBefore(n, a)
}
