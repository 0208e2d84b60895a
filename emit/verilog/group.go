// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/emit"
	"lathe/rtl/netlist"
)

// grouped declares what a wrapper needs whose core takes samples in groups: whether all other ports can keep count of
// one more, and what begins at the first input.
func grouped(d *emit.Design) []netlist.Item {
	one := func(name string) netlist.Item { return netlist.Wire{Name: name} }
	items := []netlist.Item{netlist.Blank{}, netlist.Comment(fmt.Sprintf(
		"groups of %d samples: TLAST behind fewer has zeros fill the group, and what they give is dropped", d.Group)),
		one("begins"), one("zeros")}
	all := netlist.Concat{}
	for i, p := range d.Ports {
		if i > 0 {
			items, all = append(items, one("room_"+p.CoreStream)), append(all, netlist.Ref("room_"+p.CoreStream))
		}
	}
	return append(items, netlist.Wire{Name: "room", Value: netlist.All{X: all}})
}

// enters puts stream_group between the first input port and the core, and stream_follow behind the others, whose TLAST
// says nothing.
func enters(p emit.Port, group int, first bool) []netlist.Item {
	c := p.CoreStream
	var rest []netlist.Expr
	u := &netlist.Instance{Module: "stream_follow", Name: "follow_" + c, Ports: netlist.Clocked("ap_clk", "rst"),
		Params: []netlist.Param{{Name: "WIDTH", Value: fmt.Sprint(p.Width)}, {Name: "BEATS", Value: fmt.Sprint(p.Beats)}}}
	room := "room_" + c
	last := netlist.Ref(p.Stream + "_tlast")
	if first {
		u.Module, u.Name, room = "stream_group", "group_"+c, "room"
		u.Params = append(u.Params, netlist.Param{Name: "GROUP", Value: fmt.Sprint(group)})
		u.Ports = append(u.Ports, netlist.Connection{Port: "in_last", To: last})
	} else {
		rest = append(rest, last)
	}
	if p.TData > p.Width {
		rest = append(rest, netlist.Slice{Of: p.Stream + "_tdata", High: p.TData - 1, Low: p.Width})
	}
	u.Ports = append(u.Ports, behindReset(p).to("in")...)
	u.Ports = append(u.Ports, wiresOf(c).to("out")...)
	for _, port := range [][2]string{{"room", room}, {"begins", "begins"}, {"zeros", "zeros"}} {
		u.Ports = append(u.Ports, netlist.Connection{Port: port[0], To: netlist.Ref(port[1])})
	}
	items := append(wires(c, p.Width, 0), u)
	if len(rest) > 0 {
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
