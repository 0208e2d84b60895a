// SPDX-License-Identifier: Apache-2.0

package ir

import "slices"

// Lanes are the foldings that the unit of a node can have, as data: what lowering chooses from, what difftest draws
// from, and what plans call in_lanes and out_lanes. The cycles of a folding are those of the unit that it makes: see
// rtl.Unit. Without legal numbers a unit has as many lanes as arrive.
type Lanes struct {
	// In are the legal in_lanes. Out are the legal out_lanes of a unit that computes In by Out products at once; without
	// them there is one number, one of In, and Tie gives in_lanes and out_lanes that go with it. No Tie: both are that.
	In, Out Count
	Tie     func(lanes int) (in, out int)
	// Stream lists, ascending, the lanes that beats on the way in may have. nil: as many as in_lanes.
	Stream func(in, out int) []int
	// Second is the lanes of the beats of the second stream. nil: those of the first.
	Second func(in, out int) int
	// Drain is how many of the results that are computed at once leave a beat. nil: all of them.
	Drain func(in, out int) int
	// Styles are those that there are units for; none where nothing multiplies by weights. Units that have some take all
	// lanes for "unroll".
	Styles []Style
	// Mem says that the unit keeps constants or frames in a memory of its own.
	Mem bool
	// TakesDead says that rows of the first stream may end in dead lanes, GivesDead that those of the result may. A unit
	// with both has rows of one length.
	TakesDead, GivesDead bool
	// Meets says that the unit has, by default, as many lanes as the other streams of its only reader.
	Meets bool
}

// Count is a number to choose.
type Count struct {
	// Legal are the values, ascending; Size is what they divide, and Things what is counted, for messages.
	Legal  []int
	Size   int
	Things string
}

// Follows says that a unit has the lanes that arrive.
func (l *Lanes) Follows() bool { return l.In.Legal == nil }

// Product says that in_lanes and out_lanes are chosen apart.
func (l *Lanes) Product() bool { return l.Out.Legal != nil }

// Tied are the in_lanes and out_lanes that go with one of In.
func (l *Lanes) Tied(lanes int) (in, out int) {
	if l.Tie == nil {
		return lanes, lanes
	}
	return l.Tie(lanes)
}

// Streams are the lanes of beats on the way in that go with in_lanes and out_lanes.
func (l *Lanes) Streams(in, out int) []int {
	if l.Stream == nil {
		return []int{in}
	}
	return l.Stream(in, out)
}

// Set gives n a folding; results is the out_lanes, of which Drain may let fewer leave a beat.
func (l *Lanes) Set(hw *HW, in, results, stream int) {
	hw.InLanes, hw.OutLanes, hw.StreamIn, hw.Second = in, results, stream, 0
	if l.Second != nil {
		hw.Second = l.Second(in, results)
	}
	if l.Drain != nil {
		hw.Rows, hw.OutLanes = results, l.Drain(in, results)
	}
}

// StyleOf is the style of a unit with the given lanes, asked for the given one: only all lanes are unrolled.
func (l *Lanes) StyleOf(asked Style, in, out int) Style {
	switch {
	case len(l.Styles) == 0:
		return StyleUndecided
	case asked == StyleUnroll && in == slices.Max(l.In.Legal) &&
		(!l.Product() || out == slices.Max(l.Out.Legal)) && slices.Contains(l.Styles, StyleUnroll):
		return StyleUnroll
	}
	return StyleFold
}
