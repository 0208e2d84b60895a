// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"math"
	"strings"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// Board is the shell of a board: the PLL and pins around Serial.
func Board(c *Core, o Options) (files []rtl.File, top string, err error) {
	p := c.printer()
	inner, err := c.serial(p, o)
	if err != nil {
		return nil, "", err
	}
	top = c.Top + "_" + strings.NewReplacer("-", "_").Replace(o.Board.Name)
	if err := p.add(o.pins(p, top, inner)); err != nil {
		return nil, "", err
	}
	library, err := c.library("board_link", "board_feed", "board_drain", "board_start")
	return append(append(library, o.cell(p)), p.files...), top, err
}

// cell declares that of the PLL, which the tools for the device know, for those that read the modules before.
func (o Options) cell(p *printer) rtl.File {
	name := o.Board.PLL.Cell
	var text strings.Builder
	fmt.Fprintf(&text, "// SPDX-License-Identifier: Apache-2.0\n// %s: the PLL of the device, as far as it is used.\n"+
		"// verilator lint_off UNUSED\n// verilator lint_off UNDRIVEN\n(* blackbox *)\nmodule %s #(\n", name, name)
	for i, param := range o.Board.PLL.Params(o.Setting) {
		fmt.Fprintf(&text, "%s    parameter %s = %s", strings.Repeat(",\n", min(i, 1)), param[0], param[1])
	}
	text.WriteString("\n) (\n")
	for i, port := range p.known[name] {
		direction := "input "
		if port.Output {
			direction = "output"
		}
		fmt.Fprintf(&text, "%s    %s %s", strings.Repeat(",\n", min(i, 1)), direction, port.Name)
	}
	text.WriteString("\n);\nendmodule\n// verilator lint_on UNDRIVEN\n// verilator lint_on UNUSED\n")
	return rtl.File{Name: name + ".v", Data: []byte(text.String())}
}

// Serial is the part of the shell behind the pins: one clock, and a serial line. Its ports are clk, rst, rx, tx, led
// and busy, which is high while anything is on its way.
func Serial(c *Core, o Options) (files []rtl.File, top string, err error) {
	p := c.printer()
	if top, err = c.serial(p, o); err != nil {
		return nil, "", err
	}
	library, err := c.library("board_link", "board_feed", "board_drain")
	return append(library, p.files...), top, err
}

// Step is STEP of the modules of the line, for a rate in bits a second and a clock in MHz.
func Step(baud int, mhz float64) int {
	return int(math.Round(math.Ldexp(float64(baud)/(mhz*1e6), StepBits)))
}

// serial prints the module of Serial.
func (c *Core) serial(p *printer, o Options) (string, error) {
	if err := c.OnBoard(); err != nil {
		return "", err
	}
	m := &netlist.Module{Name: c.Top + "_serial", Ports: []netlist.Port{{Name: "clk"}, {Name: "rst"}, {Name: "rx"},
		{Name: "tx", Output: true}, {Name: "led", Output: true, Width: 8}, {Name: "busy", Output: true}}}
	m.Comment = o.comment(m.Name, "the design behind a serial line")
	for _, w := range []netlist.Wire{{Name: "we"}, {Name: "wbank"}, {Name: "waddr", Width: 24}, {Name: "wdata", Width: 8},
		{Name: "start"}, {Name: "bank"}, {Name: "raddr", Width: 24}, {Name: "rdata_0", Width: 8, Value: netlist.Zeros(8)},
		{Name: "core_rst"}, {Name: "core_rst_n"}} {
		m.Items = append(m.Items, w)
	}
	core := &netlist.Instance{Module: c.Top, Name: "core"}
	var done, calm netlist.Concat
	outputs, streams := 0, map[string]bool{}
	for _, s := range c.Streams {
		unit := c.end(s, outputs)
		if !s.Input {
			outputs++
			m.Items = append(m.Items, netlist.Wire{Name: fmt.Sprintf("rdata_%d", outputs), Width: 8},
				netlist.Wire{Name: s.Prefix + "_fault"})
			calm = append(calm, netlist.Not{X: netlist.Ref(s.Prefix + "_fault")})
		}
		done = append(done, netlist.Ref(s.Prefix+"_done"))
		m.Items = append(m.Items, netlist.Wire{Name: s.Prefix + "_done"},
			netlist.Wire{Name: s.Prefix + "_tdata", Width: 8 * s.Bytes}, netlist.Wire{Name: s.Prefix + "_tvalid"},
			netlist.Wire{Name: s.Prefix + "_tready"}, netlist.Wire{Name: s.Prefix + "_tlast"}, unit)
		for _, signal := range []string{"_tdata", "_tvalid", "_tready", "_tlast"} {
			streams[s.Prefix+signal] = true
			core.Ports = append(core.Ports, bind(s.Prefix+signal, netlist.Ref(s.Prefix+signal)))
		}
	}
	sound, err := c.others(m, core, streams)
	if err != nil {
		return "", err
	}
	m.Items = append(m.Items, core, netlist.Wire{Name: "calm", Value: netlist.All{X: calm}},
		netlist.Wire{Name: "sound", Value: netlist.All{X: sound}},
		c.link(o, netlist.All{X: done}, fmt.Sprintf("rdata_%d", outputs)))
	return m.Name, p.add(m)
}

