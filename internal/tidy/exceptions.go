// SPDX-License-Identifier: Apache-2.0

package tidy

import "slices"

// Exceptions are the files and folders that are let off a rule.
var Exceptions = slices.Concat(large, operators)

var large = []Exception{
	{"size", "examples/bert-tiny-like/model.onnx", "the same network in every file form: 485 k parameters in float32"},
	{"size", "examples/bert-tiny-like/model.pt2", "the same network in every file form: 485 k parameters in float32"},
}

// operators are what knows an operation by name, and must be looked at where one is added. No code outside of ir/format
// knows a format. The aim is ten at most, and what is left then is about the operation that it names.
var operators = []Exception{
	{"identity", "lower/recognize", "makes operations of what exporters have decomposed: each rewrite is about one"},
	{"identity", "lower/simplify", "merges scales, pads and pools: each rewrite is about the operations that it merges"},
	{"identity", "lower/layout", "pushes transposes and reshapes out: they are what it is about"},
	{"identity", "lower/own/own.go", "makes clips of quant nodes, and reads the formats that they give to values"},
	{"identity", "lower/whole.go", "drops convert between types that hold the values that lowering goes on with"},
}
