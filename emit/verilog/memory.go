// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/ir/unit"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// weightsFile has the weights that lie in a memory outside.
const weightsFile = "weights.bin"

// memory places the weights that lie outside one behind the other, in the order of the nodes, and says so in units.
func (b *builder) memory(units []*emit.Unit) (rtl.Regions, error) {
	var regions rtl.Regions
	m := &emit.Memory{File: weightsFile}
	for i, inst := range b.order {
		w := inst.unit.Weights
		if w == nil || w.Checked() {
			continue
		}
		image, err := w.Image.Made()
		if err != nil {
			return nil, inst.node.Diag(diag.UnitFault, err)
		}
		inst.region = len(regions)
		traffic := unit.Traffic(inst.node, inst.unit, len(units[i].Turns))
		units[i].Weights = &emit.Region{Way: w.Way(), Offset: m.Bytes, Sets: w.Sets, Beats: w.Beats(), Width: w.Width,
			Words: w.Depth, PerBeat: w.PerBeat(), Checksum: fmt.Sprintf("%08x", image.Sum()), Traffic: traffic,
			Needs: w.Demand() * float64(w.Port/8)}
		units[i].Cycles = max(units[i].Cycles, traffic)
		m.Demand += w.Demand()
		regions = append(regions, rtl.Region{Outside: w, Words: image})
		m.Bits, m.Bytes, m.Traffic = w.Port, m.Bytes+w.Bytes(), m.Traffic+traffic
		if w.Held() {
			m.Load += w.Sets * w.Beats()
		}
	}
	if len(regions) == 0 {
		return nil, nil
	}
	h := sha256.New()
	err := regions.File(weightsFile).Write(h)
	if err != nil {
		return nil, err
	}
	m.SHA256, b.design.Memory = hex.EncodeToString(h.Sum(nil)), m
	return regions, nil
}

// unitsFor holds no plans yet, for a part; UltraScale+ where that is unknown or none.
func unitsFor(part string) *unit.Cache {
	if d, err := target.Find(part); err == nil {
		return &unit.Cache{Part: d}
	}
	return &unit.Cache{}
}

// portCost fills in what the port takes.
func (b *builder) portCost() error {
	m := b.design.Memory
	if m == nil {
		return nil
	}
	f, err := b.readPort().Facts(b.units.Part.Technology())
	if m.Cost = f.Cost; err != nil || m.Cache == nil {
		return err
	}
	f, err = rtl.WritePort(b.cached, m.Bits, b.outside()).Facts(b.units.Part.Technology())
	m.Cost = m.Cost.Add(f.Cost)
	return err
}

// readPort is axi_read for weights and caches.
func (b *builder) readPort() *rtl.Unit {
	return rtl.ReadPort(b.regions, b.cached, b.design.Memory.Bits, b.outside())
}

// outside is the bytes that addresses must reach.
func (b *builder) outside() int {
	m := b.design.Memory
	if m.Cache == nil {
		return m.Bytes
	}
	return max(m.Bytes, m.Cache.Bytes)
}

// portOf is a signal as a port of that name.
func portOf(s emit.Signal, name string) netlist.Port {
	p := netlist.Port{Name: name, Output: s.Output}
	if s.Width > 1 {
		p.Width = s.Width
	}
	return p
}

// axiPorts are the ports that the core has for the memory outside.
func (b *builder) axiPorts() (ports []netlist.Port) {
	m := b.design.Memory
	if m == nil {
		return b.sealPorts()
	}
	for _, s := range m.Signals() {
		if !s.Fixed {
			ports = append(ports, portOf(s, emit.AXI+"_"+s.Name))
		}
	}
	if b.design.Tokens > 0 {
		ports = append(ports, netlist.Port{Name: portReset})
	}
	if m.Cache != nil {
		ports = append(ports, netlist.Port{Name: cacheIdle, Output: true})
	}
	for _, base := range m.Bases() {
		ports = append(ports, netlist.Port{Name: base, Width: 64})
	}
	return append(ports, netlist.Port{Name: emit.AXIFailed, Output: true})
}

// The wires between axi_read and those that ask it.
const (
	asksValid, asksAt, asksLen, asksReady = "ask__valid", "ask__at", "ask__len", "ask__ready"
	beatData, beatValid                   = "beat__data", "beat__valid"
)

