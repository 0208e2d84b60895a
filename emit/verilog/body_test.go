// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/rtl"
	"lathe/rtl/netlist"
	"lathe/sim"
)

// ownModule is relu whose unit is a module of its own: what pointwise.Relu has, and a skid behind it.
func ownModule(t *testing.T, change func(*netlist.Module)) *ir.Op {
	o := *pointwise.Relu
	o.RTL = func(n *ir.Node) (*rtl.Unit, error) {
		relu, err := pointwise.Relu.RTL(n)
		if err != nil {
			t.Fatal(err)
		}
		stream := func(prefix string) []netlist.Connection { return wiresOf("mid").to(prefix) }
		inside := func(module, name string, params []rtl.Param, in, out []netlist.Connection) *netlist.Instance {
			ports := append(append(netlist.Clocked("clk", "rst"), in...), out...)
			return &netlist.Instance{Module: module, Name: name, Params: params, Ports: ports}
		}
		m := &netlist.Module{Ports: []netlist.Port{{Name: "clk"}, {Name: "rst"}, {Name: "in_data", Width: 10},
			{Name: "in_valid"}, {Name: "in_ready", Output: true}, {Name: "out_data", Output: true, Width: 10},
			{Name: "out_valid", Output: true}, {Name: "out_ready"}}, Items: wires("mid", 10, 0)}
		m.Items = append(m.Items,
			inside(relu.Module, "unit", relu.Params, wiresOf("in").to("in"), stream("out")),
			inside("stream_skid", "behind", []rtl.Param{{Name: "WIDTH", Value: "10"}}, stream("in"),
				wiresOf("out").to("out")))
		change(m)
		return &rtl.Unit{Body: &rtl.Body{Module: m, Window: relu, Latency: 1, Cost: rtl.Cost{FF: 22}}}, nil
	}
	return &o
}

// TestBody emits a unit that is a module of its own, between two that are not.
func TestBody(t *testing.T) {
	tools.Need(t, "verilator", "iverilog")
	g := chain(t, "g", "a", "b", "c")
	g.Find("b").Op = ownModule(t, func(*netlist.Module) {})
	d, err := Emit(g, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Emit(chain(t, "g", "a", "b", "c"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	u, without := d.Units[2], plain.Units[2]
	if u.Module != "g_core_"+u.Instance || u.Latency != without.Latency+1 ||
		*u.Cost != without.Cost.Add(rtl.Cost{FF: 22}) {
		t.Errorf("%+v, %+v", u, u.Cost)
	}
	end := " stream_skid.sv op_relu.sv stream_last.sv stream_reset.sv " + u.Module + ".sv g_core.sv g.v"
	if names := strings.Join(d.Sources(), " "); !strings.HasSuffix(names, end) {
		t.Error(names)
	}
	if err := sim.Lint(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Error(err)
	}
	if err := sim.Elaborate(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Error(err)
	}
}

// TestBodyRefused names node, instance and port where a body does not fit together.
func TestBodyRefused(t *testing.T) {
	g := chain(t, "g", "a", "b")
	g.Find("b").Op = ownModule(t, func(m *netlist.Module) { m.Instances()[1].Params[0].Value = "9" })
	_, err := Emit(g, Options{})
	if diag.CodeOf(err) != "L0623" && diag.CodeOf(err) != "L0624" {
		t.Fatal(err)
	}
	for _, want := range []string{"b (Relu)", "instance behind", "port in_data", "9 bits are bound to 10"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
