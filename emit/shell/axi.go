// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"strings"

	"lathe/rtl"
	"lathe/rtl/netlist"
)

// liteSignals are those of an AXI4-Lite port, seen from the slave.
var liteSignals = []netlist.Port{{Name: "awaddr", Width: 8}, {Name: "awvalid"}, {Name: "awready", Output: true},
	{Name: "wdata", Width: 32}, {Name: "wstrb", Width: 4}, {Name: "wvalid"}, {Name: "wready", Output: true},
	{Name: "bresp", Output: true, Width: 2}, {Name: "bvalid", Output: true}, {Name: "bready"},
	{Name: "araddr", Width: 8}, {Name: "arvalid"}, {Name: "arready", Output: true},
	{Name: "rdata", Output: true, Width: 32}, {Name: "rresp", Output: true, Width: 2}, {Name: "rvalid", Output: true},
	{Name: "rready"}}

// Bounds of TDATA between the shell and DMA engines, in bytes.
const (
	leastPacket = 4
	mostPacket  = 64
)

// Packet is the bytes of a beat of a stream between the AXI shell and a DMA engine: a power of two, where possible
// with room for a beat of the design.
func (s Stream) Packet() int {
	n := leastPacket
	for n < s.Bytes && n < mostPacket {
		n *= 2
	}
	return n
}

// AXI is the shell for systems with a processor: streams of packets for DMA engines, one for each frame, and registers
// behind AXI4-Lite, which start, stop, reset and watch the design. All other ports are those of the design.
func AXI(c *Core, o Options) (files []rtl.File, top string, err error) {
	if err := c.servedOutside(); err != nil {
		return nil, "", err
	}
	p := c.printer()
	m := c.axi(o)
	if err := p.add(m); err != nil {
		return nil, "", err
	}
	library, err := c.library("axi_control", "axi_gate", "axi_pack", "axi_unpack")
	return append(library, p.files...), m.Name, err
}

func ref(name string) netlist.Expr { return netlist.Ref(name) }

// axi is the module of AXI.
func (c *Core) axi(o Options) *netlist.Module {
	m := &netlist.Module{Name: c.Top + "_axi", Items: []netlist.Item{netlist.Wire{Name: "ctl_run"},
		netlist.Wire{Name: "ctl_core_rst"}}}
	m.Comment = o.comment(m.Name, c.Name+" with AXI4-Stream ports and registers behind AXI4-Lite")
	core := &netlist.Instance{Module: c.Top, Name: "core"}
	control := &netlist.Instance{Module: "axi_control", Name: "control", Params: []netlist.Param{
		{Name: "ID", Value: fmt.Sprintf("64'h%016x", c.ID)}, number("IN_BYTES", c.Bytes(true)),
		number("OUT_BYTES", c.Bytes(false)), number("INS", c.count(true)), number("OUTS", c.count(false))},
		Ports: []netlist.Connection{bind("clk", ref("ap_clk")), bind("rst", netlist.Not{X: ref("ap_rst_n")})}}
	inner := map[string]string{}
	for _, s := range c.Streams {
		for _, signal := range []string{"_tdata", "_tvalid", "_tready", "_tlast"} {
			inner[s.Prefix+signal] = "ctl_" + s.Prefix + signal
		}
		if m.Items = append(m.Items, s.converted()...); s.Input && len(inner) > 4 { // frames of the first input are counted
			m.Items = append(m.Items, unused(ref("ctl_"+s.Prefix+"_frame"))...)
		}
	}
	wrong := netlist.Concat{netlist.Const{Width: 1, Value: 1}} // all of it is high while nothing is
	for _, p := range c.ports {
		if to := inner[p.Name]; to != "" {
			core.Ports = append(core.Ports, bind(p.Name, ref(to)))
			continue
		}
		m.Ports = append(m.Ports, netlist.Port{Name: p.Name, Output: p.Output, Width: p.Width,
			Attributes: c.attributes(p.Name)})
		switch {
		case p.Name == "ap_rst_n":
			core.Ports = append(core.Ports, bind(p.Name, netlist.Not{X: ref("ctl_core_rst")}))
			continue
		case p.Output && p.Width == 0 && strings.HasSuffix(p.Name, "error"):
			wrong = append(wrong, netlist.Not{X: ref(p.Name)})
		}
		core.Ports = append(core.Ports, bind(p.Name, ref(p.Name)))
	}
	for _, s := range c.Streams {
		m.Ports = append(m.Ports, s.ports(c)...)
	}
	for _, s := range liteSignals {
		port := s
		port.Name = "s_axi_" + s.Name
		port.Attributes = []string{fmt.Sprintf(`X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi %s"`,
			strings.ToUpper(s.Name))}
		m.Ports = append(m.Ports, port)
		control.Ports = append(control.Ports, bind(s.Name, ref(port.Name)))
	}
	m.Ports = append(m.Ports, netlist.Port{Name: "irq", Output: true, Attributes: []string{
		`X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq INTERRUPT"`,
		`X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH"`}})
	control.Ports = append(append(control.Ports, c.watched()...), bind("core_error", netlist.Not{X: ref("ctl_sound")}),
		bind("run", ref("ctl_run")), bind("core_rst", ref("ctl_core_rst")), bind("irq", ref("irq")))
	m.Items = append(m.Items, core, netlist.Wire{Name: "ctl_sound", Value: netlist.All{X: wrong}},
		netlist.Wire{Name: "ctl_left", Value: netlist.All{X: c.left()}}, control)
	return m
}

