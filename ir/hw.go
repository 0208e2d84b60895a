// SPDX-License-Identifier: Apache-2.0

package ir

import "lathe/ir/target"

// Style is how a unit spends area and time.
type Style uint8

// Styles of a unit.
const (
	StyleUndecided Style = iota
	StyleFold            // one multiplier array, reused over cycles
	StyleUnroll          // weights wired into sums, a sample or a window a cycle
)

// String is the word used in plans and in the text form.
func (s Style) String() string { return [...]string{"", "fold", "unroll"}[s] }

// Sums are the settings of sums of products with constants, which have no multipliers.
type Sums struct {
	// Depth is the most levels of logic that a sum may take, registers aside; 0: the least hardware.
	Depth float64
	// Stages is the rows of registers that a vector passes; 0: as many as paths of StageLevels levels ask for.
	Stages      int
	StageLevels float64
	// Effort is how many ways of adding up are tried for each sum; 0: a usual number.
	Effort int
	// Digits is the bits of the digits by which a vector goes into the sums, one a cycle: 1, 2 or 4; 0: whole elements do,
	// a vector a cycle.
	Digits int
	// LUT is the inputs of a LUT in front of a carry: 6, also where it is 0, or 4.
	LUT int
}

// HW is the hardware metadata of one node, in groups by subject. Zero means undecided; only lowering sets it.
type HW struct {
	Widths
	// Style chooses between the folded and the unrolled unit.
	Style Style
	// Sums says how the sums of an unrolled unit are built.
	Sums
	Timing
	Adapter
	Memory
	Products
	// DSP is what multiplies: "one" a DSP a multiplier, as the tools do it, "pack" one for two of linear or conv that
	// share their data, "chain" DSPs of UltraScale+ that also sum, "pack_chain" both, or "none", LUTs. "" is "one".
	DSP string
	// Part is the FPGA that the plan names, whose DSPs the products of the node fit; nil: it names none.
	Part *target.Device
	Ring
	Decoding
	Frames
	// Group is the node whose kernel on a GPU computes this one too; empty: its own.
	Group string
}

// Widths are the elements that the beats of a unit carry, and how many it works on at once.
type Widths struct {
	// InLanes and OutLanes are elements per beat that the unit works on: for linear and conv the parallel inputs
	// (along kernel and input channels) and the parallel output channels.
	InLanes, OutLanes int
	// Rows is the outputs that a unit for blocks computes at once, of which OutLanes leave a beat; 0 for other units.
	Rows int
	// StreamIn is the lanes of a beat that arrives; it differs from InLanes only for windowed units.
	StreamIn int
	// Second is the lanes of a beat of the second stream that arrives; 0: StreamIn.
	Second int
	// RowIn and RowOut are the elements of a row of keys as its beats carry it, on the first stream that arrives and on
	// the result: the last beats may have dead lanes, whose elements count for nothing. 0: rows end where beats do.
	RowIn, RowOut int
}

// Timing is what the schedule computes for a unit, in cycles.
type Timing struct {
	// II is the initiation interval of a sample in cycles; Latency the cycles from first beat in to first beat out.
	II, Latency int
}

// Adapter is what nodes that join streams have: a fifo or a fork.
type Adapter struct {
	// Fifo is the depth of a fifo node in beats.
	Fifo int
	// Branches is the number of readers of a fork node.
	Branches int
}

// Memory is where a unit keeps constants, rows, keys and values.
type Memory struct {
	// Mem is where constants live: "auto", "block" or "distributed".
	Mem string
	// Lines is the line buffer, the memory of rows of a window: "block", "distributed" or "ultra"; "" leaves it to
	// synthesis.
	Lines string
	// Weights are where the words of weights lie that a folded unit reads: "" in the chip as an image, "check" in a ROM
	// that is checked after reset, "stream" in a memory outside, from where they come each time, "hold" there and, after
	// reset, in the chip.
	Weights string
	// Ram is the RAM of weights that are loaded from there: "block" or "ultra"; "" is as Mem says.
	Ram string
	// Cache is "external" where keys or values of a decoder lie in a memory outside; "": in the chip.
	Cache string
	// Port is the bits of a beat of that memory, Burst the beats of a burst.
	Port, Burst int
}