// end is what stands at a stream of the core; the outputs so far are those in front of it.
func (c *Core) end(s Stream, outputs int) *netlist.Instance {
	unit := &netlist.Instance{Module: "board_feed", Name: "feed_" + s.Prefix, Ports: netlist.Clocked("clk", "core_rst"),
		Params: []netlist.Param{number("BYTES", s.Bytes), number("BEATS", s.Beats), number("OFFSET", s.Offset)}}
	side := "out"
	if s.Input {
		unit.Ports = append(unit.Ports, bind("we", ref("we")), bind("wbank", ref("wbank")), bind("waddr", ref("waddr")),
			bind("wdata", ref("wdata")), bind("bank", ref("bank")))
	} else {
		unit.Module, unit.Name, side = "board_drain", "drain_"+s.Prefix, "in"
		unit.Ports = append(unit.Ports, bind("fault", ref(s.Prefix+"_fault")), bind("raddr", ref("raddr")),
			bind("rest", ref(fmt.Sprintf("rdata_%d", outputs))), bind("rdata", ref(fmt.Sprintf("rdata_%d", outputs+1))))
	}
	unit.Ports = append(unit.Ports, bind("start", ref("start")), bind("done", ref(s.Prefix+"_done")),
		bind(side+"_last", ref(s.Prefix+"_tlast")))
	unit.Ports = append(unit.Ports, netlist.Stream(side, ref(s.Prefix+"_tdata"), ref(s.Prefix+"_tvalid"),
		ref(s.Prefix+"_tready"))...)
	return unit
}

// others connects the ports of the core that are no streams, and returns what is high while nothing is wrong in it.
func (c *Core) others(m *netlist.Module, core *netlist.Instance, streams map[string]bool) (netlist.Concat, error) {
	sound := netlist.Concat{netlist.Const{Width: 1, Value: 1}}
	for _, p := range c.ports {
		switch {
		case streams[p.Name]:
		case p.Name == "ap_clk" || p.Name == emit.CoreClock:
			core.Ports = append(core.Ports, bind(p.Name, netlist.Ref("clk")))
		case p.Name == "ap_rst_n":
			core.Ports = append(core.Ports, bind(p.Name, netlist.Ref("core_rst_n")))
		case p.Output:
			wire := "core_" + p.Name
			m.Items = append(m.Items, netlist.Wire{Name: wire, Width: p.Width})
			core.Ports = append(core.Ports, bind(p.Name, netlist.Ref(wire)))
			if p.Width == 0 {
				sound = append(sound, netlist.Not{X: netlist.Ref(wire)})
				continue
			}
			m.Items = append(m.Items, unused(netlist.Ref(wire))...)
		default:
			return nil, diag.New(diag.BoardCore, c.Name, "the design has an input %s, which nothing on a board drives",
				p.Name)
		}
	}
	return sound, nil
}

// unused reads what nothing else does, for linters.
func unused(what ...netlist.Expr) []netlist.Item {
	name := "unused"
	if w, ok := what[0].(netlist.Ref); ok {
		name += "_" + string(w)
	}
	return []netlist.Item{netlist.Comment("verilator lint_off UNUSED"),
		netlist.Wire{Name: name, Value: netlist.All{X: append(netlist.Concat{netlist.Const{Width: 1}}, what...)}},
		netlist.Comment("verilator lint_on UNUSED")}
}

