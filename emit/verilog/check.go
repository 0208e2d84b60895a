// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/rtl/netlist"
)

// checks refuses what cannot be checked: groups, which TLAST closes; frames that are dropped where another input's are
// not.
func checks(d *emit.Design) error {
	switch {
	case !d.Checked():
		return nil
	case d.Group > 1:
		return diag.New(diag.UncheckedFrames, d.Name, "bad_frame = %q: layers share units and take %d samples at a time, "+
			"and TLAST closes such a group", d.BadFrame, d.Group).WithHint("leave bad_frame out, or images of [fold]")
	case d.BadFrame == emit.Drops && len(d.Counts()) > 1:
		return diag.New(diag.UncheckedFrames, d.Name, "bad_frame = %q: the design has %d inputs, and a frame of one that is "+
			"dropped would leave the others a frame ahead", d.BadFrame, len(d.Counts())).
			WithHint("use bad_frame = %q", emit.Completes)
	}
	return nil
}

// checkers are the library modules that check frames.
func checkers(d *emit.Design) []string {
	switch d.BadFrame {
	case emit.Completes:
		return []string{"stream_check"}
	case emit.Drops:
		return []string{"stream_check", "stream_fifo", "stream_ungroup"}
	}
	return nil
}

// slack is how many beats more than a frame the queue holds in which frames wait that may be dropped: the next frame
// comes in while it is told of the last one, and passes its registers.
const slack = 8

// checkedInput cuts the payload out of TDATA and has every frame end where it should. Frames that may be dropped wait
// in a queue until the last of their beats has come.
func checkedInput(p emit.Port, count, bad string) []netlist.Item {
	c := p.CoreStream
	ref := func(name string) netlist.Expr { return netlist.Ref(name + "_" + c) }
	width := netlist.Param{Name: "WIDTH", Value: fmt.Sprint(p.Width)}
	beats := netlist.Param{Name: "BEATS", Value: fmt.Sprint(p.Beats)}
	check := &netlist.Instance{Module: "stream_check", Name: "check_" + c, Ports: netlist.Clocked("ap_clk", "rst"),
		Params: []netlist.Param{width, beats}}
	check.Ports = append(append(check.Ports, behindReset(p).to("in")...),
		netlist.Connection{Port: "in_last", To: netlist.Ref(p.Stream + "_tlast")},
		netlist.Connection{Port: "ends", To: ref("ends")}, netlist.Connection{Port: "bad", To: ref("bad")},
		netlist.Connection{Port: "error", To: ref("error")}, netlist.Connection{Port: "count", To: netlist.Ref(count)})
	items := append(wires(c, p.Width, 0), netlist.Wire{Name: "ends_" + c}, netlist.Wire{Name: "bad_" + c},
		netlist.Wire{Name: "error_" + c})
	var rest []netlist.Expr
	if bad == emit.Drops {
		whole, held := "whole_"+c, "held_"+c
		check.Ports = append(check.Ports, wiresOf(whole).to("out")...)
		queue := &netlist.Instance{Module: "stream_fifo", Name: "queue_" + c, Ports: netlist.Clocked("ap_clk", "rst"),
			Params: []netlist.Param{width, {Name: "DEPTH", Value: fmt.Sprint(p.Beats + slack)}}}
		queue.Ports = append(append(queue.Ports, wiresOf(whole).to("in")...), wiresOf(held).to("out")...)
		drop := &netlist.Instance{Module: "stream_ungroup", Name: "drop_" + c, Ports: netlist.Clocked("ap_clk", "rst"),
			Params: []netlist.Param{width, beats}}
		drop.Ports = append(append(drop.Ports, wiresOf(held).to("in")...), wiresOf(c).to("out")...)
		drop.Ports = append(drop.Ports, netlist.Connection{Port: "room", To: ref("room")},
			netlist.Connection{Port: "begins", To: ref("ends")}, netlist.Connection{Port: "zeros", To: ref("bad")})
		items = append(append(append(items, wires(whole, p.Width, 0)...), wires(held, p.Width, 0)...),
			netlist.Wire{Name: "room_" + c}, check, queue, drop)
		rest = append(rest, ref("room")) // fewer frames are in the queue than it can tell of
	} else {
		check.Ports = append(check.Ports, wiresOf(c).to("out")...)
		items = append(items, check)
		rest = append(rest, ref("ends"), ref("bad"))
	}
	if p.TData > p.Width {
		rest = append(rest, netlist.Slice{Of: p.Stream + "_tdata", High: p.TData - 1, Low: p.Width})
	}
	return append(items, unread("unused_"+c, rest...)...)
}

// counted gives the wrapper the outputs that tell of bad frames.
func counted(m *netlist.Module, d *emit.Design) {
	if !d.Checked() {
		return
	}
	m.Ports = append(m.Ports, netlist.Port{Name: "error", Output: true})
	fine := netlist.Concat{}
	for i, name := range d.Counts() {
		m.Ports = append(m.Ports, netlist.Port{Name: name, Output: true, Width: emit.CountBits})
		fine = append(fine, netlist.Not{X: netlist.Ref("error_" + d.Ports[i].CoreStream)})
	}
	m.Items = append(m.Items, netlist.Blank{}, netlist.Wire{Name: "fine", Value: netlist.All{X: fine}},
		netlist.Assign{To: netlist.Ref("error"), From: netlist.Not{X: netlist.Ref("fine")}})
}

// sealBroken is the wire that says that checked weights are wrong, behind the prefix of those of a unit.
const sealBroken = "error"

// sealPorts are the ports of a core whose weights are checked: one that tells of wrong ones, and a decoder's reset that
// does not end sequences.
func (b *builder) sealPorts() (ports []netlist.Port) {
	if !b.design.ChecksWeights() {
		return nil
	}
	if b.design.Tokens > 0 {
		ports = append(ports, netlist.Port{Name: portReset})
	}
	return append(ports, netlist.Port{Name: emit.AXIFailed, Output: true})
}

// seals tells of wrong weights of any unit.
func (b *builder) seals() []netlist.Item {
	fine := netlist.Concat{}
	for _, inst := range b.order {
		if len(inst.sealed) > 0 {
			fine = append(fine, netlist.Not{X: netlist.Ref("w__" + inst.name + "_" + sealBroken)})
		}
	}
	if len(fine) == 0 {
		return nil
	}
	return []netlist.Item{netlist.Blank{}, netlist.Comment("weights that are not what they should be"),
		netlist.Wire{Name: sealsFine, Value: netlist.All{X: fine}},
		netlist.Assign{To: netlist.Ref(emit.AXIFailed), From: netlist.Not{X: netlist.Ref(sealsFine)}}}
}

// sealsFine is the wire that says that all checked weights are right, or not yet checked.
const sealsFine = "weights_fine"
