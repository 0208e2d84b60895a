// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
	"lathe/lower/fuse"
	"lathe/lower/layout"
	"lathe/lower/recognize"
	"lathe/lower/simplify"
)

// rounding bounds the error of rewrites that are equal in real arithmetic and compute in float32.
const rounding = 1e-4

// FloatPipeline simplifies an imported graph and makes it channels-last.
var FloatPipeline = Pipeline{
	{"compute_constants", "computes nodes whose arguments are all constants", Exact, 0, only(simplify.Constants)},
	{"drop_identity", "removes nodes that return their argument", Exact, 0, only(simplify.Identities)},
	{"constant_to_clip", "the minimum or maximum with one number becomes clip", Exact, 0, only(simplify.Bounds)},
	{"join_clips", "clips and ReLUs in a row become one clip", Exact, 0, only(simplify.Clips)},
	{"recognize_functions", "decomposed functions of single elements become one, which hardware looks up in one table",
		Lossy, rounding, recognizer(recognize.Table[0].Patterns)},
	{"recognize_softmax", "exponential functions and their sums become softmax and log_softmax", Lossy, rounding,
		recognizer(recognize.Table[1].Patterns)},
	{"recognize_norms", "decomposed normalizations become layer_norm and rms_norm", Lossy, rounding,
		recognizer(recognize.Table[2].Patterns)},
	{"recognize_attention", "products, scale, mask and softmax become attention", Lossy, rounding,
		recognizer(recognize.Table[5].Patterns)},
	{"tokens_first", "attention becomes scores, weights and sums, and rotary rotate, on tokens before their heads", Lossy,
		rounding, only(layout.TokensFirst)},
	{"attend_products", "products of two values become scores or sums of one head, which have units", Lossy, rounding,
		only(layout.Products)},
	{"absorb_pads", "pads of zeros go into the convolutions and averages after them", Lossy, rounding,
		only(simplify.Pads)},
	{"constant_join", "constants joined to a stream are added to zeros beside it", Lossy, rounding,
		only(simplify.Joined)},
	{"expand", "operations without a unit become those that they consist of: batch_norm becomes scale", Lossy, rounding,
		only(simplify.Composites)},
	{"constant_to_scale", "add, sub and mul by a constant per channel become scale", Lossy, rounding,
		only(simplify.Arithmetic)},
	{"absorb_scale", "scale goes into the weights and bias of the linear, conv or scale that it comes from",
		Lossy, rounding, only(simplify.Scales)},
	{"absorb_input_scale", "the scale of an input, with factors of about one size, goes into the linear layer after it",
		Lossy, rounding, only(simplify.InputScales)},
	{"channels_last", "images become N, H, W, C, between transposes", Lossy, rounding, only(layout.ChannelsLast)},
	{"cancel_moves", "transposes and reshapes in a row that leave the order of elements as it was become one reshape",
		Exact, 0, func(_ *State, g *ir.Graph) error {
			if err := layout.Cancel(g); err != nil {
				return err
			}
			return layout.Free(g)
		}},
	{"sink_transpose", "transposes move towards the outputs and cancel", Exact, 0, only(layout.Sink)},
	{"absorb_transpose", "transposes go into graph outputs and into the columns of linear weights", Lossy, rounding,
		only(layout.Absorb)},
	{"hoist_transpose", "transposes that are left move towards the inputs", Exact, 0, only(layout.Hoist)},
	{"permute_inputs", "transposes of inputs become the layout of the input", Exact, 0, only(layout.Inputs)},
	{"join_moves", "transposes and reshapes in a row become one transpose between reshapes", Exact, 0, only(layout.Join)},
	{"free_transpose", "transposes that keep the order of elements become reshapes", Exact, 0, only(layout.Free)},
}

// QuantizePipeline gives every value a number format.
var QuantizePipeline = Pipeline{
	{"softmax_last", "a softmax over an axis that is not the last stands between transposes", Exact, 0,
		only(layout.Lines)},
	{"refuse_float", "names all nodes without an integer form", Annotate, 0, refuseFloat},
	{"equalize", "powers of two move between layers, and from norms, for channels of one size, where the plan asks for it",
		Exact, 0, equalizeChannels},
	{"calibrate", "measures the values of every node, or bounds them by interval analysis", Annotate, 0, calibrate},
	{"search_ranges", "moves ranges for the cross-entropy of the outputs, where the plan asks for it", Annotate, 0,
		searchRanges},
	{"quantize", "chooses formats by the plan's rules, encodes constants, inserts casts", Lossy, 0, quantize},
	{"round_weights", "chooses codes of weights for what layers compute, where the plan asks for it", Lossy, 0,
		roundWeights},
	{"correct_bias", "shifts biases by the mean error of each output channel, where the plan asks for it", Lossy, 0,
		correctBias},
	{"measure_error", "measures the error of each node and output against the float graph", Annotate, 0, measure},
}

