// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
)

// TestCutsOff asks operations which overflow rule of their argument does what they do.
func TestCutsOff(t *testing.T) {
	six := &pointwise.ClipAttrs{Max: 6}
	for _, c := range []struct {
		op    *ir.Op
		attrs any
		text  string
		to    string
		want  string
	}{
		{pointwise.Relu, nil, "ufixed(8,5)", "", "sat"},
		{pointwise.Relu, nil, "fixed(8,5)", "", "0..127"},
		{pointwise.Relu, nil, "ufixed(8,5)", "ufixed(8,4)", ""},
		{pointwise.Clip, six, "ufixed(8,6)", "", "sat"},
		{pointwise.Clip, six, "ufixed(8,5)", "", "0..192"},
		{pointwise.Clip, &pointwise.ClipAttrs{Min: float32(math.Inf(-1)), Max: 3.96875}, "fixed(8,5)", "", "sat"},
		{pointwise.Clip, &pointwise.ClipAttrs{Min: -3, Max: 9}, "fixed(8,5)", "", ""},
		{pointwise.Clip, &pointwise.ClipAttrs{Min: -1, Max: 1}, "fixed(8,5)", "", "-32..32"},
		{pointwise.Clip, &pointwise.ClipAttrs{Min: -1, Max: 1}, "fixed(8,7)", "", "sat"},
		{pointwise.Clip, &pointwise.ClipAttrs{Min: 1, Max: 6}, "ufixed(8,5)", "", ""},
		{pointwise.Relu, nil, "uint(8)*0.3", "", "sat"},
		{pointwise.Relu, nil, "uint(8,z=1)*0.3", "", ""},
		{pointwise.Relu, nil, "ufixed(17,5)", "", "sat"},
		{pointwise.Relu, nil, "fixed(33,5)", "", ""}, // beyond what limits hold
	} {
		typ := func(text string) ir.Type {
			f, err := format.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			return ir.Type{Shape: []int{1, 3}, Format: f}
		}
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: typ(c.text)}
		n := &ir.Node{Name: "n", Op: c.op, Attrs: c.attrs, Args: []*ir.Node{x}, Type: typ(c.text)}
		if c.to != "" {
			n.Type = typ(c.to)
		}
		over, ok := cutsOff(n)
		got := map[bool]string{true: over.String()}[ok]
		if got != c.want {
			t.Errorf("%s of %s %s: %q, want %q", c.op.Name, c.text, c.to, got, c.want)
		}
	}
}
