// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"strings"
	"testing"

	"lathe/emit"
	"lathe/ir"
	"lathe/ir/format"
)

// TestPacking explains each port, and the formats that occur but no others.
func TestPacking(t *testing.T) {
	port := func(stream, text string, lanes int) emit.Port {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		typ := ir.Type{Shape: []int{1, 64}, Format: f}
		return emit.Port{Stream: stream, Type: typ, Lanes: lanes, Width: typ.BeatWidth(lanes)}
	}
	fixed, affine, block := port("a", "fixed(9,4)", 2), port("b", "uint(8,z=128)*0.05", 4), port("c", "mxint8", 8)
	for _, c := range []struct {
		ports []emit.Port
		want  []string
		not   []string
	}{
		{[]emit.Port{fixed}, []string{"`a`: lane i in bits `[9*i +: 9]`\n", "code*2^-F"},
			[]string{"scale", "(code - z)*S"}},
		{[]emit.Port{affine}, []string{"`b`: lane i in bits `[8*i +: 8]`\n", "(code - z)*S"},
			[]string{"code*2^-F", "X = 255"}},
		{[]emit.Port{block, fixed}, []string{"`c`: lane i in bits `[8*i +: 8]`, scale field of the block in `[71:64]`",
			"blocks of 32 elements along the last axis share a scale field X of 8 bits",
			"that of `fixed(8,6)` times 2^(X-127)",
			"X = 255", "code*2^-F"}, []string{"(code - z)*S"}},
	} {
		text := packing(c.ports)
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
		for _, w := range c.not {
			if strings.Contains(text, w) {
				t.Errorf("%q stands in\n%s", w, text)
			}
		}
	}
}

// TestReadmeUses speaks of what there is: a design without testbench and scripts has no paragraphs on them.
func TestReadmeUses(t *testing.T) {
	d, err := Emit(chain(t, "g", "r"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := readme(d)
	if err != nil || strings.Contains(text, "## Simulate") || strings.Contains(text, "## Vivado") {
		t.Errorf("%v\n%s", err, text)
	}
}
