// SPDX-License-Identifier: Apache-2.0

package diag

import "strings"

// inspect is `lathe inspect` of a graph in text form: head is its stage and inputs, body its lines.
func inspect(head, body string) string {
	return "$ lathe inspect g.lathe\n-- g.lathe --\nlathe 1\ngraph %g " + head + " {\n" + body + "\n}\n"
}

var graphs = []Entry{
	{ConstantData, "The data of a constant do not match its shape or type.",
		"Give the constant as many elements as its shape, in the storage type of its format; a graph that Lathe " +
			"wrote itself is a fault to report.",
		inspect("float()", "  %c = const {data = f32 [1, 2, 3]} : 2x2 fp32\n  return y = %c")},
	{NodeOrder, "A node reads a value that is defined later, or the nodes form a cycle.",
		"Move the definition in front of its first reader, and break any cycle, in the text or code that makes " +
			"the graph.",
		"g.Check() // a node stands before its argument"},
	{UnknownNode, "An argument, input or output of the graph names no existing node.",
		"Define the missing node, or correct the name, in the text or code that makes the graph.",
		"g.Check() // an output without a node"},
	{NodeName, "The name of a node is empty or used twice.",
		"Give each node a name of its own, in the code that builds the graph.",
		"g.Check() // two nodes called x"},
	{ArgumentCount, "An operation has too few or too many arguments.",
		"Pass the operation as many arguments as the message says; docs/ops.md lists the operations.",
		inspect("float(%x)", "  %x = input : 1x8 fp32\n  %y = linear(%x) : 1x8 fp32\n  return y = %y")},
	{ArgumentShapes,
		"An operation does not accept arguments of these shapes, or a node's shape does not follow from them.",
		"Correct the shape of the node or of its arguments; without a mistake in your text, export the model " +
			"again with consistent shapes.",
		inspect("float(%x)", "  %x = input : 1x8 fp32\n  %y = relu(%x) : 1x9 fp32\n  return y = %y")},
	{StillFloat, "A value of a quantized graph is still float.",
		"Call the stage of the text graph float and quantize it with `lathe quantize`, or give the value a number " +
			"format.",
		inspect("quantized(%x)", "  %x = input : 1x8 fp32\n  return y = %x")},
	{OpFormats, "An operation does not support these number formats.",
		"Choose formats that the message does not refuse, by a [[quantize.rule]] for the node or in the text " +
			"graph.",
		inspect("quantized(%x)",
			"  %x = input : 1x8 fixed(8,4)\n  %y = identity(%x) : 1x8 fixed(8,5)\n  return y = %y")},
	{NoLanes, "A node of a scheduled graph has no lanes.",
		"Pass the float or quantized graph instead: `lathe emit-verilog` schedules it and decides the lanes.",
		inspect("scheduled(%x)", "  %x = input : 1x8 fixed(8,4)\n  return y = %x")},
	{ReferenceOnly, "An operation in these number formats runs on the reference engine only.",
		"Run it with `--engine ref`, or choose fixed, ufixed, int or uint formats for the node, which the other " +
			"engines take too.",
		"golden.Print(g, 1, false) // a relu whose format is not a fixed-point one"},
	{NoHardwareForm, "An operation has no hardware in this form.",
		"Change the format, padding or axes of the node as the message says, or run the model with `--engine ref` " +
			"or `pjrt`.",
		"$ lathe emit-verilog g.lathe -o out\n-- g.lathe --\nlathe 1\ngraph %g quantized(%x) {\n" +
			"  %x = input : 2x3x4x5 int(8)\n" +
			"  %y = reduce_max(%x) {axes = [0, 2]} : 1x3x1x5 int(8)\n  return y = %y\n}\n"},
	{SampleShape, "A sample does not have the values, or their shapes, that the graph takes.",
		"Pass one value for each input, in the shape and format that `lathe inspect` prints for it.",
		"program.Run(ctx, []ref.Sample{{}}) // no value for the one input"},
	{WrongAttributes, "A node has attributes of another operation, or none where it needs some.",
		"Set Attrs of the node to the type that the message names, in the code that builds the graph.",
		"g.Check() // a clip without bounds"},
	{ValueFormat, "A value has no number format, or not one scale a channel.",
		"Write a number format after the shape of the node, such as fp32 or fixed(8,4), and one scale for each " +
			"channel where it has scales.",
		inspect("float(%x)", "  %x = input : 1x8 ?\n  return y = %x")},
	{ArgumentNotConstant, "An argument must be a constant, such as weights in hardware.",
		"Make a constant of the input with `--bind F.npz`, or stay in float: run without `--plan` and " +
			"`--calibrate`.",
		"$ lathe quantize g.lathe -o q.lathe\n-- g.lathe --\nlathe 1\ngraph %g float(%x, %w) {\n  %x = input : 1x8 fp32\n" +
			"  %w = input : 4x8 fp32\n  %y = linear(%x, %w) : 1x4 fp32\n  return y = %y\n}\n"},
	{Variance, "A variance of a batch normalisation is not positive.",
		"Repair the running variance of the layer in the model: it must be above -epsilon in every channel. Train " +
			"or load the statistics again.",
		"$ lathe quantize negative-variance.onnx -o m.lathe"},
	{IntegerWidth, "An operation needs wider integers than StableHLO has.",
		"Give the node fewer bits by a [[quantize.rule]], or leave PJRT out: `lathe run --engine ref`, `lathe " +
			"verify --engines ref,rtl`.",
		"golden.Print(g, 1, false) // the product of two values of 40 bits"},
	{FloatValueType, "A value of a float graph is neither fp32 nor a whole number modulo 2^W.",
		"Write fp32 for the value, or call the stage of the text graph quantized.",
		inspect("float(%x)", "  %x = input : 1x8 fixed(8,4)\n  return y = %x")},
	{ValueTooLarge, "A computed value does not fit into memory.",
		"Give the model smaller inputs: `--shape`, or `--seq` and `--max-seq` for a Hugging Face folder.",
		inspect("float(%x)", "  %x = input : 1x4000000000 fp32\n  return y = %x")},
	{GraphSyntax, "The text of a graph does not follow the grammar.",
		"Correct the text at the place in the message; `lathe inspect MODEL --text` shows a graph in this form.",
		"$ lathe fmt g.lathe\n-- g.lathe --\nlathe 1\ngraph %g float(%x {"},
	{UnknownOp, "Unknown operation.",
		"Use an operation that `lathe list ops` prints.",
		inspect("float(%x)", "  %x = input : 1x8 fp32\n  %y = rellu(%x) : 1x8 fp32\n  return y = %y")},
	{GraphUndefined, "The text of a graph reads a node that is not defined above.",
		"Define the node above its reader, or correct the name.",
		inspect("float(%x)", "  %x = input : 1x8 fp32\n  %y = relu(%z) : 1x8 fp32\n  return y = %y")},
	{GraphAttribute, "The text of a graph sets an unknown attribute, or one attribute twice.",
		"Remove the second or unknown attribute, or correct its name; docs/ops.md lists the operations.",
		inspect("float(%x)", "  %x = input : 1x8 fp32\n  %y = clip(%x) {mim = 0} : 1x8 fp32\n  return y = %y")},
	{GraphValue, "The text of a graph has a value of the wrong kind, or out of range.",
		"Write a value of the kind that the message asks for, such as float, quantized or scheduled as the stage.",
		inspect("flaot(%x)", "  %x = input : 1x8 fp32\n  return y = %x")},
	{GraphShape, "The text of a graph has an invalid shape or list of scales.",
		"Write the shape as 1x8x8, or scalar, and scales as a list of positive numbers.",
		inspect("float(%x)", "  %x = input : 1x fp32\n  return y = %x")},
	{GraphData, "The data of a constant are missing, or do not fit the digest that the text names.",
		"Use the whole .lathe file, which holds large constants, or write the elements of the constant into the " +
			"text.",
		inspect("float()", "  %c = const {data = f32 sha256:"+strings.Repeat("0", 64)+"} : 2x2 fp32\n  return y = %c")},
	{GraphNameTwice, "The text of a graph defines a name twice.",
		"Rename one of the two nodes, and what reads it.",
		inspect("float(%x)", "  %x = input : 1x8 fp32\n  %x = relu(%x) : 1x8 fp32\n  return y = %x")},
	{GraphFile, "A graph file cannot be read or written.",
		"Check the path and its permissions, and that the disk has room; the file is a regular one ending in " +
			".lathe.",
		"$ lathe fmt nowhere.lathe"},
	{GraphDamaged, "A graph file is cut off or damaged.",
		"Save the graph again with `lathe quantize` or `lathe train`, or copy the file again from where it is " +
			"whole.",
		"$ lathe inspect g.lathe\n-- g.lathe --\nlathe-file 1 0000"},
	{StreamBroadcast, "A stream broadcasts into an operation whose hardware takes streams of equal size.",
		"Pass the quantized graph to `lathe emit-verilog`: its scheduling puts a repeat in front of the operation.",
		"pointwise.Add.RTL(n) // of 2x3 and 1x3, without the repeat that scheduling inserts"},
	{JoinTooLarge, "An operation joins or repeats more than its hardware can at once.",
		"Pass the quantized graph to `lathe emit-verilog`, whose scheduling makes joins of two of it; let what " +
			"repeats do so along adjacent axes in the model.",
		"move.Concat.RTL(n) // of three streams, without the chain that scheduling makes"},
	{ConstantJoined, "A constant is joined to a stream.",
		"Give `lathe quantize` the float model, which makes a sum of the join, or pad the other argument with " +
			"zeros and add the constant.",
		"$ lathe emit-verilog g.lathe -o out\n-- g.lathe --\nlathe 1\ngraph %g quantized(%x) {\n  %x = input : 1x2 int(8)\n" +
			"  %c = const {data = i8 [1, 2]} : 1x2 int(8)\n  %y = concat(%x, %c) {axis = 1} : 1x4 int(8)\n  return y = %y\n}\n"},
	{TransposeAxes, "A transpose moves more axes than hardware can address.",
		"Rearrange the model so that fewer axes move, or merge axes that stay side by side by a reshape; else run " +
			"it with `--engine ref` or `pjrt`.",
		"$ lathe emit-verilog g.lathe -o out\n-- g.lathe --\nlathe 1\ngraph %g quantized(%x) {\n" +
			"  %x = input : 2x2x2x2x2x2x2 int(8)\n" +
			"  %y = transpose(%x) {perm = [6, 5, 4, 3, 2, 1, 0]} : 2x2x2x2x2x2x2 int(8)\n  return y = %y\n}\n"},
	{WholeNumbersOp, "An operation of a float graph does not take whole numbers, or takes them together with floats.",
		"Cast the value to the type that the operation takes, in the model, and export it again.",
		inspect("float(%x)",
			"  %x = input : 1x8 int(64,over=wrap)\n  %y = relu(%x) : 1x8 int(64,over=wrap)\n  return y = %y")},
	{PositionOutside, "A gather or scatter uses a position outside its axis.",
		"Correct the indices: they must lie within the axis that the message gives, or count back from its end.",
		"program.Run(ctx, samples) // position 4 on an axis of 3"},
	{NotInteger, "An array holds a number that the input's integer type does not have.",
		"Correct the array: its elements must lie in the range that the message gives for the input.",
		"$ lathe run g.lathe --inputs codes.npz -o y.npz\n-- g.lathe --\nlathe 1\ngraph %g float(%codes) {\n" +
			"  %codes = input : 3 uint(1,over=wrap)\n  return y = %codes\n}\n"},
	{NoWholeHardware, "Operations on whole numbers of the model have no hardware.",
		"Stay in float, without `--plan` and `--calibrate`, or end the model before the operations with " +
			"`--outputs`.",
		"$ lathe quantize g.lathe -o q.lathe\n-- g.lathe --\nlathe 1\ngraph %g float(%x, %i) {\n  %x = input : 8 fp32\n" +
			"  %i = input : 3 int(64,over=wrap)\n  %y = gather(%x, %i) : 3 fp32\n  return y = %y\n}\n"},
}

