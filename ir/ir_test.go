// SPDX-License-Identifier: Apache-2.0

package ir_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
)

// small is input -> relu -> relu, float.
func small(t *testing.T) (g *ir.Graph, x, a, b *ir.Node) {
	t.Helper()
	x = &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(2, 3)}
	a = &ir.Node{Name: "a", Op: pointwise.Relu, Args: []*ir.Node{x}, Type: ir.Float(2, 3)}
	b = &ir.Node{Name: "b", Op: pointwise.Relu, Args: []*ir.Node{a}, Type: ir.Float(2, 3)}
	g = &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x, a, b}, Out: []ir.Output{{Name: "y", Node: b}}}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g, x, a, b
}

// TestCheck breaks one rule at a time.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		code diag.Code
		edit func(g *ir.Graph, x, a, b *ir.Node)
	}{
		{"two nodes of one name", "L0304", func(_ *ir.Graph, _, a, b *ir.Node) { b.Name = a.Name }},
		{"use before definition", "L0302", func(g *ir.Graph, x, a, b *ir.Node) { g.Nodes = []*ir.Node{x, b, a} }},
		{"an argument too many", "L0305", func(_ *ir.Graph, x, a, _ *ir.Node) { a.Args = []*ir.Node{x, x} }},
		{"attributes of another op", "L0313", func(_ *ir.Graph, _, a, _ *ir.Node) { a.Attrs = &ir.Input{} }},
		{"a wrong shape", "L0306", func(_ *ir.Graph, _, a, _ *ir.Node) { a.Type.Shape = []int{3, 2} }},
		{"a negative dimension", "L0306", func(_ *ir.Graph, x, _, _ *ir.Node) { x.Type.Shape = []int{-2, 3} }},
		{"no format", "L0314", func(_ *ir.Graph, _, a, _ *ir.Node) { a.Type.Format = nil }},
		{"output of another graph", "L0303", func(g *ir.Graph, _, _, _ *ir.Node) { g.Out[0].Node = &ir.Node{Name: "z"} }},
		{"input that is none", "L0303", func(g *ir.Graph, _, a, _ *ir.Node) { g.In = append(g.In, a) }},
		{"output perm out of range", "L0306", func(g *ir.Graph, _, _, _ *ir.Node) { g.Out[0].Perm = []int{0, 5} }},
		{"input perm too short", "L0306", func(_ *ir.Graph, x, _, _ *ir.Node) { x.Attrs = &ir.Input{Perm: []int{0}} }},
		{"float in a quantized graph", "L0307", func(g *ir.Graph, _, _, _ *ir.Node) { g.Stage = ir.StageQuantized }},
	} {
		g, x, a, b := small(t)
		c.edit(g, x, a, b)
		if err := g.Check(); diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v, not %s", c.name, err, c.code)
		}
	}
}

// TestSort orders nodes, finds those that only arguments know, and names a cycle.
func TestSort(t *testing.T) {
	g, x, a, b := small(t)
	g.Nodes = []*ir.Node{b, x}
	if err := g.Sort(); err != nil || !slices.Equal(g.Nodes, []*ir.Node{x, a, b}) {
		t.Errorf("sorted into %v, %v", g.Nodes, err)
	}
	a.Args[0] = b
	if err := g.Sort(); diag.CodeOf(err) != "L0302" || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("a cycle: %v", err)
	}
}

// TestRewrite replaces a node, drops what is dead, and leaves a clone alone.
func TestRewrite(t *testing.T) {
	g, x, a, b := small(t)
	c := g.Clone()
	g.Replace(a, x)
	if b.Args[0] != x || g.DropDead() != 1 || len(g.Nodes) != 2 {
		t.Errorf("after the replacement: %v reads %v, %d nodes", b.Name, b.Args[0].Name, len(g.Nodes))
	}
	if err := c.Check(); err != nil || len(c.Nodes) != 3 || c.Nodes[1] == a || c.Out[0].Node != c.Nodes[2] {
		t.Errorf("the clone has changed: %v", err)
	}
	if got := g.FreshName("b"); got != "b_2" {
		t.Errorf("fresh name %q", got)
	}
}

// TestCloneAttrs demands that no list is shared, also not in a struct that attributes embed, as those of windows do.
func TestCloneAttrs(t *testing.T) {
	type Window struct{ Pads []int }
	type attrs struct {
		Window
		Axes   []int
		hidden []int
	}
	a := &attrs{Window{[]int{1, 2}}, []int{3}, []int{4}}
	b := ir.CloneAttrs(a).(*attrs)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%v became %v", a, b)
	}
	b.Pads[0], b.Axes[0] = 5, 6
	if a.Pads[0] != 1 || a.Axes[0] != 3 {
		t.Errorf("a change of the clone shows in the original: %v", a)
	}
}

// TestBlob round-trips codes through the narrowest type and decodes every float type.
func TestBlob(t *testing.T) {
	for _, c := range []struct {
		codes []int64
		want  ir.DType
	}{
		{[]int64{-128, 127}, ir.I8}, {[]int64{128, 0}, ir.I16}, {[]int64{1, -32769}, ir.I32},
		{[]int64{math.MaxInt64, math.MinInt64, 3}, ir.I64}, {[]int64{300, 70000, 1 << 40}, ir.I64},
	} {
		b := ir.CodeBlob(c.codes)
		got, err := b.Ints()
		if err != nil || b.DType != c.want || !slices.Equal(got, c.codes) {
			t.Errorf("%v as %s: %v, %v", c.codes, b.DType, got, err)
		}
	}
	half := &ir.Blob{DType: ir.F16, Bytes: []byte{0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc}}
	if got := half.Floats(); got[0] != 1 || got[1] != 0x1p-24 || !math.IsInf(float64(got[2]), -1) {
		t.Errorf("f16: %v", got)
	}
	if got := (&ir.Blob{DType: ir.BF, Bytes: []byte{0x80, 0xbf}}).Floats(); got[0] != -1 {
		t.Errorf("bf16: %v", got)
	}
	if a, b := ir.FloatBlob([]float32{1}), ir.FloatBlob([]float32{2}); a.Digest() == b.Digest() {
		t.Error("different data have one digest")
	}
}

// TestLattice reads codes with per channel scales.
func TestLattice(t *testing.T) {
	f, err := format.Parse("int(8)*[0]")
	if err != nil {
		t.Fatal(err)
	}
	v := &ir.Tensor{Type: ir.Type{Shape: []int{2, 2}, Format: f, Scales: []float32{0.5, 4}}, Codes: []int64{1, 2, -3, 4}}
	l, err := v.Lattice()
	if err != nil || l.Exp(0) != -1 || l.Exp(1) != 2 {
		t.Fatalf("%+v, %v", l, err)
	}
	values, err := v.Decode()
	if err != nil || !slices.Equal(values, []float64{0.5, 1, -12, 16}) {
		t.Errorf("%v, %v", values, err)
	}
	v.Type.Scales[1] = 3
	if _, err := v.Lattice(); err == nil {
		t.Error("a scale of 3 has no exponent")
	}
}
