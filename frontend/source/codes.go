// SPDX-License-Identifier: Apache-2.0

package source

// The error codes of importers.
const (
	CodeOpen       = "L0201" // the file cannot be opened, is a folder, or is no regular file
	CodeFormat     = "L0202" // the file is of no known model format
	CodeLater      = "L0203" // the model format is known, but not in this version
	CodeBroken     = "L0204" // the encoding is broken or ends too early
	CodeLimit      = "L0205" // a limit on sizes or counts is exceeded
	CodeVersion    = "L0206" // the format or operator set version is not supported
	CodeOp         = "L0207" // operations that are not supported
	CodeForm       = "L0208" // a supported operation in a form that is not supported
	CodeAttr       = "L0209" // an attribute is unknown, missing, of the wrong type or out of range
	CodeDType      = "L0210" // an element type is not supported, or does not fit the operation
	CodePayload    = "L0211" // the data of a tensor have the wrong length or stand in the wrong place
	CodeExternal   = "L0212" // external data are missing, outside of the model's folder or too short
	CodeDims       = "L0213" // a dimension is negative, zero or too large
	CodeOpenDim    = "L0214" // a symbolic dimension has no value
	CodeBinding    = "L0215" // a given dimension, shape or array does not fit the model
	CodeUndefined  = "L0216" // a value is read that nothing defines, such as a missing initializer
	CodeCycle      = "L0217" // the graph has a cycle
	CodeOrder      = "L0218" // a value is read before it is defined
	CodeDuplicate  = "L0219" // a name is defined twice
	CodeNotConst   = "L0220" // weights or parameters are not constant
	CodeDynamic    = "L0221" // what must be constant is computed from data
	CodeShape      = "L0222" // shapes do not fit together
	CodeCompute    = "L0223" // a constant expression cannot be evaluated
	CodeArity      = "L0224" // an operation has too few or too many inputs or outputs
	CodeSparse     = "L0225" // sparse tensors are not supported
	CodeSpatial    = "L0226" // images with more than two spatial axes are not supported
	CodeNoOutput   = "L0227" // the model has no graph or no outputs
	CodeSecondUsed = "L0228" // a second result of an operation is used
	CodeRecursion  = "L0229" // a function calls itself

	CodeUnsafe = "L0260" // an archive that holds what no exporter writes

	CodeQuantType    = "L0250" // codes of a type that is not supported
	CodeQuantForm    = "L0251" // a quantization in a form that is not supported
	CodeQuantScale   = "L0252" // a scale that is no positive finite number
	CodeQuantRefused = "L0253" // a quantized operation that no fixed hardware computes
)