// SchedulePipeline gives every node its hardware.
var SchedulePipeline = Pipeline{
	{"refuse_stream", "names all nodes without a module", Annotate, 0, refuseStream},
	{"pair_streams", "joins of many become joins of two, and streams that broadcast are repeated", Exact, 0, pairStreams},
	{"insert_forks", "forks after values with several readers", Exact, 0, insertForks},
	{"choose_lanes", "lanes, style and memory of every node, by the plan's rules", Annotate, 0, chooseLanes},
	{"absorb_decoders", "sums whose units multiply codes of floats take them in place of decoded values", Exact, 0,
		absorbDecoders},
	{"place_thresholds", "thresholds on exact sums in place of roundings and functions behind them that leave few bits",
		Exact, 0, placeThresholds},
	{"absorb_channels", "unrolled sums round each row to the codes that its channel has behind them", Exact, 0,
		absorbChannels},
	{"insert_adapters", "widens and narrows streams between nodes of different lanes", Exact, 0, insertAdapters},
	{"mark_frames", "marks the ends of frames of changing length for the units that keep a state over tokens", Exact, 0,
		markFrames},
	{"time_units", "initiation interval and latency from the headers of the modules", Annotate, 0, timeUnits},
	{"size_fifos", "FIFOs after forks, as deep as a run beat by beat shows", Exact, 0, sizeFifos},
}

// KernelPipeline decides what a GPU computes together.
var KernelPipeline = Pipeline{
	{"write_out_time", "layers with a state become their steps, one after the other, which have kernels", Exact, 0,
		only(simplify.Steps)},
	{"join_linear", "linear layers on the same data, queries, keys and values, become one", Exact, 0, only(fuse.Linears)},
	{"join_rotary", "queries and keys that are columns of one value are turned together", Exact, 0, only(fuse.Rotaries)},
	{"group_kernels", "an operation, the moves in front of it and what follows become one kernel", Annotate, 0,
		func(s *State, g *ir.Graph) (err error) {
			s.Report.Borders, err = fuse.Groups(g)
			return err
		}},
	{"round_at_borders", "floats of 16 bits are rounded where a kernel ends, and not within", Lossy, 0, only(fuse.Round)},
}

