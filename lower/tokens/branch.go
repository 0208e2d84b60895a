// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
)

// Size puts a FIFO on those branches of forks, and before those units that take their streams by turns, that need one,
// as deep as a run beat by beat shows, and says how many.
func Size(g *ir.Graph) (fifos int, err error) {
	branches := insert(g)
	if len(branches) == 0 {
		return 0, nil
	}
	depth, err := depths(g, branches)
	if err != nil {
		return 0, err
	}
	for _, b := range branches {
		if b.HW.Fifo = depth[b]; b.HW.Fifo == 0 {
			g.Replace(b, b.Args[0])
		} else {
			fifos++
		}
	}
	g.DropDead()
	return fifos, nil
}

// VectorBeats is the beats of one vector of a folded linear that reads its vector several times, for which it has a
// FIFO in front; so has a convolution of one tap, whose vectors are pixels that nothing else stores. 0 for other nodes.
func VectorBeats(n *ir.Node) int {
	if n.Op == op.Conv {
		return pixelBeats(n)
	}
	if n.Op != op.Linear || n.HW.Style != ir.StyleFold || n.Args[1].Type.Shape[0] == max(n.HW.OutLanes, n.HW.Rows) {
		return 0
	}
	return n.Args[1].Type.Shape[1] / n.HW.InLanes
}

// pixelBeats is VectorBeats of a convolution: the beats of a pixel where op_conv has no memory of its own.
func pixelBeats(n *ir.Node) int {
	a := n.Attrs.(*op.ConvAttrs)
	g, err := op.NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil || a.Groups != 1 || g.KH*g.KW*g.SH*g.SW != 1 || g.PT+g.PB+g.PL+g.PR != 0 ||
		n.Args[1].Type.Shape[0] == n.HW.OutLanes || n.HW.InLanes > n.HW.StreamIn {
		return 0
	}
	return g.C / n.HW.StreamIn
}

// longestTurn bounds the beats of FIFOs before units that take their streams by turns: longer turns wait.
const longestTurn = 1024

// turnBeats is how many beats of argument i gather at most while n takes none of them: a concat is at the other one, a
// pad sends what it adds, a repeat what it holds. 0 for units that keep no stream waiting.
func turnBeats(n *ir.Node, i int) int {
	beats, lanes := 0, n.HW.OutLanes
	switch a := n.Attrs.(type) {
	case *op.ConcatAttrs:
		if len(n.Args) > 1 {
			beats = elems(n.Args[i].Type.Shape[a.Axis:]) / lanes
		}
	case *op.PadAttrs:
		beats = (a.Before + a.After) * elems(n.Type.Shape[a.Axis+1:]) / lanes
	default:
		if n.Op == op.Repeat {
			beats = n.Args[0].Type.Elems() / lanes
		}
	}
	if beats > longestTurn {
		return 0
	}
	return beats
}

func elems(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// insert puts a FIFO behind every fork before each of its readers, and before units that take their streams by turns.
// An output is taken whenever there is a beat, and needs none.
func insert(g *ir.Graph) (branches []*ir.Node) {
	for _, n := range append([]*ir.Node(nil), g.Nodes...) {
		for i, a := range n.Args {
			if a.Op == op.Fork || turnBeats(n, i) > 0 {
				lanes := a.HW.OutLanes
				b := &ir.Node{Name: g.FreshName(n.Name + ".fifo"), Op: op.Fifo, Args: []*ir.Node{a}, Type: a.Type, Pos: n.Pos,
					HW: ir.HW{InLanes: lanes, OutLanes: lanes, StreamIn: lanes, II: a.HW.II, Latency: 1}, Stats: a.Stats}
				g.InsertBefore(n, b)
				n.Args[i] = b
				branches = append(branches, b)
			}
		}
	}
	return branches
}

// Check demands of every FIFO of a scheduled graph at least the depth that it needs, whoever decided it: error L0720
// for each that is shallower or missing.
func Check(g *ir.Graph) error {
	c := g.Clone()
	users := c.Users()
	var errs diag.List
	given := map[string]*ir.Node{} // FIFOs behind forks, by their reader
	for _, n := range append([]*ir.Node(nil), c.Nodes...) {
		if n.Op != op.Fifo || len(users[n]) != 1 {
			continue
		}
		reader := users[n][0]
		if need := VectorBeats(reader); need > 1 {
			if n.HW.Fifo < need {
				errs = append(errs, shallow(n, need))
			}
		} else {
			for i, a := range reader.Args {
				if a == n && (n.Args[0].Op == op.Fork || turnBeats(reader, i) > 0) {
					given[fmt.Sprint(i, reader.Name)] = n
					reader.Args[i] = n.Args[0]
				}
			}
		}
	}
	c.DropDead()
	branches := insert(c)
	depth, err := depths(c, branches)
	if err != nil {
		return err
	}
	users = c.Users()
	for _, b := range branches {
		reader := users[b][0]
		for i, a := range reader.Args {
			if a != b || depth[b] == 0 {
				continue
			}
			switch have := given[fmt.Sprint(i, reader.Name)]; {
			case have == nil:
				errs = append(errs, b.Errorf("L0720", "there is no FIFO between %q and %q, which needs one of %d beats",
					b.Args[0].Name, reader.Name, depth[b]).WithHint("schedule the model again"))
			case have.HW.Fifo < depth[b]:
				errs = append(errs, shallow(have, depth[b]))
			}
		}
	}
	return errs.Err()
}

func shallow(n *ir.Node, need int) *diag.Error {
	return n.Errorf("L0720", "FIFO %q holds %d beats and needs %d", n.Name, n.HW.Fifo, need).
		WithHint("set its depth to %d, or schedule the model again", need)
}
