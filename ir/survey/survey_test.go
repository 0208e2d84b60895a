// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/text"
)

const layers = `lathe 1
graph %g float(%x) {
  %x = input : 1x1x4x4 fp32
  %w = const {data = f32 [1, 2, 3, 4, 5, 6, 7, 8]} : 2x1x2x2 fp32
  %c = const {data = f32 [0, 1]} : 1x2x1x1 fp32
  %a.conv = conv(%x, %w) {groups = 1, kernel = [2, 2],
      strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : 1x2x3x3 fp32
  %a.b.act = relu(%a.conv) : 1x2x3x3 fp32
  %a.b.act_2 = add(%a.b.act, %c) : 1x2x3x3 fp32
  return y = %a.b.act_2
}
`

// TestSizes counts by hand: 18 values of 4 products each, modules with what is in them, and what is alive at a time.
func TestSizes(t *testing.T) {
	g, err := text.Parse("g", layers, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Origin = &ir.Origin{Modules: []ir.Module{{Path: "", Class: "Net"}, {Path: "a", Class: "A"},
		{Path: "a.b", Class: "B"}, {Path: "a.b.act", Class: "Act"}}}
	s := Of(g)
	if s.MACs != 72 || s.Params != 10 || s.ParamBytes != 40 || s.Bytes != 4*(16+3*18) || s.Peak != 4*36 {
		t.Errorf("%+v, peak %d", s.Sizes, s.Peak)
	}
	want := []Module{
		{"", "Net", 0, 3, Sizes{10, 72, 4 * 54}, 0}, {"a", "A", 1, 3, Sizes{10, 72, 4 * 54}, 8},
		{"a.b", "B", 2, 2, Sizes{2, 0, 4 * 36}, 0}, {"a.b.act", "Act", 3, 2, Sizes{2, 0, 4 * 36}, 2},
	}
	for i, m := range s.Modules {
		if len(s.Modules) != len(want) || m != want[i] {
			t.Errorf("module %d: %+v, want %+v", i, m, want)
		}
	}
	if n := s.Nodes[3]; n.Module != "a.b.act" || n.Params != 2 || n.Args[0] != "a.b.act" {
		t.Errorf("%+v", n)
	}
}

// TestDeepNames meets names of more levels than modules have: they belong to the model.
func TestDeepNames(t *testing.T) {
	g, err := text.Parse("g", strings.ReplaceAll(layers, "%a.conv", "%a"+strings.Repeat(".a", 2000)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := Of(g); s.Nodes[1].Module != "" || len(s.Modules) > 10 || s.Modules[0].Own != 8 {
		t.Errorf("%+v", s.Modules)
	}
}
