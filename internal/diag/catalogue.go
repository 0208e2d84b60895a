// SPDX-License-Identifier: Apache-2.0

package diag

import "slices"

// Entry is one error that users can meet: one code, one cause.
type Entry struct {
	// Code is "L0412"; the first two digits name the part of Lathe, as the headings of docs/errors.md say.
	Code Code
	// Cause is one sentence.
	Cause string
	// Remedy is what a user does next, in at most 240 characters: the flag, key, command or file that mends it.
	Remedy string
	// Example provokes the error. Lines that begin with "$ " are commands, the last of which fails; files that they
	// need follow as "-- name --" and content. Other examples are Go, for errors that no command shows unless something
	// else is wrong. internal/errortest runs them all and demands the code.
	Example string
}

// Catalogue lists every code in ascending order. A code that is not used any more is never given another cause.
func Catalogue() []Entry {
	return slices.Concat(commandLine, models, quantImports, programs, textImports, folders, graphs, realScales, blocks,
		plans, foldings, formats, hardware, tools, engines, files, kernels, graphKernels, comparisons, interpreter,
		devices, products, training, searches, boards)
}

var commandLine = []Entry{
	{Usage, "The command line is wrong: an unknown command, flag or value, or a missing argument.",
		"Run `lathe help COMMAND` for the arguments and flags of the command, and mend the word that the message " +
			"quotes.",
		"$ lathe inspekt model.onnx"},
	{AlreadyQuantized, "The model given to `lathe quantize` is quantized already.",
		"Pass the graph as it is to `lathe run`, `verify` or `emit-verilog`. For other formats, quantize the " +
			"float model again with another `--plan`.",
		"$ lathe quantize model.onnx -o m.lathe\n$ lathe quantize m.lathe -o again.lathe"},
	{DotOperands, "The two operands of `lathe dot` do not fit together: a is [r,n], b is [n].",
		"Save `a` as a matrix [r,n] and `b` as a vector [n] in the file of `--in`; each row of `a` is as long as " +
			"`b`.",
		"$ lathe dot --a mxint8 --b mxint8 --in mismatch.npz --out y.npz"},
}

