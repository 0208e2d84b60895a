// SPDX-License-Identifier: Apache-2.0

// Package float lowers imported graphs that stay float: operations that exporters have decomposed become whole,
// everything
// that is a factor and a summand goes into weights, images become channels-last, and hardware ends where it can.
package float

import (
	"lathe/ir"
	"lathe/lower/float/layout"
	"lathe/lower/float/recognize"
	"lathe/lower/float/simplify"
	"lathe/lower/pass"
)

// rounding bounds the error of rewrites that are equal in real arithmetic and compute in float32.
const rounding = 1e-4

// Pipeline simplifies an imported graph and makes it channels-last.
var Pipeline = pass.Pipeline[*State]{
	pass.New("compute_constants", "computes nodes whose arguments are all constants", pass.Exact, 0, only(pass.Constants)),
	pass.New("drop_identity", "removes nodes that return their argument", pass.Exact, 0, only(simplify.Identities)),
	pass.New("constant_to_clip", "the minimum or maximum with one number becomes clip", pass.Exact, 0,
		only(simplify.Bounds)),
	pass.New("join_clips", "clips and ReLUs in a row become one clip", pass.Exact, 0, only(simplify.Clips)),
	pass.New("recognize_functions",
		"decomposed functions of single elements become one, which hardware looks up in one table",
		pass.Lossy, rounding, recognizer(recognize.Table[0].Patterns)),
	pass.New("recognize_softmax", "exponential functions and their sums become softmax and log_softmax", pass.Lossy,
		rounding,
		recognizer(recognize.Table[1].Patterns)),
	pass.New("recognize_norms", "decomposed normalizations become layer_norm and rms_norm", pass.Lossy, rounding,
		recognizer(recognize.Table[2].Patterns)),
	pass.New("recognize_attention", "products, scale, mask and softmax become attention", pass.Lossy, rounding,
		recognizer(recognize.Table[5].Patterns)),
	pass.New("tokens_first",
		"attention becomes scores, weights and sums, and rotary rotate, on tokens before their heads", pass.Lossy,
		rounding, only(layout.TokensFirst)),
	pass.New("attend_products", "products of two values become scores or sums of one head, which have units", pass.Lossy,
		rounding,
		only(layout.Products)),
	pass.New("absorb_pads", "pads of zeros go into the convolutions and averages after them", pass.Lossy, rounding,
		only(simplify.Pads)),
	pass.New("constant_join", "constants joined to a stream are added to zeros beside it", pass.Lossy, rounding,
		only(simplify.Joined)),
	pass.New("expand", "operations without a unit become those that they consist of: batch_norm becomes scale",
		pass.Lossy, rounding,
		only(simplify.Composites)),
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

// Orders are the reasons for the order of the pipelines; a test holds the pipelines to them.
var Orders = []pass.Order{
	pass.First("compute_constants", "constant_to_scale",
		"constants that exporters compute by nodes must be seen as constants"),
	pass.First("compute_constants", "channels_last",
		"weights that nodes transpose must be constants before they are permuted"),
	pass.First("drop_identity", "recognize_functions", "parts of a function must read each other"),
	pass.First("recognize_functions", "constant_to_scale", "factors and summands of a function must not become scales"),
	pass.First("recognize_norms", "expand", "norms consist of sums and products"),
	pass.First("recognize_softmax", "recognize_attention", "attention has a softmax"),
	pass.First("recognize_attention", "attend_products", "products of queries and keys are parts of attention"),
	pass.First("attend_products", "cancel_moves", "transposes around products are undone"),
	pass.First("recognize_attention", "tokens_first", "attention is taken apart again, otherwise"),
	pass.First("tokens_first", "sink_transpose", "the transposes that it inserts must meet"),
	pass.First("tokens_first", "channels_last", "fewer transposes stand between heads and tokens"),
	pass.First("drop_identity", "absorb_pads",
		"an identity between a pad and its convolution would hide one from the other"),
	pass.First("compute_constants", "constant_to_clip",
		"constants that exporters compute by nodes must be seen as constants"),
	pass.First("constant_to_clip", "join_clips", "the minimum and the maximum with a number are clips in a row"),
	pass.First("compute_constants", "constant_join", "a token that nodes repeat must be seen as a constant"),
	pass.First("absorb_pads", "constant_join", "its zeros would go into a convolution that must see the constants"),
	pass.First("drop_identity", "absorb_scale", "a dropout between conv and batch_norm would hide one from the other"),
	pass.First("constant_to_scale", "absorb_scale",
		"a bias that is an addition of its own becomes the bias of the linear"),
	pass.First("expand", "absorb_scale", "scale is the one form that is absorbed"),
	pass.First("expand", "constant_to_scale", "norms consist of sums and products with constants, too"),
	pass.First("absorb_scale", "absorb_input_scale", "two scales in a row are one, which the layer can take"),
	pass.First("constant_to_scale", "channels_last",
		"the channel axis of a constant is known while images are channels-first"),
	pass.First("absorb_scale", "channels_last", "fewer nodes stand between the transposes"),
	pass.First("channels_last", "cancel_moves", "images of tokens are turned back, too"),
	pass.First("tokens_first", "cancel_moves", "heads of tokens are turned back, too"),
	pass.First("cancel_moves", "sink_transpose", "a transpose that another one undoes would move away from it"),
	pass.First("channels_last", "sink_transpose", "the transposes that it inserts must meet"),
	pass.First("sink_transpose", "absorb_transpose", "transposes must have reached outputs and reshapes"),
	pass.First("absorb_transpose", "hoist_transpose", "a transpose that columns can absorb must not move away from them"),
	pass.First("hoist_transpose", "permute_inputs", "transposes must have reached the inputs"),
	pass.First("permute_inputs", "free_transpose", "a reshape at an input would hide the layout from the caller"),
	pass.First("hoist_transpose", "join_moves", "transposes that are left must have come to rest"),
	pass.First("permute_inputs", "join_moves", "a transpose of an input costs nothing, and one within a chain does"),
	pass.First("join_moves", "free_transpose", "a transpose of pieces may turn out to be free"),
	pass.First("softmax_last", "calibrate", "formats are chosen of the values that units compute"),
	pass.First("refuse_float", "calibrate", "nothing is measured on a graph that is refused"),
	pass.First("refuse_float", "equalize", "nothing is measured on a graph that is refused"),
	pass.First("equalize", "calibrate", "formats are chosen of the values that units compute"),
	pass.First("calibrate", "search_ranges", "ranges are moved from those that calibration chose"),
	pass.First("search_ranges", "quantize", "formats are chosen once"),
	pass.First("calibrate", "quantize", "formats are chosen from values"),
	pass.First("quantize", "round_weights", "codes are chosen of formats and scales that stay"),
	pass.First("round_weights", "correct_bias", "biases make up for what is left"),
	pass.First("quantize", "correct_bias", "biases make up for what rounding weights and values has moved"),
	pass.First("correct_bias", "measure_error", "the error is that of the graph that comes out"),
	pass.First("refuse_stream", "insert_forks", "nothing is built on a graph that is refused"),
	pass.First("refuse_stream", "pair_streams", "errors name the nodes of the model"),
	pass.First("pair_streams", "insert_forks", "a value may be repeated for one of its readers"),
	pass.First("insert_forks", "choose_lanes", "a value of an unused node would be a reader; forks have lanes too"),
	pass.First("insert_forks", "insert_adapters", "every branch has adapters of its own"),
	pass.First("choose_lanes", "absorb_decoders", "whether a unit takes codes depends on its style"),
	pass.First("absorb_decoders", "insert_adapters", "adapters would stand between a decoder and its reader"),
	pass.First("absorb_decoders", "place_thresholds",
		"decoders of what thresholds make are gone before their cost counts"),
	pass.First("place_thresholds", "insert_adapters", "adapters would stand between a sum and what follows"),
	pass.First("choose_lanes", "absorb_channels", "only sums that are unrolled round rows one by one"),
	pass.First("absorb_channels", "insert_adapters", "adapters would stand between a sum and its codes"),
	pass.First("choose_lanes", "insert_adapters", "adapters join lanes that differ"),
	pass.First("insert_adapters", "mark_frames", "adapters know of no marks"),
	pass.First("mark_frames", "time_units", "marks are units, and forks have a branch for each"),
	pass.First("time_units", "size_fifos", "beats take the time of the units"),
	pass.First("insert_adapters", "time_units", "adapters have a latency too"),
}

// RecognizeOrders are the reasons for the order of RecognizePipeline.
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
	pass.First("recognize_linear", "absorb_weights", "weights of products are transposed"),
	pass.First("absorb_weights", "share_weights", "patterns turn and cut one constant for several readers"),
	pass.First("recognize_attention", "join_reshape", "heads are grouped otherwise around attention"),
}
