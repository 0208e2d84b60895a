// SPDX-License-Identifier: Apache-2.0

// Package plan is what the user may choose about lowering, in one TOML file (docs/plan.md), and how it is read.
package plan

import (
	"lathe/ir/format"
	"lathe/ir/op/block"
	"lathe/ir/target"
)

// Plan is everything that the user may choose about lowering. Parse reads it, Default fills it in.
type Plan struct {
	// File names the plan in messages; empty for the default plan.
	File     string
	Target   Target
	Quantize Quantize
	Fold     Fold
	// Decode makes a decoder of a causal model: sequences of up to its tokens, which may come one by one.
	Decode bool
	// Lengths lets every frame have its own number of tokens, up to those of the inputs.
	Lengths bool
	// BadFrame is a word of BadFrames.
	BadFrame string
	Inputs   []Input
	Outputs  []Output
	// Train, Prune, LoRA, Distill and Bits are about training.
	Train   Train
	Prune   Prune
	LoRA    LoRA
	Distill Distill
	Bits    Bits
	// Notes say where settings from outside and the file disagree.
	Notes []string
}

// Target is the device and its clock.
type Target struct {
	FPGA target.Device
	// Stated says that the plan names the part, and not only the default: then designs of the balance mode must fit.
	Stated   bool
	ClockMHz float64
	// StreamMHz is the clock of the streams, where they have one of their own; 0: they keep to the design's.
	StreamMHz float64
}

// Quantize chooses number formats.
type Quantize struct {
	// Data, Weight and Bias hold where no rule decides.
	Data, Weight, Bias Choice
	// Unsigned says that values which are never negative take the bits of Data, where that leaves the fraction bits open,
	// without a sign.
	Unsigned bool
	// Acc is the most bits of a window accumulator, which sums of products over blocks go into.
	Acc int
	// Calibrate is how fraction bits are chosen that a format leaves open.
	Calibrate Method
	// Equalize moves powers of two between layers, so that the channels between them have ranges alike; nil: where it
	// helps.
	Equalize *bool
	// Smooth, if not nil, does that behind norms and scales too, and is the share of ranges that weights take over.
	Smooth *float64
	// RoundWeights is how codes of weights are chosen.
	RoundWeights Rounding
	// DigitPrice is what a signed digit of a weight costs with RoundDigits, in shares of the variance of the outputs of a
	// layer; nil: the highest price with which the outputs of the model keep enough.
	DigitPrice *float64
	// CorrectBias shifts biases by the mean error that quantization makes of each output channel of a layer.
	CorrectBias bool
	// Round and Over hold for formats whose text does not say them.
	Round format.Round
	Over  format.Over
	// Rules are tried in order: the first that matches a node and sets a slot decides that slot.
	Rules []*Rule
}

// Rule chooses formats for the nodes that it matches; a nil slot is left to later rules.
type Rule struct {
	Match
	// Skip keeps a node float; false protects it from later rules.
	Skip                          *bool
	DataIn, Weight, Bias, DataOut *Choice
	// Gate and Cell are formats within a recurrent layer: what sigmoid and tanh read, and the state.
	Gate, Cell *Choice
	// Channels gives the channels of the result formats of their own; nil leaves them alike.
	Channels *Channels
}

// Default is the plan of a user who gives none: 8 bits for data and weights, 16 for the bias.
func Default() *Plan {
	fpga, _ := target.Find(target.Default) // a test finds it in the list
	fixed := func(slot string, w int) Choice {
		return Choice{
			Pattern: format.Pattern{W: w, Format: format.Fixed{W: w, Signed: true}},
			From:    "the default for " + slot,
		}
	}
	return &Plan{
		Target: Target{FPGA: *fpga, ClockMHz: fpga.Technology().ClockMHz},
		Quantize: Quantize{
			Data: fixed("data", 8), Weight: fixed("weight", 8), Bias: fixed("bias", 16), Unsigned: true,
			Calibrate: MSE, Acc: block.WindowW,
		},
		Fold: Fold{Mode: "lean", From: "the default mode", Layers: "spatial", Images: 1,
			Memory: Memory{Weights: "rom", Ram: "auto", AXIBits: DefaultAXI, Burst: DefaultBurst},
			Sums:   UsualSums},
		BadFrame: BadFrames[0],
		Train:    usualTraining(),
	}
}
