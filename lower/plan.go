// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"regexp"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/block"
	"lathe/ir/target"
	"lathe/lower/calib"
)

// Plan is everything that the user may choose about lowering. ParsePlan reads it, DefaultPlan fills it in.
type Plan struct {
	// File names the plan in messages; empty for the default plan.
	File     string
	Target   Target
	Quantize QuantizePlan
	Fold     FoldPlan
	// Decode makes a decoder of a causal model: sequences of up to its tokens, which may come one by one.
	Decode bool
	// Lengths lets every frame have its own number of tokens, up to those of the inputs.
	Lengths bool
	Inputs  []InputPlan
	Outputs []OutputPlan
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

// QuantizePlan chooses number formats.
type QuantizePlan struct {
	// Data, Weight and Bias hold where no rule decides.
	Data, Weight, Bias Choice
	// Unsigned says that values which are never negative take the bits of Data, where that leaves the fraction bits open,
	// without a sign.
	Unsigned bool
	// Acc is the most bits of a window accumulator, which sums of products over blocks go into.
	Acc int
	// Calibrate is how fraction bits are chosen that a format leaves open.
	Calibrate calib.Method
	// Equalize moves powers of two between layers, so that the channels between them have ranges alike.
	Equalize bool
	// Smooth, if not nil, does that behind norms and scales too, and is the share of ranges that weights take over.
	Smooth *float64
	// RoundWeights is how codes of weights are chosen.
	RoundWeights Rounding
	// CorrectBias shifts biases by the mean error that quantization makes of each output channel of a layer.
	CorrectBias bool
	// Round and Over hold for formats whose text does not say them.
	Round format.Round
	Over  format.Over
	// Rules are tried in order: the first that matches a node and sets a slot decides that slot.
	Rules []*Rule
}

// Choice is a format that the plan asks for.
type Choice struct {
	Pattern format.Pattern
	// From says who asks: `plan.toml:9 [[quantize.rule]] name = "fc1"`, or that it is the default.
	From string
	// Given says that the plan asks for it, and not only the default: then it stands above what the model itself says.
	Given bool

	calibrated bool // values of calibration completed it
}

// Match selects nodes: every field that is not empty must match.
type Match struct {
	Op, Name, Regex string
	// From is the place of the rule in the plan, with its first matching key.
	From string

	glob, regex *regexp.Regexp
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

// FoldPlan chooses how much hardware each layer gets.
type FoldPlan struct {
	// Mode is "lean" (the rate of fold with the least hardware), "fold" (some lanes in every layer), "unroll" (weights
	// wired into sums) or "balance" (for a rate or a budget).
	Mode string
	// Layers is "spatial" (units for every layer) or "loop" (layers that are alike share one block of units), LayersFrom
	// the plan line that says so.
	Layers, LayersFrom string
	// Images is how many samples are at once in the block that layers share, if they do: each goes through it before the
	// first of them goes through it again.
	Images int
	// From is the plan line of Mode.
	From  string
	Rules []*FoldRule
	// DSP holds where no rule sets it.
	DSP string
	// Memory is where weights live.
	Memory MemoryPlan
	// Sums says how those of unrolled layers are built, SumsFrom is the plan line that does, if there is one.
	Sums     ir.Sums
	SumsFrom string
	// AutoUnroll lets the balance mode unroll layers.
	AutoUnroll bool
	// FPS is the wanted rate and MaxLUT, MaxFF, MaxDSP, MaxBRAM are the bounds of the balance mode; 0: none. ParsePlan
	// refuses them in any other mode.
	FPS                            float64
	MaxLUT, MaxFF, MaxDSP, MaxBRAM int
}

// bounds are the keys that bound what a design takes, with their values.
func (f *FoldPlan) bounds() []bound {
	return []bound{{"max_lut", &f.MaxLUT}, {"max_ff", &f.MaxFF}, {"max_dsp", &f.MaxDSP}, {"max_bram", &f.MaxBRAM}}
}

// bound is a key of the balance mode and the number of cells that it stands for; 0: none.
type bound struct {
	key  string
	most *int
}

// FoldRule chooses lanes for the nodes that it matches; 0 leaves a choice to later rules and to the mode.
type FoldRule struct {
	Match
	// InLanes and OutLanes are elements a beat: for linear and conv parallel inputs and parallel output channels.
	InLanes, OutLanes int
	// Style overrides the mode for these nodes.
	Style ir.Style
	// Mem is where the weights live: "auto", "block", "distributed".
	Mem string
	// Lines is the memory of line buffers: "auto", "block", "distributed" or "ultra".
	Lines string
	// Weights says whether weights live in the chip or outside: a word of [memory].
	Weights string
	// Ram is the RAM of weights that are loaded: a word of [memory].
	Ram string
	// DSP is what multiplies: "one" DSP a multiplier, "pack" for two, "chain" to sum as well, "none",
	// or "auto".
	DSP string
}

// InputPlan is what the plan says of one graph input.
type InputPlan struct {
	Name   string
	Format *Choice
	// Range bounds the values of the input; nil: not declared.
	Range *[2]float64
	// Shape binds the dimensions that the model leaves open; nil: not given.
	Shape []int
	// Saturate takes NaN in samples as 0, and infinities as the greatest or least value.
	Saturate bool
	From     string
}

// OutputPlan is what the plan says of one graph output.
type OutputPlan struct {
	Name   string
	Format *Choice
	From   string
}

// DefaultPlan is the plan of a user who gives none: 8 bits for data and weights, 16 for the bias.
func DefaultPlan() *Plan {
	fpga, _ := target.Find(target.Default) // a test finds it in the list
	fixed := func(slot string, w int) Choice {
		return Choice{
			Pattern: format.Pattern{W: w, Format: format.Fixed{W: w, Signed: true}},
			From:    "the default for " + slot,
		}
	}
	return &Plan{
		Target: Target{FPGA: *fpga, ClockMHz: 250},
		Quantize: QuantizePlan{
			Data: fixed("data", 8), Weight: fixed("weight", 8), Bias: fixed("bias", 16), Unsigned: true,
			Calibrate: calib.MSE, Acc: block.WindowW,
		},
		Fold: FoldPlan{Mode: "lean", From: "the default mode", Layers: "spatial", Images: 1,
			Memory: MemoryPlan{Weights: "rom", Ram: "auto", AXIBits: defaultAXI, Burst: defaultBurst},
			Sums:   usualSums},
	}
}

// Shapes lists the input shapes that the plan declares, by input name, for the frontend.
func (p *Plan) Shapes() map[string][]int {
	shapes := make(map[string][]int)
	for _, in := range p.Inputs {
		if in.Shape != nil {
			shapes[in.Name] = in.Shape
		}
	}
	return shapes
}

// input returns what the plan says of an input, or nil.
func (p *Plan) input(name string) *InputPlan {
	for i := range p.Inputs {
		if p.Inputs[i].Name == name {
			return &p.Inputs[i]
		}
	}
	return nil
}

// output returns what the plan says of an output, or nil.
func (p *Plan) output(name string) *OutputPlan {
	for i := range p.Outputs {
		if p.Outputs[i].Name == name {
			return &p.Outputs[i]
		}
	}
	return nil
}

// Covers says that the rule's keys all match node n.
func (m *Match) Covers(n *ir.Node) bool {
	return (m.Op == "" || m.Op == n.Op.Name) && (m.glob == nil || m.glob.MatchString(n.Name)) &&
		(m.regex == nil || m.regex.MatchString(n.Name))
}
