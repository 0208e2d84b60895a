// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"lathe/ir"
	"lathe/lower/float"
	"lathe/lower/float/layout"
	"lathe/lower/pass"
)

// Pipeline gives every value a number format.
var Pipeline = pass.Pipeline[*stage]{
	pass.New("refuse_padding", "names the first sample with an id that the model is without", pass.Annotate, 0,
		func(s *stage, g *ir.Graph) error { return float.RefusePadding(g, s.Samples) }),
	pass.New("softmax_last", "a softmax or argmax over an axis that is not the last stands between transposes",
		pass.Exact, 0, only(layout.Lines)),
	pass.New("refuse_float", "names all nodes without an integer form", pass.Annotate, 0, refuseFloat),
	pass.New("scale_inputs",
		"powers of two by which samples are multiplied, feature by feature, are taken from the weights that read them",
		pass.Lossy, absorbed, scaleInputs),
	pass.New("equalize",
		"powers of two move between layers where outputs gain, and from norms where the plan asks for it",
		pass.Exact, 0, equalizeChannels),
	pass.New("calibrate", "measures the values of every node, or bounds them by interval analysis", pass.Annotate, 0,
		calibrate),
	pass.New("search_ranges", "moves ranges for the cross-entropy of the outputs, where the plan asks for it",
		pass.Annotate, 0,
		searchRanges),
	pass.New("quantize", "chooses formats by the plan's rules, encodes constants, inserts casts", pass.Lossy, 0,
		chooseFormats),
	pass.New("round_weights", "chooses codes of weights for what layers compute, where the plan asks for it", pass.Lossy,
		0,
		roundWeights),
	pass.New("correct_bias", "shifts biases by the mean error of each output channel, where the plan asks for it",
		pass.Lossy, 0,
		correctBias),
	pass.New("measure_error", "measures the error of each node and output against the float graph", pass.Annotate, 0,
		measure),
}