var plans = []Entry{
	{PlanKey, "The plan has an unknown key, a value of the wrong type, or is not valid TOML.",
		"Correct the key or the TOML at the line in the message; docs/plan.md lists every key, `lathe plan MODEL` " +
			"prints a filled-in plan.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n-- plan.toml --\n[quantize]\nwieght = \"fixed(8)\""},
	{PlanValue, "A value in the plan is not one that its key accepts.",
		"Write a value that the key accepts; docs/plan.md gives the values, the default and an example of each " +
			"key.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n-- plan.toml --\n[quantize]\nround = \"evn\""},
	{UnknownEndpoint, "The plan or the calibration data name an unknown input or output.",
		"Use the names of inputs and outputs that `lathe inspect MODEL` prints, in [[input]], [[output]] and as " +
			"arrays of the calibration file.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n-- plan.toml --\n[[input]]\nname = \"z\""},
	{CalibrationData, "Calibration data have the wrong shape, or lead to values that are not finite.",
		"Correct the file of `--calibrate`: one array an input, of its shape after one sample axis, as many " +
			"samples in each, finite, and a label for each if labels are given.",
		"$ lathe quantize model.onnx -o m.lathe --calibrate huge-values.npz"},
	{PassFault, "A pass broke the graph, or did not have the effect it claims: a fault of Lathe.",
		"Report the model, the plan and the whole message: no input should cause it.",
		"lower.Quantize(ctx, g, plan, c, options) // options that change a weight between two passes"},
	{PlanFormat, "A number format of the plan cannot be used for data, weights or bias.",
		"Choose another format in the line of the plan that the note names; `lathe list formats` prints them all.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n-- plan.toml --\n[quantize]\ndata = \"mxint(20,32)\""},
	{OpRefusesFormats, "An operation does not support the number formats that the plan gives it.",
		"Give the node other formats by a [[quantize.rule]]; the notes say which line of the plan sets the " +
			"present ones.",
		"$ lathe quantize sigmoid.onnx -o m.lathe --plan plan.toml\n-- plan.toml --\n[quantize]\ndata = \"fixed(40)\""},
	{ConstantNotFinite, "A constant of the model is NaN or infinite, and so has no code.",
		"Repair the weights: train or save the model again without NaN and infinities, and pad with finite values.",
		"$ lathe quantize nan-weights.onnx -o m.lathe"},
	{FloatNode, "The plan keeps a node float, which hardware cannot do.",
		"Take skip = true out of the plan, or stay in float: `lathe run` and `emit-cuda` without `--plan`.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n" +
			"-- plan.toml --\n[[quantize.rule]]\nname = \"relu1\"\nskip = true"},
	{NoIntegerForm, "An operation has no integer form in this version.",
		"End the model before the operation with `--outputs`, or stay in float: `lathe run` and `emit-cuda` " +
			"without `--plan` and `--calibrate`.",
		"$ lathe quantize running.onnx -o m.lathe"},
	{WrongStage, "A graph is given to a stage that it has already passed or not yet reached.",
		"Pass the graph of the stage that the command takes: the float model to `train`, `quantize` and " +
			"`profile`; the design commands take float and quantized graphs.",
		"lower.Schedule(ctx, float, plan) // a graph that is not quantized"},
	{LanesDivide, "The lanes do not divide the dimension they work on.",
		"Choose in_lanes and out_lanes that divide the size in the message, in the [[fold.rule]] that the note " +
			"names, or leave them out.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[[fold.rule]]\nop = \"linear\"\nin_lanes = 5"},
	{UnknownPart, "The part, of the plan or of `--part`, is unknown.",
		"Use a part that `lathe list targets` prints, in `--part` or part of [target]; AMD parts take any package " +
			"and speed grade.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n-- plan.toml --\n[target]\npart = \"xcku5q\""},
	{NoHardware, "An operation has no hardware in this version.",
		"End the model before the operation with `--outputs`, or run it with `--engine ref` or `pjrt`.",
		"an operation without a module"},
	{FewPorts, "An operation reads more streams than its unit has ports.",
		"Make constants of the operation's weights with `--bind F.npz`, or run the model with `--engine ref` or " +
			"`pjrt`.",
		"a linear whose weights are computed"},
	{UnusedFoldKey, "The plan sets a key of [fold] that only another mode, or layers that share units, would use.",
		"Set mode = \"balance\" in [fold] beside fps and the budgets, and layers = \"loop\" beside images, or " +
			"leave the key out.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nfps = 1e5"},
	{ConstantOutput, "An output of the graph is a constant; hardware computes outputs from inputs.",
		"Leave the output out with `--outputs`, and keep its value where the results are used.",
		"$ lathe quantize constant-output.onnx -o m.lathe"},
	{DSPForm, "Products of a layer cannot share a DSP, or be summed in DSPs, although the plan asks for it by name.",
		"Leave dsp out of the plan or rule, give weights and data fewer bits, or choose the out_lanes that the " +
			"hint names.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[[fold.rule]]\nname = \"fc1\"\nout_lanes = 1\ndsp = \"pack\""},
	{WeightsOutside, "The weights of a layer cannot lie outside of the chip, although the plan asks for it by a rule.",
		"Leave weights out of the [[fold.rule]] or say weights = \"rom\"; with ram in the rule, say weights = " +
			"\"hold\" beside it.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[[fold.rule]]\nname = \"fc1\"\nstyle = \"unroll\"\nweights = \"stream\""},
	{NothingToChoose, "The formats of a model are to be chosen, and none of its nodes takes one from the plan.",
		"Pass the float original of the model; this one brings formats of its own, which it keeps.",
		"$ lathe sensitivity qdq-residual.onnx --inputs image.npz"},
	{NoUsableFormat, "Of the formats that are to be compared, none can be used.",
		"Pass other formats, such as --formats 'fixed(4..8),mxint8'; `lathe list formats` prints all.",
		"$ lathe sensitivity model.onnx --inputs x.npz --formats fp32"},
	{NoChoiceKeeps, "No choice among the formats keeps the accuracy or the SQNR that is asked for.",
		"Ask for less (`--accuracy`, `--sqnr`), offer wider `--formats`, or set round_weights = \"gptq\" in a " +
			"plan; on a part that is too small, take a larger `--part` or a lower `--fps`.",
		"$ lathe auto model.onnx --inputs x.npz --sqnr 90 --formats 'fixed(3),fixed(4)' -o plans"},
	{StreamReaders, "In a scheduled graph, a value other than a fork has several readers, or a fork lacks an output.",
		"Put a fork node after the value, with as many branches as readers, or pass the quantized graph and let " +
			"it be scheduled.",
		"a relu that two outputs name"},
	{StreamLanes, "In a scheduled graph, the lanes of a node differ from those of its input stream.",
		"Put a widen or narrow node between the two, or pass the quantized graph and let it be scheduled.",
		"a relu of two lanes after an input of one"},
	{Deadlock, "The streams of a design deadlock, and no FIFO would help: a fault of Lathe.",
		"Report the model and the plan: scheduling should never build such a design. `lathe run --engine ref` " +
			"still computes the model.",
		"an operation whose unit waits for more beats than a frame has"},
	{NothingToShare, "The plan has layers share units, and no layers in a row are alike, or they have no unit to share.",
		"Leave layers = \"loop\" of [fold] out: layers share units only if they are alike in shapes and formats.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nlayers = \"loop\""},
	{NoDecoder, "A decoder cannot be made of the model: something in it waits for later tokens, or is no sequence.",
		"Leave out `--decode` and decode of [sequence], or take a causal model and end it before what joins " +
			"tokens with `--outputs`.",
		"$ lathe emit-verilog model.onnx -o out --decode"},
	{CacheOutside, "Keys and values cannot lie outside of the chip, although the plan asks for it.",
		"Leave cache = \"external\" of [memory] out, or make a decoder of a causal model with `--decode`.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[memory]\ncache = \"external\""},
	{FixedLength, "Something in the model or the plan cannot take frames whose number of tokens changes.",
		"Leave out lengths = \"dynamic\" of [sequence] and `--lengths`, or end the model before the node in the " +
			"message with `--outputs`.",
		"$ lathe emit-verilog model.onnx -o out --lengths dynamic"},
	{InputExponents, "The plan multiplies features of an input that cannot be, or has not one exponent for each.",
		"Give one exponent for each feature of the last axis in the [[input]] table, or leave exponents out.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n" +
			"-- plan.toml --\n[[input]]\nname = \"x\"\nexponents = [1, 2, 3]"},
	{UncheckedFrames, "The frames of a design cannot be checked as the plan asks.",
		"Leave bad_frame of [stream] out; several inputs take bad_frame = \"complete\", and layers that share " +
			"units need images of [fold] left out.",
		"$ lathe emit-verilog sum.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[stream]\nbad_frame = \"drop\""},
	{DigitPrice, "The price of a digit is so high that hardly anything is left of the outputs.",
		"Lower `--digit-price` (digit_price in the plan) to the value that the hint names, or leave the price " +
			"out: then the highest that keeps enough is searched.",
		"$ lathe quantize model.onnx -o m.lathe --calibrate x.npz --round-weights digits --digit-price 1"},
	{PadChannels, "A layer cannot have the dead channels that the plan asks for.",
		"Give pad_channels to the layer that computes the channels, at most twice as many as there are; results, and " +
			"what norms, softmax or attention read, keep their channels.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[[fold.rule]]\nname = \"fc2\"\npad_channels = 12"},
	{NoPlannedAccumulator, "A sum over blocks has no window accumulator in the formats that the plan gives it.",
		"Give the weights blocks, or a format of fewer bits with a power of two as its scale, such as binary*0.5; " +
			"or give the data a fixed format.",
		"$ lathe quantize model.onnx -o m.lathe --plan plan.toml\n" +
			"-- plan.toml --\n[quantize]\ndata = \"mxint(16,32)\"\nweight = \"fixed(40)\""},
}
