// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/emit"
	"lathe/rtl/netlist"
)

// crossBits is the logarithm of the beats that a queue between the clocks holds: twice what the full rate needs.
const crossBits = 4

// singleOf names the wrapper of one clock.
func singleOf(top string, o Options) string {
	if o.StreamMHz > 0 {
		return top + "_single"
	}
	return top
}

// clocks is the wrapper around that of one clock: its streams keep to ap_clk and go through queues, all the rest keeps
// to core_clk.
func (b *builder) clocks(o Options, single *netlist.Module) *netlist.Module {
	d := b.design
	var streams, others []string
	for _, p := range d.Ports {
		streams = append(streams, p.Stream)
	}
	if d.Memory != nil {
		others = append(others, emit.AXI)
	}
	m := &netlist.Module{Name: d.Top, Comment: comment(o, d.Top, d.Name+", whose streams have a clock of their own"),
		Ports: []netlist.Port{clockPort("ap_clk", streams, "ap_rst_n"), resetPort("ap_rst_n"),
			clockPort(emit.CoreClock, others, "")}}
	inside := &netlist.Instance{Module: d.Single, Name: "single", Ports: []netlist.Connection{
		{Port: "ap_clk", To: netlist.Ref(emit.CoreClock)}, {Port: "ap_rst_n", To: netlist.Not{X: netlist.Ref("core_rst")}}}}
	restart := &netlist.Instance{Module: "stream_restart", Name: "restart", Ports: []netlist.Connection{
		{Port: "clk", To: netlist.Ref("ap_clk")}, {Port: "rst", To: netlist.Not{X: netlist.Ref("ap_rst_n")}},
		{Port: "held", To: netlist.Ref("rst")}, {Port: "other_clk", To: netlist.Ref(emit.CoreClock)},
		{Port: "other_rst", To: netlist.Ref("core_rst")}}}
	m.Items = []netlist.Item{netlist.Wire{Name: "rst"}, netlist.Wire{Name: "core_rst"}, restart}
	crossed := map[string]bool{"ap_clk": true, "ap_rst_n": true}
	for _, p := range d.Ports {
		for _, port := range axisPorts(p) {
			crossed[port.Name] = true
			to := "core_" + port.Name
			inside.Ports = append(inside.Ports, netlist.Connection{Port: port.Name, To: netlist.Ref(to)})
		}
		m.Ports = append(m.Ports, axisPorts(p)...)
		m.Items = append(m.Items, cross(p)...)
	}
	for i := range single.Ports {
		if port := single.Ports[i]; !crossed[port.Name] {
			m.Ports = append(m.Ports, port)
			inside.Ports = append(inside.Ports, netlist.Connection{Port: port.Name, To: netlist.Ref(port.Name)})
		}
		single.Ports[i].Attributes = nil // interfaces are those of the top
	}
	m.Items = append(m.Items, netlist.Blank{}, inside)
	return m
}

// cross leads a stream through a queue into the core, or out of it.
func cross(p emit.Port) []netlist.Item {
	inner := "core_" + p.Stream
	from, to, clocks, resets := p.Stream, inner, [2]string{"ap_clk", emit.CoreClock}, [2]string{"rst", "core_rst"}
	if !p.Input {
		from, to, clocks, resets = inner, p.Stream, [2]string{emit.CoreClock, "ap_clk"}, [2]string{"core_rst", "rst"}
	}
	ref := func(side, signal string) netlist.Expr { return netlist.Ref(side + "_" + signal) }
	beat := inner + "_beat"
	queue := &netlist.Instance{Module: "stream_cross", Name: "cross_" + p.Stream,
		Params: []netlist.Param{{Name: "WIDTH", Value: fmt.Sprint(p.TData + 1)}, {Name: "AW", Value: fmt.Sprint(crossBits)}},
		Ports: []netlist.Connection{{Port: "in_clk", To: netlist.Ref(clocks[0])},
			{Port: "in_rst", To: netlist.Ref(resets[0])}, {Port: "out_clk", To: netlist.Ref(clocks[1])},
			{Port: "out_rst", To: netlist.Ref(resets[1])}}}
	queue.Ports = append(queue.Ports, netlist.Stream("in", netlist.Concat{ref(from, "tlast"), ref(from, "tdata")},
		ref(from, "tvalid"), ref(from, "tready"))...)
	queue.Ports = append(queue.Ports, netlist.Stream("out", netlist.Ref(beat), ref(to, "tvalid"), ref(to, "tready"))...)
	return []netlist.Item{netlist.Blank{}, netlist.Wire{Name: inner + "_tdata", Width: p.TData},
		netlist.Wire{Name: inner + "_tvalid"}, netlist.Wire{Name: inner + "_tready"}, netlist.Wire{Name: inner + "_tlast"},
		netlist.Wire{Name: beat, Width: p.TData + 1},
		netlist.Assign{To: ref(to, "tdata"), From: netlist.Slice{Of: beat, High: p.TData - 1}},
		netlist.Assign{To: ref(to, "tlast"), From: netlist.Bit{Of: beat, At: p.TData}}, queue}
}
