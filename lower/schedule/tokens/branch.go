// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
)

// Size puts a FIFO on those branches of forks, and before those units that take their streams by turns, that need one,
// as deep as a run beat by beat shows. It says how many, and how many cycles a sample then took.
func Size(ctx context.Context, g *ir.Graph, units *unit.Cache) (fifos int, ii float64, err error) {
	known := newKnown(units)
	branches, err := insert(g, known)
	if err != nil {
		return 0, 0, err
	}
	if len(branches) == 0 {
		t, _, err := steadyAsIs(ctx, g, known)
		if err != nil {
			return 0, 0, err
		}
		return 0, t.II(), nil
	}
	depth, ii, err := depths(ctx, g, branches, known)
	if err != nil {
		return 0, 0, err
	}
	for _, b := range branches {
		if b.HW.Fifo = depth[b]; b.HW.Fifo == 0 {
			g.Replace(b, b.Args[0])
		} else {
			fifos++
		}
	}
	g.DropDead()
	return fifos, ii, nil
}

// insert puts a FIFO behind every fork before each of its readers, and before units that take their streams by turns.
// An output is taken whenever there is a beat, and needs none.
func insert(g *ir.Graph, known *known) (branches []*ir.Node, err error) {
	for _, n := range append([]*ir.Node(nil), g.Nodes...) {
		for i, a := range n.Args {
			waits, err := known.wait(n, i)
			if err != nil {
				return nil, err
			}
			if waits {
				lanes := a.HW.OutLanes
				b := &ir.Node{Name: g.FreshName(n.Name + ".fifo"), Op: stream.Fifo, Args: []*ir.Node{a}, Type: a.Type, Pos: n.Pos,
					HW: ir.HW{Widths: ir.Widths{InLanes: lanes, OutLanes: lanes, StreamIn: lanes, RowIn: a.HW.RowOut,
						RowOut: a.HW.RowOut}, Timing: ir.Timing{II: a.HW.II, Latency: 1},
						Frames: ir.Frames{Tokens: a.HW.Tokens, Marked: a.HW.Marked}}, Stats: a.Stats}
				g.InsertBefore(n, b)
				n.Args[i] = b
				branches = append(branches, b)
			}
		}
	}
	return branches, nil
}

// Check demands of every FIFO of a scheduled graph at least the depth that it needs, whoever decided it: error L0720
// for each that is shallower or missing.
func Check(ctx context.Context, g *ir.Graph, units *unit.Cache) error {
	c, known := ring.Units(g).Clone(), newKnown(units)
	given, errs, err := takeOut(c, known)
	if err != nil {
		return err
	}
	c.DropDead()
	branches, err := insert(c, known)
	if err != nil {
		return err
	}
	depth, _, err := depths(ctx, c, branches, known)
	if err != nil {
		return err
	}
	users := c.Users()
	for _, b := range branches {
		reader := users[b][0]
		for i, a := range reader.Args {
			if a != b || depth[b] == 0 {
				continue
			}
			switch have := given[fmt.Sprint(i, reader.Name)]; {
			case have == nil:
				errs = append(errs, b.Errorf(diag.FIFOTooSmall, "no FIFO between %q and %q, where one of %d beats is needed",
					b.Args[0].Name, reader.Name, depth[b]).WithHint("schedule the model again"))
			case have.HW.Fifo < depth[b]:
				errs = append(errs, shallow(have, depth[b]))
			}
		}
	}
	return errs.Err()
}

// takeOut removes from c the FIFOs that insert would put there, and returns them by argument and reader. Those that
// stand in front of a unit in any case it looks at at once.
func takeOut(c *ir.Graph, known *known) (map[string]*ir.Node, diag.List, error) {
	given, users := map[string]*ir.Node{}, c.Users()
	var errs diag.List
	for _, n := range append([]*ir.Node(nil), c.Nodes...) {
		if n.IsConst() || len(users[n]) != 1 {
			continue
		}
		u, err := known.of(n)
		if err != nil {
			return nil, nil, err
		}
		if !u.fifo() {
			continue
		}
		reader := users[n][0]
		behind, err := known.of(reader)
		if err != nil {
			return nil, nil, err
		}
		if need := behind.front; need > 1 {
			if n.HW.Fifo < need {
				errs = append(errs, shallow(n, need))
			}
			continue
		}
		for i, a := range reader.Args {
			if a != n {
				continue
			}
			reader.Args[i] = n.Args[0]
			waits, err := known.wait(reader, i)
			if err != nil {
				return nil, nil, err
			}
			if waits {
				given[fmt.Sprint(i, reader.Name)] = n
			} else {
				reader.Args[i] = n
			}
		}
	}
	return given, errs, nil
}

func shallow(n *ir.Node, need int) *diag.Error {
	return n.Errorf(diag.FIFOTooSmall, "FIFO %q holds %d beats and needs %d", n.Name, n.HW.Fifo, need).
		WithHint("set its depth to %d, or schedule the model again", need)
}