// count is how many inputs or outputs there are.
func (c *Core) count(input bool) (n int) {
	for _, s := range c.Streams {
		if s.Input == input {
			n++
		}
	}
	return n
}

// ports are those of a stream between the shell and a DMA engine.
func (s Stream) ports(c *Core) []netlist.Port {
	list := []netlist.Port{{Name: "_tdata", Width: 8 * s.Packet(), Output: !s.Input},
		{Name: "_tkeep", Width: s.Packet(), Output: !s.Input}, {Name: "_tvalid", Output: !s.Input},
		{Name: "_tready", Output: s.Input}, {Name: "_tlast", Output: !s.Input}}
	for i := range list {
		list[i].Name = s.Prefix + list[i].Name
		list[i].Attributes = c.attributes(list[i].Name)
	}
	return list
}

// converted is what stands between the packets of a stream and the core: for an input, a gate as well, which lets
// frames in.
func (s Stream) converted() []netlist.Item {
	wire := func(name string) netlist.Expr { return ref("ctl_" + s.Prefix + "_" + name) }
	items := []netlist.Item{netlist.Blank{}}
	declare := func(names ...string) {
		for _, name := range names {
			items = append(items, netlist.Wire{Name: "ctl_" + s.Prefix + "_" + name})
		}
	}
	items = append(items, netlist.Wire{Name: "ctl_" + s.Prefix + "_tdata", Width: 8 * s.Bytes})
	declare("tvalid", "tready", "tlast")
	outside := func(u *netlist.Instance, side string) {
		for _, name := range []string{"data", "keep", "valid", "ready", "last"} {
			u.Ports = append(u.Ports, bind(side+"_"+name, ref(s.Prefix+"_t"+name)))
		}
	}
	if !s.Input {
		pack := &netlist.Instance{Module: "axi_pack", Name: "pack_" + s.Prefix,
			Params: []netlist.Param{number("IN_BYTES", s.Bytes), number("OUT_BYTES", s.Packet())},
			Ports: append(netlist.Clocked("ap_clk", "ctl_core_rst"), bind("in_data", wire("tdata")),
				bind("in_valid", wire("tvalid")), bind("in_ready", wire("tready")), bind("in_last", wire("tlast")))}
		outside(pack, "out")
		return append(items, pack)
	}
	declare("valid", "ready", "wrong", "frame", "misplaced", "inside")
	unpack := &netlist.Instance{Module: "axi_unpack", Name: "unpack_" + s.Prefix, Params: []netlist.Param{
		number("IN_BYTES", s.Packet()), number("OUT_BYTES", s.Bytes), number("BEATS", s.Beats)},
		Ports: append(netlist.Clocked("ap_clk", "ctl_core_rst"), bind("out_data", wire("tdata")),
			bind("out_valid", wire("valid")), bind("out_ready", wire("ready")), bind("out_last", wire("tlast")),
			bind("wrong", wire("wrong")))}
	outside(unpack, "in")
	gate := &netlist.Instance{Module: "axi_gate", Name: "gate_" + s.Prefix,
		Params: []netlist.Param{number("BEATS", s.Beats)},
		Ports: append(netlist.Clocked("ap_clk", "ctl_core_rst"), bind("run", ref("ctl_run")),
			bind("in_valid", wire("valid")), bind("in_ready", wire("ready")), bind("in_last", wire("tlast")),
			bind("out_valid", wire("tvalid")), bind("out_ready", wire("tready")), bind("frame", wire("frame")),
			bind("misplaced", wire("misplaced")), bind("inside_frame", wire("inside")))}
	// the frames that unpack makes end where they should
	return append(append(items, unpack, gate), unused(wire("misplaced"))...)
}

