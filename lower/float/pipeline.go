// SPDX-License-Identifier: Apache-2.0

// Package float lowers imported graphs that stay float: operations that exporters have decomposed become whole, factors
// and summands go into weights, images become channels-last, and hardware ends where it can.
package float

import (
	"slices"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float/layout"
	"lathe/lower/float/recognize"
	"lathe/lower/float/simplify"
	"lathe/lower/pass"
)

// rounding bounds the error of rewrites that are equal in real arithmetic and compute in float32.
const rounding = 1e-4

// Constants is the pass that computes constants, the first of each way through this package: no pass behind it leaves a
// node that reads nothing but constants (docs/architecture.md), and --check-passes holds them to it.
var Constants = pass.New("compute_constants", "computes nodes whose arguments are all constants", pass.Exact, 0,
	only(ref.Compute))

// Admission makes an imported graph one that quantization takes, or refuses it.
var Admission = slices.Concat(pass.Pipeline[*State]{
	Constants,
	pass.New("constant_index", "lookups and writes at constant positions become slices, stretches and concats", pass.Exact,
		0, func(_ *State, g *ir.Graph) error {
			if err := simplify.Places(g); err != nil {
				return err
			}
			return simplify.Writes(g)
		}),
	pass.New("selections_to_tables", "functions of one value that compare and select become one function each",
		pass.Lossy, rounding, func(_ *State, g *ir.Graph) error {
			if refuseWhole(g) == nil { // recognizers behind find more in what is decomposed
				return nil
			}
			return recognize.Formulas(g)
		}),
	pass.New("choices_to_sums", "choices by constant conditions become sums of products with 0 and 1", pass.Lossy,
		rounding, only(simplify.Choices)),
	pass.New("refuse_values", "names all weights and factors that depend on inputs", pass.Annotate, 0, only(refuseValues)),
	pass.New("refuse_whole", "names all operations without hardware, where whole numbers are computed with",
		pass.Annotate, 0, only(refuseWhole)),
}, Wholes)

// Pipeline simplifies a graph whose constants are computed and makes it channels-last.
var Pipeline = pass.Pipeline[*State]{
	pass.New("drop_identity", "removes nodes that return their argument", pass.Exact, 0, only(simplify.Identities)),
	pass.New("constant_to_clip", "the minimum or maximum with one number becomes clip", pass.Exact, 0,
		only(simplify.Bounds)),
	pass.New("join_clips", "clips and ReLUs in a row become one clip", pass.Exact, 0, only(simplify.Clips)),
	pass.New("recognize_functions",
		"decomposed functions of single elements become one, which hardware looks up in one table",
		pass.Lossy, rounding, recognizer(recognize.Functions)),
	pass.New("recognize_softmax", "exponential functions and their sums become softmax and log_softmax", pass.Lossy,
		rounding,
		recognizer(recognize.Softmax)),
	pass.New("recognize_norms", "decomposed normalizations become layer_norm and rms_norm", pass.Lossy, rounding,
		recognizer(recognize.Norms)),
	pass.New("recognize_attention", "products, scale, mask and softmax become attention", pass.Lossy, rounding,
		recognizer(recognize.Attention)),
	pass.New("tokens_first",
		"attention becomes scores, weights and sums, and rotary rotate, on tokens before their heads",
		pass.Lossy, rounding, only(layout.TokensFirst)),
	pass.New("attend_products", "products of two values become scores or sums of one head, which have units", pass.Lossy,
		rounding,
		only(layout.Products)),
	pass.New("absorb_pads", "pads of zeros go into the convolutions and averages after them, of -inf into max pools",
		pass.Lossy, rounding, only(simplify.Pads)),
	pass.New("constant_join", "constants joined to a stream are added to zeros beside it", pass.Lossy, rounding,
		only(simplify.Joined)),
	pass.New("expand", "operations without a unit become those that they consist of: batch_norm becomes scale",
		pass.Lossy, rounding,
		only(simplify.Composites)),
	pass.New("functions_to_tables", "functions of one value that hold an operation without a unit become one each",
		pass.Lossy, rounding, only(recognize.Formulas)),
	pass.New("divide_to_multiply", "divisions become products with reciprocals, of constants or looked up in a table",
		pass.Lossy, rounding, only(simplify.Divisions)),
	pass.New("constant_to_scale", "add, sub and mul by a constant per channel become scale", pass.Lossy, rounding,
		only(simplify.Arithmetic)),
	pass.New("absorb_scale", "scale goes into the weights and bias of the linear, conv or scale that it comes from",
		pass.Lossy, rounding, only(simplify.Scales)),
	pass.New("absorb_input_scale",
		"the scale of an input, with factors of about one size, goes into the linear layer after it",
		pass.Lossy, rounding, only(simplify.InputScales)),
	pass.New("channels_last", "images become N, H, W, C, between transposes", pass.Lossy, rounding,
		only(layout.ChannelsLast)),
	pass.New("cancel_moves",
		"transposes and reshapes in a row that leave the order of elements as it was become one reshape",
		pass.Exact, 0, func(_ *State, g *ir.Graph) error {
			if err := layout.Cancel(g); err != nil {
				return err
			}
			return layout.Free(g)
		}),
	pass.New("sink_transpose", "transposes move towards the outputs and cancel", pass.Exact, 0, only(layout.Sink)),
	pass.New("absorb_transpose", "transposes go into graph outputs and into the columns of linear weights", pass.Lossy,
		rounding,
		only(layout.Absorb)),
	pass.New("hoist_transpose", "transposes that are left move towards the inputs", pass.Exact, 0, only(layout.Hoist)),
	pass.New("permute_inputs", "transposes of inputs become the layout of the input", pass.Exact, 0, only(layout.Inputs)),
	pass.New("join_moves", "transposes and reshapes in a row become one transpose between reshapes", pass.Exact, 0,
		only(layout.Join)),
	pass.New("free_transpose", "transposes that keep the order of elements become reshapes", pass.Exact, 0,
		only(layout.Free)),
}

// RecognizeOrders are the reasons for the order of Recognizing.
var RecognizeOrders = []pass.Order{
	pass.First("compute_constants", "recognize_functions",
		"numbers that exporters compute by nodes must be seen as constants"),
	pass.First("drop_identity", "recognize_functions", "parts of a function must read each other"),
	pass.First("sink_reshape", "share_common", "two sums, one of them made wide again, are the same without the reshapes"),
	pass.First("share_common", "recognize_functions", "parts that only a pattern reads vanish with it"),
	pass.First("recognize_functions", "recognize_norms", "a function within a norm is part of no product"),
	pass.First("recognize_softmax", "recognize_attention", "attention has a softmax"),
	pass.First("recognize_norms", "recognize_linear", "the summand after a norm is its bias"),
	pass.First("recognize_linear", "recognize_rotary", "queries and keys come from linear layers"),
	pass.First("recognize_rotary", "recognize_attention", "the scale of queries and keys stands after the embedding"),
	pass.First("recognize_linear", "share_weights", "patterns turn and cut one constant for several readers"),
	pass.First("recognize_attention", "join_reshape", "heads are grouped otherwise around attention"),
}