// reader is the one instance that all passes that comes from outside, with its wires, and that for the way there.
func (b *builder) reader() []netlist.Item {
	m := b.design.Memory
	if m == nil {
		return nil
	}
	n, at := b.regions+b.cached, b.atWidth()
	port := b.readPort()
	in := &netlist.Instance{Module: port.Module, Name: readerName, Params: port.Params, Ports: b.portClock()}
	items := []netlist.Item{netlist.Blank{}, netlist.Comment("what comes from outside")}
	for _, w := range []struct {
		name, port string
		width      int
	}{{asksValid, "ask_valid", n}, {asksAt, "ask_at", n * at}, {asksLen, "ask_len", 8 * n}, {asksReady, "ask_ready", n},
		{beatData, "beat_data", m.Bits}, {beatValid, "beat_valid", n}} {
		items = append(items, netlist.Wire{Name: w.name, Width: w.width})
		in.Ports = append(in.Ports, netlist.Connection{Port: w.port, To: netlist.Ref(w.name)})
	}
	bases, failed := m.Bases(), emit.AXIFailed
	if m.Cache != nil {
		failed = readFailed
		items = append(items, netlist.Wire{Name: readFailed}, netlist.Wire{Name: writeFailed})
	}
	in.Ports = append(in.Ports, netlist.Connection{Port: "base", To: netlist.Ref(bases[0])},
		netlist.Connection{Port: "late", To: netlist.Ref(bases[len(bases)-1])},
		netlist.Connection{Port: "error", To: netlist.Ref(failed)})
	in.Ports = append(in.Ports, b.axiSignals(false)...)
	return append(append(items, in), b.writer()...)
}

// readerName is the instance of axi_read.
const readerName = "axi_port"

// atWidth is the bits of an address in beats.
func (b *builder) atWidth() int { return rtl.AddressWidth(b.design.Memory.Bits, b.outside()) }

// weights are the wires between a unit and the memory of its weights, the connections of the unit, and that memory.
func (b *builder) weights(inst *instance, u *emit.Unit) ([]netlist.Item, []netlist.Connection) {
	w := inst.unit.Weights
	if w == nil {
		return nil, nil
	}
	prefix := "w__" + inst.name + "_"
	ref := func(signal string) netlist.Expr { return netlist.Ref(prefix + signal) }
	in := &netlist.Instance{Module: w.Module, Name: inst.memory, Ports: b.portClock()}
	in.Params = w.Params()
	if w.Checked() {
		in.Params = append(in.Params, inst.sealed...)
		in.Ports = append(in.Ports, netlist.Connection{Port: "addr", To: ref("addr")},
			netlist.Connection{Port: "error", To: ref(sealBroken)})
	} else {
		in.Params = append(in.Params, rtl.Param{Name: "AT", Value: fmt.Sprint(u.Weights.Offset * 8 / w.Port)},
			rtl.Param{Name: "AT_W", Value: fmt.Sprint(b.atWidth())},
			rtl.Param{Name: "SUM", Value: "32'h" + u.Weights.Checksum})
		in.Ports = append(in.Ports, b.asks(inst.region)...)
	}
	in.Ports = append(in.Ports, []netlist.Connection{
		{Port: "en", To: ref("en")}, {Port: "step", To: ref("step")}, {Port: "ready", To: ref("ready")},
		{Port: "data", To: ref("data")}}...)
	items := []netlist.Item{netlist.Wire{Name: prefix + "en"}, netlist.Wire{Name: prefix + "step"},
		netlist.Wire{Name: prefix + "ready"}, netlist.Wire{Name: prefix + "addr", Width: max(rtl.Clog2(w.Depth), 1)},
		netlist.Wire{Name: prefix + "data", Width: w.Width}}
	if w.Checked() {
		items = append(items, netlist.Wire{Name: prefix + sealBroken})
	} else {
		items = append(items, unread("unused__"+prefix+"addr", ref("addr"))...)
	}
	var ports []netlist.Connection
	for _, s := range []string{"en", "step", "addr", "ready", "data"} {
		ports = append(ports, netlist.Connection{Port: "w_" + s, To: ref(s)})
	}
	return append(items, in), ports
}

// axiWrapper gives the wrapper its ports and what never changes on them.
func (b *builder) axiWrapper(m *netlist.Module) {
	if b.design.Memory == nil {
		if b.design.ChecksWeights() {
			m.Ports = append(m.Ports, netlist.Port{Name: emit.AXIFailed, Output: true})
		}
		return
	}
	m.Items = append(m.Items, netlist.Blank{})
	for _, s := range b.design.Memory.Signals() {
		p := portOf(s, emit.AXI+"_"+s.Name)
		p.Attributes = []string{fmt.Sprintf(`X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 %s %s"`, emit.AXI,
			strings.ToUpper(s.Name))}
		m.Ports = append(m.Ports, p)
		if s.Fixed {
			m.Items = append(m.Items, netlist.Assign{To: netlist.Ref(p.Name),
				From: netlist.Const{Width: s.Width, Value: s.Value}})
		}
	}
	for _, base := range b.design.Memory.Bases() {
		m.Ports = append(m.Ports, netlist.Port{Name: base, Width: 64})
	}
	m.Ports = append(m.Ports, netlist.Port{Name: emit.AXIFailed, Output: true})
}
