// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/emit"
	"lathe/rtl/netlist"
)

// framesHead is axisHead of a port whose frames change in length.
func framesHead(p emit.Port) []netlist.Item {
	return []netlist.Item{netlist.Blank{}, netlist.Comment(fmt.Sprintf(
		"%s: %d beats of %d lanes a token, frames of 1 to %d tokens", quoteComment(p.Name), p.Beats/p.Tokens, p.Lanes,
		p.Tokens))}
}

// framesInput cuts the payload out of TDATA, and makes whole tokens and their ends of the frames that TLAST ends.
func framesInput(p emit.Port, ends *emit.Port) []netlist.Item {
	c, e := p.CoreStream, ends.CoreStream
	ref := func(name string) netlist.Expr { return netlist.Ref(name) }
	unit := &netlist.Instance{Module: "stream_frames", Name: "frames", Ports: netlist.Clocked("ap_clk", "rst"),
		Params: []netlist.Param{{Name: "WIDTH", Value: fmt.Sprint(p.Width)},
			{Name: "BEATS", Value: fmt.Sprint(p.Beats / p.Tokens)}, {Name: "TOKENS", Value: fmt.Sprint(p.Tokens)}}}
	unit.Ports = append(append(unit.Ports, behindReset(p).to("in")...),
		netlist.Connection{Port: "in_last", To: ref(p.Stream + "_tlast")})
	unit.Ports = append(append(unit.Ports, wiresOf(c).to("out")...), wiresOf(e).to("ends")...)
	unit.Ports = append(unit.Ports, netlist.Connection{Port: "error", To: ref("error")})
	items := append(append(framesHead(p), wires(c, p.Width, 0)...), wires(e, 1, 0)...)
	if items = append(items, unit); p.TData == p.Width {
		return items
	}
	return append(items, unread("unused_"+c, netlist.Slice{Of: p.Stream + "_tdata", High: p.TData - 1, Low: p.Width})...)
}

// framesOutput takes TLAST from the mark above the payload.
func framesOutput(p emit.Port) []netlist.Item {
	c := p.CoreStream
	ref := func(signal string) netlist.Expr { return netlist.Ref(p.Stream + "_" + signal) }
	payload := netlist.Expr(netlist.Slice{Of: c + "_data", High: p.Width - 1})
	if p.TData > p.Width {
		payload = netlist.Concat{netlist.Zeros(p.TData - p.Width), payload}
	}
	items := append(framesHead(p), wires(c, p.CoreWidth(), 0)...)
	return append(items, netlist.Assign{To: ref("tdata"), From: payload},
		netlist.Assign{To: ref("tlast"), From: netlist.Bit{Of: c + "_data", At: p.Width}},
		netlist.Assign{To: ref("tvalid"), From: netlist.Ref(c + "_valid")},
		netlist.Assign{To: netlist.Ref(c + "_ready"), From: ref("tready")})
}
