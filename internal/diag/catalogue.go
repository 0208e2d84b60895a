// SPDX-License-Identifier: Apache-2.0

package diag

import "slices"

// Entry is one error that users can meet: one code, one cause.
type Entry struct {
	// Code is "L0412"; the first two digits name the part of Lathe, as the headings of docs/errors.md say.
	Code Code
	// Cause is one sentence.
	Cause string
	// Example provokes the error. Lines that begin with "$ " are commands, the last of which fails; files that they
	// need follow as "-- name --" and content. Other examples are Go, for errors that no command shows unless something
	// else is wrong. internal/errortest runs them all and demands the code.
	Example string
}

// Catalogue lists every code in ascending order. A code that is not used any more is never given another cause.
func Catalogue() []Entry {
	return slices.Concat(commandLine, models, quantImports, programs, textImports, folders, graphs, realScales, blocks,
		plans, foldings, formats, hardware, tools, engines, files, kernels, graphKernels, comparisons, interpreter,
		devices, products, training, searches)
}

var commandLine = []Entry{
	{Usage, "The command line is wrong: an unknown command, flag or value, or a missing argument.",
		"$ lathe inspekt model.onnx"},
	{AlreadyQuantized, "The model given to `lathe quantize` is quantized already.",
		"$ lathe quantize model.onnx -o m.lathe\n$ lathe quantize m.lathe -o again.lathe"},
	{DotOperands, "The two operands of `lathe dot` do not fit together: a is [r,n], b is [n].",
		"$ lathe dot --a mxint8 --b mxint8 --in mismatch.npz --out y.npz"},
}

// The models of these examples are made by internal/clitest.
var models = []Entry{
	{ModelOpen, "The model cannot be opened: the file does not exist, is not readable, or is a folder.",
		"$ lathe inspect modell.onnx"},
	{NotModel, "The file is not a model.",
		"$ lathe inspect page.onnx\n-- page.onnx --\n<!DOCTYPE html>"},
	{ModelFormat, "The model's file format is known but not supported.",
		"$ lathe inspect model\n-- model/saved_model.pb --\nnot read"},
	{ModelBroken, "The model file is corrupt or truncated.",
		"$ lathe inspect truncated.onnx"},
	{ModelLimit, "The model exceeds a limit on sizes or counts that no sound model reaches.",
		"$ lathe inspect many-axes.onnx"},
	{OpsetVersion, "The model's operator set is older than the importer reads.",
		"$ lathe inspect old-opset.onnx"},
	{UnsupportedOps, "The model holds operations that are not supported; all of them are listed.",
		"$ lathe inspect unknown-ops.onnx"},
	{UnsupportedForm, "A supported operation is used in a form that is not supported.",
		"$ lathe inspect training.onnx"},
	{BadAttribute, "An attribute of an operation is unknown, missing, of the wrong type or out of range.",
		"$ lathe inspect odd-attribute.onnx"},
	{BadElementType, "An element type is not supported, or does not fit the operation.",
		"$ lathe inspect strings.onnx"},
	{TensorData, "The data of a tensor in the model have the wrong length or location.",
		"$ lathe inspect short-data.onnx"},
	{ExternalData, "External data are missing, too short, or outside the model's folder.",
		"$ lathe inspect external.onnx"},
	{BadDimension, "A dimension is negative, zero or too large.",
		"$ lathe inspect negative-dims.onnx"},
	{OpenDimension, "A symbolic dimension of the model has no value.",
		"$ lathe inspect open-dims.onnx"},
	{BadBinding, "A dimension, shape or array given on the command line or in the plan does not fit the model.",
		"$ lathe inspect open-dims.onnx --dim features=0"},
	{UndefinedValue, "A node reads a value that the model does not define, such as a missing initializer.",
		"$ lathe inspect missing-weights.onnx"},
	{ModelCycle, "The nodes of the model form a cycle.",
		"$ lathe inspect cyclic.onnx"},
	{ReadBeforeDefined, "A node of the model reads a value that a later node defines.",
		"$ lathe inspect shuffled.onnx"},
	{DuplicateName, "A name is defined twice in the model.",
		"$ lathe inspect defined-twice.onnx"},
	{NotConstant, "Weights or parameters are computed at run time; they must be constant.",
		"$ lathe inspect computed-weights.onnx"},
	{DataDependent, "A shape, an index, a bound or another operand that must be constant is computed from data.",
		"$ lathe inspect data-shape.onnx"},
	{OperandShapes, "The shapes of the operands of an operation do not fit together.",
		"$ lathe inspect shape-clash.onnx"},
	{ConstantExpression, "A constant expression of the model cannot be evaluated.",
		"$ lathe inspect bad-index.onnx"},
	{OperandCount, "An operation has too few or too many inputs or outputs.",
		"$ lathe inspect extra-input.onnx"},
	{SparseTensor, "The model holds sparse tensors.",
		"$ lathe inspect sparse.onnx"},
	{SpatialAxes, "Images with more spatial axes than the operation takes are not supported.",
		"$ lathe inspect conv4d.onnx"},
	{NoOutputs, "The model has no graph or no outputs.",
		"$ lathe inspect no-outputs.onnx"},
	{SecondResult, "The second result of an operation is used; only the first is supported.",
		"$ lathe inspect pool-indices.onnx"},
	{RecursiveFunction, "A function of the model calls itself.",
		"$ lathe inspect recursive.onnx"},
	{OpsFile, "The file of --ops declares an operation wrongly.",
		"$ lathe inspect model.onnx --ops own.toml\n-- own.toml --\n[[op]]\nonnx = \"com.example::Gain\"\n" +
			"formula = \"x * gain\""},
	{OpsUse, "The model uses an operation of --ops in a way that its declaration does not take.",
		"$ lathe inspect call.mlir --ops own.toml\n-- own.toml --\n[[op]]\nstablehlo = \"gain\"\nformula = \"x * 2\"\n" +
			"-- call.mlir --\nfunc.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.custom_call " +
			"@gain(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"},
}

