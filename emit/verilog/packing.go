// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"
	"slices"
	"strings"

	"lathe/emit"
	"lathe/ir/format"
)

// packing says where the elements of a beat are, port by port, and explains the formats of the ports.
func packing(ports []emit.Port) string {
	var s strings.Builder
	s.WriteString("\nElements travel in row-major order of the shape. Lane 0, the first element of a beat, is in the\n" +
		"lowest bits; lanes are packed without gaps, and zeros fill the beat up to whole bytes:\n\n")
	var lines []string
	for _, p := range ports {
		w := p.Type.Format.Width()
		fmt.Fprintf(&s, "- `%s`: lane i in bits `[%d*i +: %d]`", p.Stream, w, w)
		if b, ok := p.Type.Format.(format.Block); ok {
			fmt.Fprintf(&s, ", scale field of the block in `[%d:%d]`", p.Width-1, p.Width-b.ScaleWidth())
		}
		s.WriteByte('\n')
		for _, line := range meaning(p.Type.Format) {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	s.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	return s.String()
}

// meaning explains the codes of f, a sentence for each format that occurs in it.
func meaning(f format.Format) []string {
	if b, ok := f.(format.Block); ok {
		if !format.IsFixed(b.Element()) {
			return []string{blockMeaning(b)}
		}
		return append([]string{blockMeaning(b)}, meaning(b.Element().CodeSet())...)
	}
	_, scaled := f.(format.Scaled)
	switch {
	case scaled:
		return []string{"`int(W,z=z)*S` is two's complement of W bits with value (code - z)*S, `uint` is unsigned;\n" +
			"z is 0 unless given. `[axis]` in place of S: each index of that axis has its own scale."}
	case format.Coded(f):
		return []string{codeMeaning(f)}
	}
	return []string{"`fixed(W,F)` is two's complement of W bits with value code*2^-F, `ufixed(W,F)` is unsigned;\n" +
		"`int(W)` and `uint(W)` have F = 0."}
}

// blockMeaning explains a block format from its size, its scales and its elements.
func blockMeaning(b format.Block) string {
	along := "the last axis"
	if b.Axis() >= 0 {
		along = fmt.Sprintf("axis %d", b.Axis())
	}
	text := fmt.Sprintf("`%s`: blocks of %d elements along %s share a scale field X of %d bits. The value of an\n"+
		"element is that of `%s` times 2^(X%+d)", b, b.BlockSize(), along, b.ScaleWidth(), b.Element().CodeSet(),
		b.ScaleExp(0))
	if !format.IsFixed(b.Element()) {
		text = fmt.Sprintf("`%s`: blocks of %d elements along %s share a field of %d bits. %s", b, b.BlockSize(), along,
			b.ScaleWidth(), codeMeaning(b))
		text = strings.TrimSuffix(text, ".")
	}
	if top := int64(1)<<b.ScaleWidth() - 1; b.ScaleValue(top).IsNaN() {
		text += fmt.Sprintf("; do not send X = %d, NaN in the\nformat: the hardware takes it as a scale", top)
	}
	return text + ". All elements of a beat are of one block, whose X the\nbeat carries."
}

// codeMeaning explains a format of raw codes by its line in the list of formats.
func codeMeaning(f format.Format) string {
	name := format.FamilyOf(f)
	for _, family := range format.All() {
		if family.Name == name {
			return fmt.Sprintf("`%s` is a code of raw bits: %s.", family.Syntax, family.Doc)
		}
	}
	return fmt.Sprintf("`%s` is a code of raw bits.", f)
}