// The models of these examples are made by internal/clitest.
var models = []Entry{
	{ModelOpen, "The model cannot be opened: the file does not exist, is not readable, or is a folder.",
		"Check the path and its permissions. Name a model file, or a Hugging Face folder with a config.json; " +
			"where a file nearby has almost that name, the hint names it.",
		"$ lathe inspect modell.onnx"},
	{NotModel, "The file is not a model.",
		"Pass an .onnx, .pt2, .mlir or .lathe file, or a Hugging Face folder. Arrays go to `--inputs` or " +
			"`--calibrate`, not in the place of the model.",
		"$ lathe inspect page.onnx\n-- page.onnx --\n<!DOCTYPE html>"},
	{ModelFormat, "The model's file format is known but not supported.",
		"Convert the model to ONNX; the hint gives the tf2onnx command for a TensorFlow folder.",
		"$ lathe inspect model\n-- model/saved_model.pb --\nnot read"},
	{ModelBroken, "The model file is corrupt or truncated.",
		"Copy or download the file again and compare its size with the original, or export the model again.",
		"$ lathe inspect truncated.onnx"},
	{ModelLimit, "The model exceeds a limit on sizes or counts that no sound model reaches.",
		"Reduce what the message counts: export for a smaller input, a shorter sequence or fewer loop rounds, and " +
			"store the archive without compression.",
		"$ lathe inspect many-axes.onnx"},
	{OpsetVersion, "The model's operator set is older than the importer reads.",
		"Export the model again with newer tools: opset_version=18 for ONNX, PyTorch 2.8 or newer for .pt2.",
		"$ lathe inspect old-opset.onnx"},
	{UnsupportedOps, "The model holds operations that are not supported; all of them are listed.",
		"Replace the listed operations in the model, end it before them with `--outputs`, or declare an operation " +
			"of your own by `--ops FILE.toml` (docs/own-layers.md).",
		"$ lathe inspect unknown-ops.onnx"},
	{UnsupportedForm, "A supported operation is used in a form that is not supported.",
		"Export the model in another form: call model.eval() first if the message says training mode. " +
			"docs/onnx.md, docs/torch.md and docs/stablehlo.md list the forms that are read.",
		"$ lathe inspect training.onnx"},
	{BadAttribute, "An attribute of an operation is unknown, missing, of the wrong type or out of range.",
		"Set the attribute that the message names to a value that the operation's specification allows, and " +
			"export the model again.",
		"$ lathe inspect odd-attribute.onnx"},
	{BadElementType, "An element type is not supported, or does not fit the operation.",
		"Cast the value that the message names to a type that the operation takes, in the framework that made the " +
			"model, and export it again.",
		"$ lathe inspect strings.onnx"},
	{TensorData, "The data of a tensor in the model have the wrong length or location.",
		"Export or download the weights again: the file was cut off or written wrongly. Do not edit shapes or " +
			"offsets by hand.",
		"$ lathe inspect short-data.onnx"},
	{ExternalData, "External data are missing, too short, or outside the model's folder.",
		"Copy the weight files that the message names into the model's folder, or save the model with its weights " +
			"in one file.",
		"$ lathe inspect external.onnx"},
	{BadDimension, "A dimension is negative, zero or too large.",
		"Give the dimension a positive size with `--dim NAME=SIZE` or `--shape INPUT=...` where it is open, else " +
			"correct it in the model and export again.",
		"$ lathe inspect negative-dims.onnx"},
	{OpenDimension, "A symbolic dimension of the model has no value.",
		"Give the size: `--dim NAME=SIZE` for a named dimension, `--shape INPUT=1x3x32x32` for an input.",
		"$ lathe inspect open-dims.onnx"},
	{BadBinding, "A dimension, shape or array given on the command line or in the plan does not fit the model.",
		"Compare `--dim`, `--shape`, `--bind` and `shape` of [[input]] in the plan with the inputs that `lathe " +
			"inspect` prints, and correct the one in the message.",
		"$ lathe inspect open-dims.onnx --dim features=0"},
	{UndefinedValue, "A node reads a value that the model does not define, such as a missing initializer.",
		"Export the model again with all its weights; in a file edited by hand, define the value that the message " +
			"names or read another one.",
		"$ lathe inspect missing-weights.onnx"},
	{ModelCycle, "The nodes of the model form a cycle.",
		"Remove the cycle in the script that makes the model: the node in the message needs its own result. For a " +
			"recurrence, use an ONNX loop or recurrent operation.",
		"$ lathe inspect cyclic.onnx"},
	{ReadBeforeDefined, "A node of the model reads a value that a later node defines.",
		"Sort the nodes topologically, so that each stands after those it reads, and save the model again.",
		"$ lathe inspect shuffled.onnx"},
	{DuplicateName, "A name is defined twice in the model.",
		"Rename one of the two, or remove the copy, in the script that makes the model, and export it again.",
		"$ lathe inspect defined-twice.onnx"},
	{NotConstant, "Weights or parameters are computed at run time; they must be constant.",
		"Make the parameter a constant: `--bind F.npz` sets an input to an array, and exporting with constant " +
			"folding evaluates computed weights.",
		"$ lathe inspect computed-weights.onnx"},
	{DataDependent, "A shape, an index, a bound or another operand that must be constant is computed from data.",
		"Export the model for inputs of fixed sizes. If the value comes from an input of the model, make that a " +
			"constant with `--bind F.npz`.",
		"$ lathe inspect data-shape.onnx"},
	{OperandShapes, "The shapes of the operands of an operation do not fit together.",
		"Compare the shapes in the message with the layer in the source of the model, correct the layer or the " +
			"weights, and export again.",
		"$ lathe inspect shape-clash.onnx"},
	{ConstantExpression, "A constant expression of the model cannot be evaluated.",
		"Correct the index or value that the message names in the model, and export it again.",
		"$ lathe inspect bad-index.onnx"},
	{OperandCount, "An operation has too few or too many inputs or outputs.",
		"Export the model again with a current exporter. In a file written by hand, give the operation the inputs " +
			"and outputs that its specification lists.",
		"$ lathe inspect extra-input.onnx"},
	{SparseTensor, "The model holds sparse tensors.",
		"Convert the weights to dense tensors (`to_dense()` in PyTorch) and export the model again.",
		"$ lathe inspect sparse.onnx"},
	{SpatialAxes, "Images with more spatial axes than the operation takes are not supported.",
		"Reshape the data so that the layer has as many spatial axes as the message allows, or split it into such " +
			"layers.",
		"$ lathe inspect conv4d.onnx"},
	{NoOutputs, "The model has no graph or no outputs.",
		"Return the result from the model, or list it as a graph output, and export again; a StableHLO module " +
			"needs a public function @main.",
		"$ lathe inspect no-outputs.onnx"},
	{SecondResult, "The second result of an operation is used; only the first is supported.",
		"Compute what the second result stands for by an operation of its own, or cut the model before its reader " +
			"with `--outputs`.",
		"$ lathe inspect pool-indices.onnx"},
	{RecursiveFunction, "A function of the model calls itself.",
		"Write the recursion as a loop of a fixed number of rounds, or inline it, before exporting.",
		"$ lathe inspect recursive.onnx"},
	{OpsFile, "The file of --ops declares an operation wrongly.",
		"Correct the line of the --ops file that the message names; docs/own-layers.md lists the keys and has " +
			"whole examples.",
		"$ lathe inspect model.onnx --ops own.toml\n-- own.toml --\n[[op]]\nonnx = \"com.example::Gain\"\n" +
			"formula = \"x * gain\""},
	{OpsUse, "The model uses an operation of --ops in a way that its declaration does not take.",
		"Change the [[op]] in the --ops file to have as many inputs, results and attributes as the model gives " +
			"the operation, or correct the model; docs/own-layers.md says how.",
		"$ lathe inspect call.mlir --ops own.toml\n-- own.toml --\n[[op]]\nstablehlo = \"gain\"\nformula = \"x * 2\"\n" +
			"-- call.mlir --\nfunc.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.custom_call " +
			"@gain(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"},
}

