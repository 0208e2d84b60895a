// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/emit"
	"lathe/rtl/netlist"
)

// grouped declares what a wrapper needs whose core takes samples in groups: whether all outputs can keep count of one
// more, and what begins at the first input. Other inputs follow it.
func grouped(d *emit.Design) []netlist.Item {
	one := func(name string) netlist.Item { return netlist.Wire{Name: name} }
	items := []netlist.Item{netlist.Blank{}, netlist.Comment(fmt.Sprintf(
		"groups of %d samples: TLAST behind fewer has zeros fill the group, and what they give is dropped", d.Group)),
		one("begins"), one("zeros")}
	all := netlist.Concat{}
	for _, p := range d.Ports {
		if !p.Input {
			items, all = append(items, one("room_"+p.CoreStream)), append(all, netlist.Ref("room_"+p.CoreStream))
		}
	}
	return append(items, netlist.Wire{Name: "room", Value: netlist.All{X: all}})
}

// enters puts stream_group between an input port and the core.
func enters(p emit.Port, group int, first bool) []netlist.Item {
	c := p.CoreStream
	items := wires(c, p.Width, 0)
	begins, zeros, room := netlist.Expr(netlist.Ref("begins")), netlist.Expr(netlist.Ref("zeros")),
		netlist.Expr(netlist.Ref("room"))
	var rest []netlist.Expr
	if !first {
		begins, zeros = netlist.Ref("begins_"+c), netlist.Ref("zeros_"+c)
		room = netlist.Const{Width: 1, Value: 1}
		items = append(items, netlist.Wire{Name: "begins_" + c}, netlist.Wire{Name: "zeros_" + c})
		rest = append(rest, begins, zeros)
	}
	if p.TData > p.Width {
		rest = append(rest, netlist.Slice{Of: p.Stream + "_tdata", High: p.TData - 1, Low: p.Width})
	}
	u := &netlist.Instance{Module: "stream_group", Name: "group_" + c, Ports: netlist.Clocked("ap_clk", "rst"),
		Params: []netlist.Param{{Name: "WIDTH", Value: fmt.Sprint(p.Width)}, {Name: "BEATS", Value: fmt.Sprint(p.Beats)},
			{Name: "GROUP", Value: fmt.Sprint(group)}}}
	u.Ports = append(u.Ports, netlist.Stream("in", netlist.Slice{Of: p.Stream + "_tdata", High: p.Width - 1},
		netlist.Ref(p.Stream+"_tvalid"), netlist.Ref(p.Stream+"_tready"))...)
	u.Ports = append(u.Ports, netlist.Connection{Port: "in_last", To: netlist.Ref(p.Stream + "_tlast")})
	u.Ports = append(u.Ports, wiresOf(c).to("out")...)
	u.Ports = append(u.Ports, netlist.Connection{Port: "room", To: room}, netlist.Connection{Port: "begins", To: begins},
		netlist.Connection{Port: "zeros", To: zeros})
	if items = append(items, u); len(rest) > 0 {
		items = append(items, unread("unused_"+c, rest...)...)
	}
	return items
}

// leaves puts stream_ungroup behind an output of the core, and says which stream comes from it.
func leaves(p emit.Port) ([]netlist.Item, handshake) {
	c := p.CoreStream
	kept := "kept_" + c
	u := &netlist.Instance{Module: "stream_ungroup", Name: "ungroup_" + c, Ports: netlist.Clocked("ap_clk", "rst"),
		Params: []netlist.Param{{Name: "WIDTH", Value: fmt.Sprint(p.Width)}, {Name: "BEATS", Value: fmt.Sprint(p.Beats)}}}
	for _, name := range []string{"begins", "zeros"} {
		u.Ports = append(u.Ports, netlist.Connection{Port: name, To: netlist.Ref(name)})
	}
	u.Ports = append(u.Ports, netlist.Connection{Port: "room", To: netlist.Ref("room_" + c)})
	u.Ports = append(u.Ports, wiresOf(c).to("in")...)
	u.Ports = append(u.Ports, wiresOf(kept).to("out")...)
	return append(wires(kept, p.Width, 0), u), wiresOf(kept)
}