// link is the serial line.
func (c *Core) link(o Options, finished netlist.Expr, rdata string) *netlist.Instance {
	l := &netlist.Instance{Module: "board_link", Name: "link", Ports: netlist.Clocked("clk", "rst"),
		Params: []netlist.Param{number("STEP", Step(o.Board.Baud, o.Setting.MHz)),
			{Name: "ID", Value: fmt.Sprintf("64'h%016x", c.ID)}, number("IN_BYTES", c.Bytes(true)),
			number("OUT_BYTES", c.Bytes(false)), number("KHZ", int(math.Round(o.Setting.MHz*1000))),
			number("TIMEOUT", c.Timeout)}}
	for _, name := range []string{"rx", "tx", "led", "busy", "we", "wbank", "waddr", "wdata", "start", "bank", "raddr",
		"core_rst", "core_rst_n"} {
		l.Ports = append(l.Ports, bind(name, netlist.Ref(name)))
	}
	l.Ports = append(l.Ports, bind("rdata", netlist.Ref(rdata)), bind("finished", finished),
		bind("fault", netlist.Not{X: netlist.Ref("calm")}), bind("core_error", netlist.Not{X: netlist.Ref("sound")}))
	return l
}

// pins is the top: the PLL, the reset, and the pins of the board.
func (o Options) pins(p *printer, top, inner string) *netlist.Module {
	b := o.Board
	m := &netlist.Module{Name: top, Comment: o.comment(top, b.Title+", "+fmt.Sprintf("%g MHz", o.Setting.MHz))}
	for _, s := range b.Signals() {
		m.Ports = append(m.Ports, netlist.Port{Name: s.Port, Output: s.Output})
	}
	add := func(items ...netlist.Item) { m.Items = append(m.Items, items...) }
	add(netlist.Wire{Name: "fast"}, netlist.Wire{Name: "locked"}, netlist.Wire{Name: "rst"},
		netlist.Wire{Name: "light", Width: 8}, netlist.Wire{Name: "busy"})
	add(o.loop(p)...)
	ready := netlist.Expr(ref("locked"))
	if b.Pins.Button != "" {
		released := netlist.Expr(netlist.Not{X: ref(target.ButtonPort)})
		if b.Pins.ButtonLow {
			released = ref(target.ButtonPort)
		}
		ready = netlist.All{X: netlist.Concat{ref("locked"), released}}
	}
	start := &netlist.Instance{Module: "board_start", Name: "start", Ports: []netlist.Connection{bind("clk", ref("fast")),
		bind("ready", ready), bind("rst", ref("rst"))}}
	serial := &netlist.Instance{Module: inner, Name: "serial", Ports: netlist.Clocked("fast", "rst")}
	serial.Ports = append(serial.Ports, bind("rx", ref(target.RxPort)), bind("tx", ref(target.TxPort)),
		bind("led", ref("light")), bind("busy", ref("busy")))
	add(start, serial)
	rest := []netlist.Expr{ref("busy")}
	if lights := len(b.Pins.LEDs); lights < 8 {
		rest = append(rest, netlist.Slice{Of: "light", High: 7, Low: lights})
	}
	add(unused(rest...)...)
	for i := range b.Pins.LEDs {
		from := netlist.Expr(netlist.Bit{Of: "light", At: i})
		if b.Pins.LEDsLow {
			from = netlist.Not{X: from}
		}
		add(netlist.Assign{To: ref(fmt.Sprintf("%s%d", target.LEDPort, i)), From: from})
	}
	for i := range b.Pins.High {
		add(netlist.Assign{To: ref(fmt.Sprintf("%s%d", target.HighPort, i)), From: netlist.Const{Width: 1, Value: 1}})
	}
	return m
}

// loop is the PLL, from the clock of the board to fast.
func (o Options) loop(p *printer) (items []netlist.Item) {
	pll := o.Board.PLL
	if pll.Attributes != nil {
		items = append(items, netlist.Text{Lines: "  (* " + pll.Attributes(o.Setting) + " *)\n"})
	}
	cell := &netlist.Instance{Module: pll.Cell, Name: "pll",
		Ports: []netlist.Connection{bind(pll.In, ref(target.ClockPort)), bind(pll.Out, ref("fast")),
			bind(pll.Lock, ref("locked"))}}
	p.known[pll.Cell] = []netlist.Port{{Name: pll.In}, {Name: pll.Out, Output: true}, {Name: pll.Lock, Output: true}}
	tie := func(name string, to netlist.Expr) {
		cell.Ports = append(cell.Ports, bind(name, to))
		p.known[pll.Cell] = append(p.known[pll.Cell], netlist.Port{Name: name})
	}
	if pll.Feedback != "" {
		tie(pll.Feedback, ref("fast"))
	}
	for _, name := range pll.Low {
		tie(name, netlist.Const{Width: 1})
	}
	for _, name := range pll.High {
		tie(name, netlist.Const{Width: 1, Value: 1})
	}
	for _, param := range pll.Params(o.Setting) {
		cell.Params = append(cell.Params, netlist.Param{Name: param[0], Value: param[1]})
	}
	return append(items, cell)
}