var formats = []Entry{
	{FormatSyntax, "The text of a number format is malformed.",
		"Write the format without spaces as name(numbers,option=value), such as fixed(8,4); docs/formats.md gives " +
			"the syntax of each.",
		"$ lathe convert --format 'fixed(8,4' --in x.npz --out y.npz"},
	{UnknownFormat, "Unknown number format.",
		"Use a format that `lathe list formats` prints.",
		"$ lathe convert --format 'fixd(8,4)' --in x.npz --out y.npz"},
	{FormatNumbers, "A number format has too few or too many numbers, or one out of range.",
		"Give the format the numbers in the message, within their ranges; docs/formats.md has an example of each.",
		"$ lathe convert --format 'fixed(99,4)' --in x.npz --out y.npz"},
	{FormatOption, "An option of a number format is unknown, repeated, or has an invalid value.",
		"Remove the option, or give it once with a value that the format takes; docs/formats.md lists them.",
		"$ lathe convert --format 'fixed(8,4,round=evn)' --in x.npz --out y.npz"},
	{FormatScale, "The scale of a number format is missing, out of range, or not allowed.",
		"Write a positive number after the star, such as int(8)*0.05, or a bracketed axis where the format takes " +
			"one; leave the scale out of formats without one.",
		"$ lathe convert --format 'fixed(8,4)*0.5' --in x.npz --out y.npz"},
	{OpenFormat, "A number format leaves its fraction bits open where they are needed.",
		"Write the fraction bits, as in fixed(8,4); only a plan may leave them to calibration.",
		"$ lathe convert --format 'fixed(8)' --in x.npz --out y.npz"},
	{FormatData, "Codes, scales and shapes do not match.",
		"Decode with the format that encoded, and pass the whole file that `lathe convert` wrote: codes and " +
			"scales of one array.",
		"$ lathe convert --format mxint8 --decode --in codes.npz --out y.npz"},
}