// watched are the connections by which the registers see the streams.
func (c *Core) watched() (list []netlist.Connection) {
	vector := func(input bool, before, behind string) (bits netlist.Concat) {
		for _, s := range c.Streams {
			if s.Input == input {
				bits = append(netlist.Concat{ref(before + s.Prefix + behind)}, bits...) // the first in the low bit
			}
		}
		return bits
	}
	first := ""
	for _, s := range c.Streams {
		if s.Input && first == "" {
			first = s.Prefix
		}
	}
	return []netlist.Connection{bind("in_valid", vector(true, "", "_tvalid")),
		bind("in_ready", vector(true, "", "_tready")),
		bind("in_inside", vector(true, "ctl_", "_inside")), bind("in_misplaced", vector(true, "ctl_", "_wrong")),
		bind("in_frame", ref("ctl_"+first+"_frame")), bind("out_valid", vector(false, "", "_tvalid")),
		bind("out_ready", vector(false, "", "_tready")), bind("out_frame", ref("ctl_left"))}
}

// left is high while the last beat of a frame leaves at the first output.
func (c *Core) left() netlist.Concat {
	for _, s := range c.Streams {
		if !s.Input {
			return netlist.Concat{ref("ctl_" + s.Prefix + "_tvalid"), ref("ctl_" + s.Prefix + "_tready"),
				ref("ctl_" + s.Prefix + "_tlast")}
		}
	}
	return nil
}

// attributes name the interface of a port for Vivado, as the wrapper of the design does.
func (c *Core) attributes(port string) []string {
	info := func(what string) string { return `X_INTERFACE_INFO = "xilinx.com:` + what + `"` }
	if at := strings.LastIndex(port, "_"); at > 0 && strings.Contains(port, "axis") {
		return []string{info("interface:axis:1.0 " + port[:at] + " " + strings.ToUpper(port[at+1:]))}
	}
	switch port {
	case "ap_clk":
		streams := []string{"s_axi"}
		for _, s := range c.Streams {
			streams = append(streams, s.Prefix)
		}
		return []string{info("signal:clock:1.0 ap_clk CLK"), `X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF ` +
			strings.Join(streams, ":") + `, ASSOCIATED_RESET ap_rst_n"`}
	case "ap_rst_n":
		return []string{info("signal:reset:1.0 ap_rst_n RST"), `X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW"`}
	}
	return nil
}

// Folder are the files of the shell for the folder of a design: below axi/ the modules, the register map as JSON, in
// SystemRDL and as a header for C, and the list of all sources from there; and component.xml.
func Folder(c *Core, o Options) ([]rtl.File, error) {
	files, top, err := AXI(c, o)
	if err != nil {
		return nil, err
	}
	text, err := Map(c)
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	for _, f := range c.Files {
		if !strings.HasSuffix(f.Name, ".mem") {
			fmt.Fprintf(&list, "%s\n", f.Name)
		}
	}
	var all []rtl.File
	for _, f := range files {
		fmt.Fprintf(&list, "axi/%s\n", f.Name)
		all = append(all, rtl.File{Name: "axi/" + f.Name, Data: f.Data})
	}
	return append(all, component(c, files, top), rtl.File{Name: "axi/registers.json", Data: text},
		rtl.File{Name: "axi/registers.rdl", Data: RDL(c)}, rtl.File{Name: "axi/" + top + ".h", Data: Header(c)},
		rtl.File{Name: "axi/sources.f", Data: []byte(list.String())}), nil
}
