// SPDX-License-Identifier: Apache-2.0

// Package ring holds what layers that share units need: the parts of a ring of units, through which a sample goes once
// for each of the layers, the graph of the units, and the graph of all turns.
package ring

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// Ring is the attributes of the parts of a ring: in how many turns a sample goes through its units, and how many
// samples are in them, each of which makes a turn before the first one makes the next.
type Ring struct{ Turns, Images int }

// InRow is Images, or 1 where it is not set.
func (r *Ring) InRow() int { return max(r.Images, 1) }

// Enter gives the units of a ring their frames: the one from outside in the first turn, then those that return. The
// parts of rings exist only in scheduled graphs.
var Enter = ringPart("enter", "gives layers that share units what each reads", ir.Enters, enterUnit)

// Again returns the frames of all turns but the last.
var Again = ringPart("again", "passes what a layer gives on to the next one, which shares its units", ir.Returns,
	againUnit)

// Leave passes on the frame of the last turn.
var Leave = ringPart("leave", "gives what the last of the layers that share units has computed", ir.Leaves, leaveUnit)

// Replay gives one frame in each turn: a value that all layers read. It has a branch for each layer.
var Replay = ringPart("replay", "gives a value to every one of the layers that share units", ir.Replays, replayUnit)

// ringPart is an operation that leaves values alone.
func ringPart(name, doc string, part ir.RingPart, unit func(width, beats, turns int) *rtl.Unit) *ir.Op {
	return &ir.Op{
		Name: name, Doc: doc, Arity: [2]int{1, 1}, Attrs: Ring{},
		Traits: ir.Traits{KeepsCodes: true, Monotone: true, Elementwise: true, Ring: part, Forks: part == ir.Replays},
		Infer:  column.SameShape,
		Eval:   column.PassThrough,
		HLO:    func(_ *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) { return args[0], nil },
		Legal:  column.SameFormat,
		Gen:    genRing,
		Lanes:  lane.Follows,
		RTL: func(n *ir.Node) (*rtl.Unit, error) {
			lanes, r, frames := n.HW.InLanes, n.Attrs.(*Ring), n.TurnFrames()
			u := unit(n.Type.BeatWidth(lanes), r.InRow()*hardware.Beats(n.Type, lanes)/frames, r.Turns)
			u.Frames = max(u.Frames, 1) * frames
			return u, nil
		},
	}
}

// InsertPart puts a part of a ring behind a node.
func InsertPart(g *ir.Graph, part ir.RingPart, name string, at *ir.Node, r Ring) *ir.Node {
	o := map[ir.RingPart]*ir.Op{ir.Enters: Enter, ir.Returns: Again, ir.Leaves: Leave, ir.Replays: Replay}[part]
	n := &ir.Node{Name: g.FreshName(name), Op: o, Args: []*ir.Node{at}, Type: at.Type, Pos: at.Pos, Stats: at.Stats,
		Attrs: &r}
	g.InsertAfter(at, n)
	return n
}

// Images is how many samples at a time are in the layers of units that share them; 1 where none do.
func Images(units *ir.Graph) int {
	for _, n := range units.Nodes {
		if r, ok := n.Attrs.(*Ring); ok {
			return r.InRow()
		}
	}
	return 1
}

// The units of the parts are those of a frame of all samples that are in the ring: beats counts those of it.

// straight is a part of a ring of one turn.
func straight(width, beats int) *rtl.Unit {
	u := rtl.NewUnit("stream_skid", "WIDTH", width)
	u.Frames = beats
	return u
}

func enterUnit(width, beats, turns int) *rtl.Unit {
	if turns == 1 {
		return straight(width, beats)
	}
	u := rtl.NewUnit("op_concat", "WIDTH", width, "A_BEATS", beats, "B_BEATS", (turns-1)*beats)
	u.In = []string{"a", "b"}
	return u
}

func againUnit(width, beats, turns int) *rtl.Unit {
	if turns == 1 {
		return straight(width, beats)
	}
	return rtl.NewUnit("op_again", "WIDTH", width, "BEATS", beats, "TURNS", turns)
}

func leaveUnit(width, beats, turns int) *rtl.Unit {
	return rtl.NewUnit("op_slice", "WIDTH", width, "BEATS", turns*beats, "FIRST", (turns-1)*beats, "RUN", beats,
		"EVERY", beats)
}

func replayUnit(width, beats, turns int) *rtl.Unit {
	return rtl.NewUnit("op_repeat", "WIDTH", width, "BEATS", beats, "TIMES", turns)
}

// genRing draws a part of a ring of one turn: longer ones are graphs, which no operation draws.
func genRing(r *rand.Rand, o *ir.Op) *ir.Graph {
	g := draw.Same(r, o)
	g.Out[0].Node.Attrs = &Ring{Turns: 1}
	return g
}
