// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"
	"strings"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/rtl/netlist"
)

// decodes refuses a decoder whose ports do not come token by token. Lowering has checked how tokens move.
func decodes(d *emit.Design) error {
	inputs := 0
	if d.Tokens == 0 {
		return nil
	}
	for _, p := range d.Ports {
		if p.Beats%d.Tokens != 0 {
			return diag.New(diag.UnitFault, d.Name, "%d beats of %q are not those of %d tokens", p.Beats, p.Name, d.Tokens)
		}
		if p.Input {
			inputs++
		}
	}
	if inputs != 1 {
		return diag.New(diag.UnitFault, d.Name, "a decoder of %d inputs", inputs)
	}
	return nil
}

// session declares what begins and ends the sequences of a decoder, between its input and the core.
func session(d *emit.Design) []netlist.Item {
	in, idle := d.Ports[0], []string(nil)
	for _, p := range d.Ports[1:] {
		idle = append([]string{"idle_" + p.CoreStream}, idle...)
	}
	if d.Memory != nil && d.Memory.Cache != nil {
		idle = append(idle, cacheIdle)
	}
	one := func(name string) netlist.Item { return netlist.Wire{Name: name} }
	items := []netlist.Item{netlist.Blank{}, netlist.Comment(fmt.Sprintf(
		"sequences of up to %d tokens: TLAST ends one, and the core begins anew", d.Tokens)),
		one("core_rst"), one("token"), one("closing"), one(in.CoreStream + "_valid"), one(in.CoreStream + "_ready")}
	all := netlist.Concat{}
	for _, name := range idle {
		items, all = append(items, one(name)), append(all, netlist.Ref(name))
	}
	unit := &netlist.Instance{Module: "stream_session", Name: "session", Ports: netlist.Clocked("ap_clk", "rst"),
		Params: []netlist.Param{{Name: "TOKENS", Value: fmt.Sprint(d.Tokens)},
			{Name: "BEATS", Value: fmt.Sprint(in.Beats / d.Tokens)}, {Name: "OUTS", Value: fmt.Sprint(len(idle))}}}
	from, to := behindReset(in), wiresOf(in.CoreStream)
	unit.Ports = append(unit.Ports, netlist.Connection{Port: "in_last", To: netlist.Ref(in.Stream + "_tlast")},
		netlist.Connection{Port: "in_valid", To: from.valid}, netlist.Connection{Port: "in_ready", To: from.ready},
		netlist.Connection{Port: "core_valid", To: to.valid}, netlist.Connection{Port: "core_ready", To: to.ready})
	for _, name := range strings.Fields("core_rst token closing position error") {
		unit.Ports = append(unit.Ports, netlist.Connection{Port: name, To: netlist.Ref(name)})
	}
	unit.Ports = append(unit.Ports, netlist.Connection{Port: "idle", To: all})
	return append(items, unit)
}

// answer is the unit at an output of a decoder.
func answer(p emit.Port, tokens int) *netlist.Instance {
	u := &netlist.Instance{Module: "stream_answer", Name: "answer_" + p.CoreStream,
		Ports: netlist.Clocked("ap_clk", "core_rst"),
		Params: []netlist.Param{{Name: "WIDTH", Value: fmt.Sprint(p.Width)},
			{Name: "BEATS", Value: fmt.Sprint(p.Beats / tokens)}, {Name: "TOKENS", Value: fmt.Sprint(tokens)}}}
	u.Ports = append(u.Ports, netlist.Connection{Port: "token", To: netlist.Ref("token")},
		netlist.Connection{Port: "closing", To: netlist.Ref("closing")},
		netlist.Connection{Port: "idle", To: netlist.Ref("idle_" + p.CoreStream)})
	return u
}
