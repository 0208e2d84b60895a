// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"strings"
	"testing"

	"lathe/internal/diag"
)

// sample has every form that is printed.
func sample() *Module {
	return &Module{Name: "sample", Comment: []string{"sample: all forms."},
		Ports: []Port{{Name: "clk", Attributes: []string{`X = "clock"`}}, {Name: "a", Width: 8},
			{Name: "y", Output: true, Width: 9}, {Name: "z", Output: true}},
		Items: []Item{
			Wire{Name: "n", Value: Not{Bit{"a", 7}}},
			Wire{Name: "s", Width: 4},
			Blank{}, Comment("the low half"),
			Assign{Slice{"s", 3, 1}, Slice{"a", 2, 0}},
			Assign{Bit{"s", 0}, Const{1, 1}},
			&Instance{Module: "leaf", Name: "l", Params: []Param{{"W", "4"}, {"F", `"x.mem"`}},
				Ports: []Connection{{"clk", Ref("clk")}, {"in", Ref("s")}, {"out", Ref("y")}}},
			&Instance{Module: "end", Name: "e", Ports: []Connection{{"in", Concat{Zeros(2), Const{5, 9}, Ref("n")}}}},
			Assign{Ref("z"), All{Concat{Const{1, 0}, Ref("a")}}},
		}}
}

const printed = `// SPDX-License-Identifier: Apache-2.0
// sample: all forms.
` + "`default_nettype none" + `
module sample (
    (* X = "clock" *)
    input wire clk,
    input wire [7:0] a,
    output wire [8:0] y,
    output wire z
);
  wire n = !a[7];
  wire [3:0] s;

  // the low half
  assign s[3:1] = a[2:0];
  assign s[0] = 1'b1;
  leaf #(
      .W(4),
      .F("x.mem")
  ) l (
      .clk(clk),
      .in(s),
      .out(y)
  );
  end e (
      .in({2'd0, 5'd9, n})
  );
  assign z = &{1'b0, a};
endmodule
` + "`default_nettype wire\n"

func TestPrint(t *testing.T) {
	if got := string(sample().Print()); got != printed {
		t.Errorf("printed\n%s", got)
	}
}

// leafPorts are the modules that sample has instances of.
func leafPorts(module string, _ []Param) ([]Port, error) {
	if module == "leaf" {
		return []Port{{Name: "clk"}, {Name: "in", Width: 4}, {Name: "out", Output: true, Width: 9}}, nil
	}
	if module == "end" {
		return []Port{{Name: "in", Width: 8}}, nil
	}
	return nil, diag.New("L0601", "", "no library module %q", module)
}

// TestCheck plants one fault each; the error names instance and port.
func TestCheck(t *testing.T) {
	if err := sample().Check(leafPorts); err != nil {
		t.Fatal(err)
	}
	leaf := func(m *Module) *Instance { return m.Instances()[0] }
	for _, c := range []struct {
		want  string
		plant func(m *Module)
	}{
		{"instance l, port in: 4 bits are bound to 8", func(m *Module) { leaf(m).Ports[1].To = Ref("a") }},
		{"instance l leaves port in of leaf open", func(m *Module) { leaf(m).Ports[1].Port = "i" }},
		{"instance l: leaf has no port i", func(m *Module) { leaf(m).Ports[1].Port = "i" }},
		{"instance l binds port clk twice", func(m *Module) { leaf(m).Ports[1].Port = "clk" }},
		{"module sample, instance l: L0601", func(m *Module) { leaf(m).Module = "loaf" }},
		{"instance s has a name that is taken", func(m *Module) { leaf(m).Name = "s" }},
		{"instance e has a name that is taken", func(m *Module) { leaf(m).Name = "e" }},
		{"bit 0 of y is driven twice", func(m *Module) { m.Items = append(m.Items, Assign{Ref("y"), Zeros(9)}) }},
		{"bit 3 of a is driven twice", func(m *Module) { m.Items = append(m.Items, Assign{Bit{"a", 3}, Const{1, 0}}) }},
		{"bit 0 of s is not driven", func(m *Module) { m.Items = append(m.Items[:5:5], m.Items[6:]...) }},
		{"bit 1 of s is not driven", func(m *Module) { m.Items = append(m.Items[:4:4], m.Items[5:]...) }},
		{"bit 0 of w is not driven", func(m *Module) { m.Items = append(m.Items, Wire{Name: "w"}) }},
		{"wire a is declared twice", func(m *Module) { m.Items = append(m.Items, Wire{Name: "a", Value: Const{1, 0}}) }},
		{"bits 8 to 8 of a, which has 8", func(m *Module) { m.Items[0] = Wire{Name: "n", Value: Bit{"a", 8}} }},
		{`unknown wire "b"`, func(m *Module) { m.Items[0] = Wire{Name: "n", Value: Ref("b")} }},
		{"8 has no 3 bits", func(m *Module) { m.Items[0] = Wire{Name: "n", Value: Not{Const{3, 8}}} }},
		{`instance "join" has no name`, func(m *Module) { leaf(m).Name = "join" }},
		{`wire "1w" has no name`, func(m *Module) { m.Items = append(m.Items, Wire{Name: "1w", Value: Zeros(1)}) }},
		{"drives something that is not a wire", func(m *Module) { m.Items = append(m.Items, Assign{Zeros(1), Zeros(1)}) }},
	} {
		m := sample()
		c.plant(m)
		if err := m.Check(leafPorts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestPortsOf reads back what is printed; of another module, and of none, nothing.
func TestPortsOf(t *testing.T) {
	want := sample().Ports
	got := PortsOf(append(sample().Print(), "module other (\n    input wire q\n);\n"...), "sample")
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, p := range got {
		if p.Name != want[i].Name || p.Output != want[i].Output || p.Width != want[i].Width || p.Attributes != nil {
			t.Errorf("%+v, not %+v", p, want[i])
		}
	}
	if none := PortsOf(sample().Print(), "leaf"); none != nil {
		t.Errorf("%+v", none)
	}
}