var files = []Entry{
	{ArrayOpen, "An array file cannot be opened.",
		"Check the path and its permissions; pictures and texts to train on lie in one folder a class.",
		"$ lathe run model.onnx --inputs nowhere.npz -o y.npz"},
	{ArrayBroken, "An array file is neither .npz nor .npy, ends early, or its checksum is wrong.",
		"Save the arrays again with numpy.savez or numpy.save, or correct the line of the table that the message " +
			"names.",
		"$ lathe run model.onnx --inputs text.npz -o y.npz\n-- text.npz --\n0.5 0.25"},
	{ArrayHeader, "The header of an array does not follow the NumPy format.",
		"Save the array again with numpy.save or numpy.savez, in format version 1.0 to 3.0.",
		"$ lathe run model.onnx --inputs bad-header.npy -o y.npz"},
	{ArrayElements, "An array has elements of an unsupported type, such as complex numbers or objects.",
		"Convert the array with astype to a type that the message names, such as numpy.float32, and classes to " +
			"their numbers.",
		"$ lathe run model.onnx --inputs complex.npy -o y.npz"},
	{ArraySizes, "The sizes in an array file contradict each other or exceed a limit.",
		"Save the arrays again with numpy.savez; split files beyond the limit in the message.",
		"$ lathe run model.onnx --inputs huge-shape.npy -o y.npz"},
	{ArrayWrite, "An array file cannot be written.",
		"Check the folder, its permissions and the room on the disk, and name the file .npz if it holds several " +
			"arrays.",
		"$ lathe run model.onnx --inputs x.npz -o nowhere/y.npz"},
	{UnknownArray, "An array file has no array of that name.",
		"Name the array in the file as the command expects: `a` and `b` for `lathe dot`, else as the model's " +
			"input.",
		"$ lathe dot --a mxint8 --b mxint8 --in two-others.npz --out y.npz"},
	{ArrayNotInteger, "An array element is not a 64-bit integer where one is needed.",
		"Pass whole numbers: array.round().astype(numpy.int64).",
		"$ lathe convert --format 'fixed(8,4)' --decode --in x.npz --out y.npz"},
	{ArrayShape, "The shape of an array is neither that of the model's input nor that of several samples of it.",
		"Reshape the array to the shape of the input after one sample axis; `lathe inspect MODEL` prints the " +
			"shapes.",
		"$ lathe run model.onnx --inputs wrong-shape.npz -o y.npz"},
	{SampleCounts, "The arrays of the inputs hold different numbers of samples.",
		"Cut the arrays of the file to as many samples as the shortest holds, x[:n], or save the missing ones.",
		"$ lathe run sum.onnx --inputs uneven.npz -o y.npz"},
	{ArrayNotFinite, "An array holds NaN or an infinity where the input has a number format, or NaN for calibration.",
		"Take the sample out of the file, set nonfinite = \"saturate\" in [[input]] of the plan, or compute in " +
			"float without `--plan`; calibration data must hold no NaN.",
		"$ lathe run model.onnx --inputs nan.npz -o y.npz --calibrate x.npz"},
	{NoCodes, "Codes are asked of an output that stays float.",
		"Quantize the model by `--plan` or `--calibrate`, or leave out `--codes`.",
		"$ lathe run model.onnx --inputs x.npz -o y.npz --codes"},
	{Labels, "The labels are not one class number per sample, or one for each token of it.",
		"Pass a class number from 0 on for each sample, or each row of the output, in the order of the samples: " +
			"y.astype(numpy.int64), one_hot.argmax(-1). Real targets need `--metric rmse`.",
		"$ lathe verify model.onnx --inputs x.npz --labels few-labels.npy"},
	{NoRandomSamples, "Random samples cannot be made for an input that is not fixed-point.",
		"Pass samples of your own with `--inputs X.npz`, or quantize the model, so that its inputs have a " +
			"fixed-point format.",
		"driver.RandomSamples(float, 10, 1) // float is a graph that is not quantized"},
	{PaddedIds, "Ids hold padding, which moves positions that a quantized model has as constants.",
		"Take samples that are as long as the model, or export it for a shorter sequence; without `--plan` and " +
			"`--calibrate` the model takes padding.",
		"$ lathe run counted-ids.onnx --inputs padded-ids.npz -o y.npz --calibrate padded-ids.npz"},
	{KeyMask, "A mask of keys is not ones and then zeros, or an array of lengths holds one that no frame has.",
		"Pad on the right only: ones, then zeros, with a length from 1 to the tokens of a frame. Or leave lengths " +
			"= \"dynamic\" out.",
		"driver.Samples(g, file) // an array called lengths that says 9 of a frame of up to 4 tokens"},
	{FileWrite, "A file that a command writes, other than arrays, cannot be written.",
		"Check the folder, its permissions and the room on the disk, or name another file.",
		"$ lathe list ops --json nowhere/ops.json"},
	{PlanRead, "The plan file cannot be read.",
		"Check the path of `--plan` and its permissions; `lathe plan MODEL` prints a plan to begin with.",
		"$ lathe run model.onnx --inputs x.npz -o y.npz --plan nowhere.toml"},
}
