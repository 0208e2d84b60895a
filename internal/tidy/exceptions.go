// SPDX-License-Identifier: Apache-2.0

package tidy

import "slices"

// Exceptions are the files and folders that are let off a rule.
var Exceptions = slices.Concat(large, operators)

var large = []Exception{
	{"size", "examples/bert-tiny-like/model.onnx", "the same network in every file form: 485 k parameters in float32"},
	{"size", "examples/bert-tiny-like/model.pt2", "the same network in every file form: 485 k parameters in float32"},
	{"package", "cuda/ptx", "each file decodes and runs some instructions, which share the state of a warp and a block"},
}

// operators are what knows an operation or a format by name, and must be looked at where one is added. In what commands
// link, only rewrites do, each of the operations that it is about, and no code outside of ir/format knows a format.
var operators = []Exception{
	{"concrete", "internal/difftest", "defines formats a second time, independently, and draws their edge cases"},
	{"identity", "internal/difftest", "defines operations a second time, independently, and draws chains of them"},
	{"identity", "lower/lowertest", "draws random networks of the operations that passes rewrite and streams join"},
	{"identity", "lower/float/recognize", "makes operations of what exporters have decomposed: each rewrite is about one"},
	{"identity", "lower/float/simplify",
		"merges scales, pads and pools: each rewrite is about the operations that it merges"},
	{"identity", "lower/float/layout", "pushes transposes and reshapes out: they are what it is about"},
	{"identity", "lower/kernels/fuse/join.go",
		"joins columns of one value: slices, reshapes and transposes are what it is about"},
	{"identity", "lower/own/own.go", "makes clips of quant nodes, and reads the formats that they give to values"},
	{"identity", "lower/float/ids.go", "makes embeddings of gathers, which are what ids are looked up by"},
	{"identity", "lower/float/padding.go", "makes constants of comparisons whose running sums look rows up"},
	{"identity", "lower/float/whole.go", "drops convert between types that hold the values that lowering goes on with"},
}