var formats = []Entry{
	{FormatSyntax, "The text of a number format is malformed.",
		"$ lathe convert --format 'fixed(8,4' --in x.npz --out y.npz"},
	{UnknownFormat, "Unknown number format.",
		"$ lathe convert --format 'fixd(8,4)' --in x.npz --out y.npz"},
	{FormatNumbers, "A number format has too few or too many numbers, or one out of range.",
		"$ lathe convert --format 'fixed(99,4)' --in x.npz --out y.npz"},
	{FormatOption, "An option of a number format is unknown, repeated, or has an invalid value.",
		"$ lathe convert --format 'fixed(8,4,round=evn)' --in x.npz --out y.npz"},
	{FormatScale, "The scale of a number format is missing, out of range, or not allowed.",
		"$ lathe convert --format 'fixed(8,4)*0.5' --in x.npz --out y.npz"},
	{OpenFormat, "A number format leaves its fraction bits open where they are needed.",
		"$ lathe convert --format 'fixed(8)' --in x.npz --out y.npz"},
	{FormatData, "Codes, scales and shapes do not match.",
		"$ lathe convert --format mxint8 --decode --in codes.npz --out y.npz"},
}

var files = []Entry{
	{ArrayOpen, "An array file cannot be opened.",
		"$ lathe run model.onnx --inputs nowhere.npz -o y.npz"},
	{ArrayBroken, "An array file is neither .npz nor .npy, ends early, or its checksum is wrong.",
		"$ lathe run model.onnx --inputs text.npz -o y.npz\n-- text.npz --\n0.5 0.25"},
	{ArrayHeader, "The header of an array does not follow the NumPy format.",
		"$ lathe run model.onnx --inputs bad-header.npy -o y.npz"},
	{ArrayElements, "An array has elements of an unsupported type, such as complex numbers or objects.",
		"$ lathe run model.onnx --inputs complex.npy -o y.npz"},
	{ArraySizes, "The sizes in an array file contradict each other or exceed a limit.",
		"$ lathe run model.onnx --inputs huge-shape.npy -o y.npz"},
	{ArrayWrite, "An array file cannot be written.",
		"$ lathe run model.onnx --inputs x.npz -o nowhere/y.npz"},
	{UnknownArray, "An array file has no array of that name.",
		"$ lathe dot --a mxint8 --b mxint8 --in two-others.npz --out y.npz"},
	{ArrayNotInteger, "An array element is not a 64-bit integer where one is needed.",
		"$ lathe convert --format 'fixed(8,4)' --decode --in x.npz --out y.npz"},
	{ArrayShape, "The shape of an array is neither that of the model's input nor that of several samples of it.",
		"$ lathe run model.onnx --inputs wrong-shape.npz -o y.npz"},
	{SampleCounts, "The arrays of the inputs hold different numbers of samples.",
		"$ lathe run sum.onnx --inputs uneven.npz -o y.npz"},
	{ArrayNotFinite, "An array holds NaN or an infinity where the input has a number format, or NaN for calibration.",
		"$ lathe run model.onnx --inputs nan.npz -o y.npz --calibrate x.npz"},
	{NoCodes, "Codes are asked of an output that stays float.",
		"$ lathe run model.onnx --inputs x.npz -o y.npz --codes"},
	{Labels, "The labels are not one class number per sample, or one for each token of it.",
		"$ lathe verify model.onnx --inputs x.npz --labels few-labels.npy"},
	{NoRandomSamples, "Random samples cannot be made for an input that is not fixed-point.",
		"driver.RandomSamples(float, 10, 1) // float is a graph that is not quantized"},
	{PaddedIds, "Ids hold padding, which moves positions that a quantized model has as constants.",
		"$ lathe run counted-ids.onnx --inputs padded-ids.npz -o y.npz --calibrate padded-ids.npz"},
	{KeyMask, "A mask of keys is not ones and then zeros, or an array of lengths holds one that no frame has.",
		"driver.Samples(g, file) // an array called lengths that says 9 of a frame of up to 4 tokens"},
	{FileWrite, "A file that a command writes, other than arrays, cannot be written.",
		"$ lathe list ops --json nowhere/ops.json"},
	{PlanRead, "The plan file cannot be read.",
		"$ lathe run model.onnx --inputs x.npz -o y.npz --plan nowhere.toml"},
}
