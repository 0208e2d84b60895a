// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"
	"strings"

	"lathe/emit"
	"lathe/ir/format"
)

// packing says where the elements of a beat are, port by port, and what the codes of the formats mean that occur.
func packing(ports []emit.Port) string {
	var s strings.Builder
	s.WriteString("\nElements travel in row-major order of the shape. Lane 0, the first element of a beat, is in the\n" +
		"lowest bits; lanes are packed without gaps, and the beat is filled up to whole bytes with zeros above:\n\n")
	meanings := []struct {
		says string
		of   bool
	}{
		{"`fixed(W,F)` is two's complement of W bits with value code*2^-F, `ufixed(W,F)` the same without sign.", false},
		{"`int(W)` is two's complement, `uint(W)` unsigned; with `*S` behind it the value is (code - z)*S, z being 0\n" +
			"unless given: `[axis]` in place of S stands for one scale an index of that axis.", false},
		{"In `mxint(W,k)`, of which `mxint8` is the case W=8, k=32, k elements of the last axis share a scale code X: a\n" +
			"beat never straddles two such blocks, and each carries the X of its own. Elements are two's complement, the\n" +
			"value is code*2^-(W-2)*2^(X-127); X=255 makes the block NaN.", false},
	}
	coded := map[string]bool{}
	for _, p := range ports {
		w := p.Type.Format.Width()
		fmt.Fprintf(&s, "- `%s`: lane i in bits `[%d*i +: %d]`", p.Stream, w, w)
		if b, ok := p.Type.Format.(format.Block); ok {
			fmt.Fprintf(&s, ", scale code of the block in `[%d:%d]`", p.Width-1, p.Width-b.ScaleWidth())
		}
		s.WriteByte('\n')
		switch f := p.Type.Format; {
		case p.Type.InBlocks():
			meanings[2].of = true
		case format.Coded(f):
			coded[format.FamilyOf(f)] = true
		case !fixedPoint(f):
			meanings[1].of = true
		default:
			meanings[0].of = true
		}
	}
	s.WriteByte('\n')
	for _, m := range meanings {
		if m.of {
			s.WriteString(m.says + "\n")
		}
	}
	for _, f := range format.All() {
		if coded[f.Name] {
			fmt.Fprintf(&s, "`%s` is a code of raw bits: %s.\n", f.Syntax, f.Doc)
		}
	}
	return s.String()
}

// fixedPoint says that the text of f is one of fixed(W,F) and its like.
func fixedPoint(f format.Format) bool {
	_, scaled := f.(format.Scaled)
	return !scaled
}
