// SPDX-License-Identifier: Apache-2.0

// Package text is the text form of graphs, and the file that holds a graph with its constants.
//
//	lathe 1
//	graph %digits float(%x) {
//	  %x = input : 1x64 fp32 @ "model.onnx: x (input)"
//	  %0.weight = const {data = f32 sha256:84a5...} : 32x64 fp32
//	  %0 = linear(%x, %0.weight) : 1x32 fp32 @ "model.onnx: 0 (Gemm)"
//	  return logits = %0
//	}
//	data f32 sha256:84a5... {
//	  base64 of the bytes, little-endian
//	}
//
// A node is name = op(arguments) {attributes} : type hw {...} stats {...} @ position; what is empty or zero is left
// out. Printing what was parsed gives the same text again. Constants of few elements stand in the node, as in
// data = f32 [1, 0.5]; large ones stand only in files (Save), the text then names their digest.
package text

import (
	"bytes"
	"strings"

	"lathe/ir"
)

// version heads every text; fileMark heads every file of Save.
const (
	version  = "lathe 1\n"
	fileMark = "lathe-file 1 "
)

// Sniff says that data begin like a text graph or like a file of Save.
func Sniff(data []byte) bool {
	return bytes.HasPrefix(data, []byte(version)) || bytes.HasPrefix(data, []byte(fileMark))
}

// bare says that a name needs no quotes.
func bare(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return !isWord(r) }) < 0
}

// isWord is the alphabet of names, numbers and keywords.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '/' ||
		r == '-' || r == '+'
}

// Data finds the bytes of a constant by the digest that the text names.
type Data func(digest string) (*ir.Blob, bool)

// none is a Data without any.
func none(string) (*ir.Blob, bool) { return nil, false }