// Orders are the reasons for the order of the pipelines; a test holds the pipelines to them.
var Orders = []Order{
	{"compute_constants", "constant_to_scale", "constants that exporters compute by nodes must be seen as constants"},
	{"compute_constants", "channels_last", "weights that nodes transpose must be constants before they are permuted"},
	{"drop_identity", "recognize_functions", "parts of a function must read each other"},
	{"recognize_functions", "constant_to_scale", "factors and summands of a function must not become scales"},
	{"recognize_norms", "expand", "norms consist of sums and products"},
	{"recognize_softmax", "recognize_attention", "attention has a softmax"},
	{"recognize_attention", "attend_products", "products of queries and keys are parts of attention"},
	{"attend_products", "cancel_moves", "transposes around products are undone"},
	{"recognize_attention", "tokens_first", "attention is taken apart again, otherwise"},
	{"tokens_first", "sink_transpose", "the transposes that it inserts must meet"},
	{"tokens_first", "channels_last", "fewer transposes stand between heads and tokens"},
	{"drop_identity", "absorb_pads", "an identity between a pad and its convolution would hide one from the other"},
	{"compute_constants", "constant_to_clip", "constants that exporters compute by nodes must be seen as constants"},
	{"constant_to_clip", "join_clips", "the minimum and the maximum with a number are clips in a row"},
	{"compute_constants", "constant_join", "a token that nodes repeat must be seen as a constant"},
	{"absorb_pads", "constant_join", "its zeros would go into a convolution that must see the constants"},
	{"drop_identity", "absorb_scale", "a dropout between conv and batch_norm would hide one from the other"},
	{"constant_to_scale", "absorb_scale", "a bias that is an addition of its own becomes the bias of the linear"},
	{"expand", "absorb_scale", "scale is the one form that is absorbed"},
	{"expand", "constant_to_scale", "norms consist of sums and products with constants, too"},
	{"absorb_scale", "absorb_input_scale", "two scales in a row are one, which the layer can take"},
	{"constant_to_scale", "channels_last", "the channel axis of a constant is known while images are channels-first"},
	{"absorb_scale", "channels_last", "fewer nodes stand between the transposes"},
	{"channels_last", "cancel_moves", "images of tokens are turned back, too"},
	{"tokens_first", "cancel_moves", "heads of tokens are turned back, too"},
	{"cancel_moves", "sink_transpose", "a transpose that another one undoes would move away from it"},
	{"channels_last", "sink_transpose", "the transposes that it inserts must meet"},
	{"sink_transpose", "absorb_transpose", "transposes must have reached outputs and reshapes"},
	{"absorb_transpose", "hoist_transpose", "a transpose that columns can absorb must not move away from them"},
	{"hoist_transpose", "permute_inputs", "transposes must have reached the inputs"},
	{"permute_inputs", "free_transpose", "a reshape at an input would hide the layout from the caller"},
	{"hoist_transpose", "join_moves", "transposes that are left must have come to rest"},
	{"permute_inputs", "join_moves", "a transpose of an input costs nothing, and one within a chain does"},
	{"join_moves", "free_transpose", "a transpose of pieces may turn out to be free"},
	{"softmax_last", "calibrate", "formats are chosen of the values that units compute"},
	{"refuse_float", "calibrate", "nothing is measured on a graph that is refused"},
	{"refuse_float", "equalize", "nothing is measured on a graph that is refused"},
	{"equalize", "calibrate", "formats are chosen of the values that units compute"},
	{"calibrate", "search_ranges", "ranges are moved from those that calibration chose"},
	{"search_ranges", "quantize", "formats are chosen once"},
	{"calibrate", "quantize", "formats are chosen from values"},
	{"quantize", "round_weights", "codes are chosen of formats and scales that stay"},
	{"round_weights", "correct_bias", "biases make up for what is left"},
	{"quantize", "correct_bias", "biases make up for what rounding weights and values has moved"},
	{"correct_bias", "measure_error", "the error is that of the graph that comes out"},
	{"refuse_stream", "insert_forks", "nothing is built on a graph that is refused"},
	{"refuse_stream", "pair_streams", "errors name the nodes of the model"},
	{"pair_streams", "insert_forks", "a value may be repeated for one of its readers"},
	{"insert_forks", "choose_lanes", "a value of an unused node would be a reader; forks have lanes too"},
	{"insert_forks", "insert_adapters", "every branch has adapters of its own"},
	{"choose_lanes", "absorb_decoders", "whether a unit takes codes depends on its style"},
	{"absorb_decoders", "insert_adapters", "adapters would stand between a decoder and its reader"},
	{"absorb_decoders", "place_thresholds", "decoders of what thresholds make are gone before their cost counts"},
	{"place_thresholds", "insert_adapters", "adapters would stand between a sum and what follows"},
	{"choose_lanes", "absorb_channels", "only sums that are unrolled round rows one by one"},
	{"absorb_channels", "insert_adapters", "adapters would stand between a sum and its codes"},
	{"choose_lanes", "insert_adapters", "adapters join lanes that differ"},
	{"insert_adapters", "mark_frames", "adapters know of no marks"},
	{"mark_frames", "time_units", "marks are units, and forks have a branch for each"},
	{"time_units", "size_fifos", "beats take the time of the units"},
	{"insert_adapters", "time_units", "adapters have a latency too"},
}

// RecognizeOrders are the reasons for the order of RecognizePipeline.
var RecognizeOrders = []Order{
	{"compute_constants", "recognize_functions", "numbers that exporters compute by nodes must be seen as constants"},
	{"drop_identity", "recognize_functions", "parts of a function must read each other"},
	{"sink_reshape", "share_common", "two sums, one of them made wide again, are the same without the reshapes"},
	{"share_common", "recognize_functions", "parts that only a pattern reads vanish with it"},
	{"recognize_functions", "recognize_norms", "a function within a norm is part of no product"},
	{"recognize_softmax", "recognize_attention", "attention has a softmax"},
	{"recognize_norms", "recognize_linear", "the summand after a norm is its bias"},
	{"recognize_linear", "recognize_rotary", "queries and keys come from linear layers"},
	{"recognize_rotary", "recognize_attention", "the scale of queries and keys stands after the embedding"},
	{"recognize_linear", "absorb_weights", "weights of products are transposed"},
	{"absorb_weights", "share_weights", "patterns turn and cut one constant for several readers"},
	{"recognize_attention", "join_reshape", "heads are grouped otherwise around attention"},
}

// KernelOrders are the reasons for the order of KernelPipeline.
var KernelOrders = []Order{
	{"write_out_time", "group_kernels", "products and functions of a step are groups of their own"},
	{"join_linear", "join_rotary", "queries and keys are columns of one value where one layer computes both"},
	{"join_rotary", "group_kernels", "what is joined is one anchor"},
	{"group_kernels", "round_at_borders", "groups say where values leave a kernel"},
}