// Outside says that the weights lie in a memory outside of the chip.
func (m *Memory) Outside() bool { return m.Weights != "" && m.Weights != "check" }

// Products says which of the forms that its column Products lists the unit of a node has.
type Products struct {
	// Factors are what is multiplied: "integers", "multiples" where weights of few bits select multiples of the data,
	// "weights" where weights are codes of floats or signs, "data" where elements of blocks are codes of floats, "codes"
	// where both are. Data whose format is one of floats are codes in every form.
	Factors string
	// Shifted says that weights whose channels have steps of their own are stored in the finest of these.
	Shifted bool
	// Keep of each Of neighbours in a row of weights are stored, with their places: the others are 0 and meet no
	// multiplier. 0: all are stored.
	Keep, Of int
}

// Ring is the place of a node among units that layers share.
type Ring struct {
	// Unit is the node whose unit computes this one too, in turn Turn of a sample, where layers share units; empty: its
	// own, in turn 0. Back is the node that takes the result again as a second stream, in the next turn.
	Unit string
	Turn int
	Back string
	// Images is how many samples in a row go through the units that layers share before the first of them goes through
	// again, as what the next layer reads; 0: one.
	Images int
}

// Decoding is what units of decoders have.
type Decoding struct {
	// Decode says that the unit is part of a decoder: sequences may end after any token, and the next one begins when all
	// that the unit holds has been dropped.
	Decode bool
	// Turns is, in a decoder whose layers share the unit, in how many turns each token goes through it before the next one
	// enters: every layer has positions, keys and values of its own. 0: one.
	Turns int
}

// Frames is how the frames of a value change in length, and how beats tell.
type Frames struct {
	// Tokens is the most tokens of a frame, of a value whose frames change in length; 0: frames have one length. Ends says
	// of an input that its stream has a bit a token, 1 for the last one of a frame, made of the ends of what comes in on
	// the first input. Marked says that beats have one more bit above: 1 on the last one of a frame.
	Tokens       int
	Ends, Marked bool
}

// Stats are measured facts about the values of a node.
type Stats struct {
	// Known says that Min and Max hold.
	Known bool
	// Min and Max bound the float values seen (Samples > 0) or possible (Samples == 0, interval analysis).
	Min, Max float64
	// Samples is how many samples were measured.
	Samples int
}

// Parts is how many parts a token has for a unit that layers of a decoder share: one for each of them.
func (h *HW) Parts() int { return max(h.Turns, 1) }

// TurnFrames is how many frames of a sample make all their turns through such units one after the other: the tokens of
// n; 1 elsewhere.
func (n *Node) TurnFrames() int {
	if n.HW.Turns < 2 {
		return 1
	}
	return n.Type.Tokens()
}

// Beats is how many beats a frame of the result of n has.
func (n *Node) Beats() int { return max((n.Carried()+n.HW.OutLanes-1)/max(n.HW.OutLanes, 1), 1) }

// BeatWidth is the bits of a beat of the result of n.
func (n *Node) BeatWidth() int {
	w := n.Type.BeatWidth(n.HW.OutLanes)
	if n.HW.Marked {
		w++
	}
	return w
}

// Carried is how many elements the beats of a frame of the result of n carry, dead ones included.
func (n *Node) Carried() int {
	if n.HW.RowOut == 0 {
		return n.Type.Elems()
	}
	return n.Type.Elems() / n.Type.Row() * n.HW.RowOut
}

// TakesRow is RowIn for argument i of n: only the first stream has padded rows.
func (n *Node) TakesRow(i int) int {
	for _, a := range n.Args[:i] {
		if !a.IsConst() {
			return 0
		}
	}
	return n.HW.RowIn
}

// InRow is Images, or 1 where it is not set.
func (h *HW) InRow() int { return max(h.Images, 1) }

// Takes is the lanes of beats that arrive as argument i of n.
func (n *Node) Takes(i int) int {
	for _, a := range n.Args[:i] {
		if !a.IsConst() && n.HW.Second > 0 {
			return n.HW.Second
		}
	}
	if n.HW.StreamIn == 0 {
		return n.HW.InLanes
	}
	return n.HW.StreamIn
}
