// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/emit"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// caches places the keys and values that lie outside one behind the other, in the order of the nodes, and says so in
// units.
func (b *builder) caches(units []*emit.Unit) {
	for i, inst := range b.order {
		c := inst.unit.Cache
		if c == nil {
			continue
		}
		if b.design.Memory == nil {
			b.design.Memory = &emit.Memory{Bits: c.Port}
		}
		m := b.design.Memory
		if m.Cache == nil {
			m.Cache = &emit.Cache{}
		}
		beat := c.Port / 8
		units[i].Cache = &emit.CacheRegion{Offset: m.Cache.Bytes, Bytes: c.Bytes(), Stride: c.Stride() * beat,
			Slot: c.Slot(), Width: c.Width, Beats: c.Beats, Tokens: c.Lanes, PerBeat: c.PerBeat(),
			Reads: c.Reads(c.Tokens) * beat}
		inst.region = b.cached
		m.Cache.Bytes += c.Bytes()
		m.Cache.Word = max(m.Cache.Word, c.WordBeats())
		m.Cache.Reads += c.Reads(c.Tokens) * beat
		m.Cache.Writes += c.Groups * c.Beats * c.Slot()
		b.cached++
	}
}

// The wires between axi_write and those that put something there, those between stores and units, and what stores say.
const (
	putsValid, putsAt, putsData, putsStrb = "put__valid", "put__at", "put__data", "put__strb"
	putsReady, putsDone                   = "put__ready", "put__done"
	readFailed, writeFailed, portFine     = "read__error", "write__error", "port__fine"
	cachesIdle, cacheIdle                 = "cache__idle", "cache_idle"
)

// writerName is the instance of axi_write.
const writerName = "axi_writer"

// writer is the one instance that all that is written outside passes, with its wires.
func (b *builder) writer() []netlist.Item {
	m, n := b.design.Memory, b.cached
	if n == 0 {
		return nil
	}
	port := rtl.WritePort(n, m.Bits, b.outside())
	in := &netlist.Instance{Module: port.Module, Name: writerName, Params: port.Params, Ports: b.portClock()}
	items := []netlist.Item{netlist.Blank{}, netlist.Comment("keys and values go outside")}
	for _, w := range []struct {
		name, port string
		width      int
	}{{putsValid, "put_valid", n}, {putsAt, "put_at", n * b.atWidth()}, {putsData, "put_data", n * m.Bits},
		{putsStrb, "put_strb", n * m.Bits / 8}, {putsReady, "put_ready", n}, {putsDone, "done", n}} {
		items = append(items, netlist.Wire{Name: w.name, Width: w.width})
		in.Ports = append(in.Ports, netlist.Connection{Port: w.port, To: netlist.Ref(w.name)})
	}
	in.Ports = append(in.Ports, netlist.Connection{Port: "base", To: netlist.Ref(emit.AXICache)},
		netlist.Connection{Port: "error", To: netlist.Ref(writeFailed)})
	in.Ports = append(in.Ports, b.axiSignals(true)...)
	none := netlist.All{X: netlist.Concat{netlist.Not{X: netlist.Ref(readFailed)},
		netlist.Not{X: netlist.Ref(writeFailed)}}}
	return append(items, in, netlist.Wire{Name: cachesIdle, Width: n}, netlist.Wire{Name: portFine, Value: none},
		netlist.Assign{To: netlist.Ref(cacheIdle), From: netlist.All{X: netlist.Ref(cachesIdle)}},
		netlist.Assign{To: netlist.Ref(emit.AXIFailed), From: netlist.Not{X: netlist.Ref(portFine)}})
}

// axiSignals are the connections of axi_write, or of axi_read, to the port.
func (b *builder) axiSignals(writes bool) (list []netlist.Connection) {
	for _, s := range b.design.Memory.Signals() {
		if of := s.Name[0] != 'a' && s.Name[0] != 'r' || s.Name[:2] == "aw"; of == writes && !s.Fixed {
			list = append(list, netlist.Connection{Port: s.Name, To: netlist.Ref(emit.AXI + "_" + s.Name)})
		}
	}
	return list
}

// portClock are clock and reset of what talks to the memory outside: between the sequences of a decoder it goes on.
func (b *builder) portClock() []netlist.Connection {
	if b.design.Tokens > 0 {
		return netlist.Clocked("clk", portReset)
	}
	return netlist.Clocked("clk", "rst")
}

// portReset is the reset that does not end sequences, of a decoder with a memory outside.
const portReset = "port_rst"

// cache is the store of a unit whose keys or values lie outside, and the stream from there, which the unit takes
// instead of its second one.
func (b *builder) cache(inst *instance, u *emit.Unit) []netlist.Item {
	c := inst.unit.Cache
	if c == nil {
		return nil
	}
	at, bits, ask, k := b.atWidth(), c.Port, b.regions+inst.region, inst.region
	stream := cacheStream(inst)
	in := &netlist.Instance{Module: "mem_cache", Name: inst.memory, Ports: netlist.Clocked("clk", "rst"),
		Params: append(c.Params(), rtl.Param{Name: "AT", Value: fmt.Sprint(u.Cache.Offset * 8 / bits)},
			rtl.Param{Name: "AT_W", Value: fmt.Sprint(at)})}
	in.Ports = append(in.Ports, inst.in[1].to("in")...)
	in.Ports = append(in.Ports, wiresOf(stream).to("out")...)
	in.Ports = append(in.Ports, b.asks(ask)...)
	in.Ports = append(in.Ports,
		netlist.Connection{Port: "put_valid", To: netlist.Bit{Of: putsValid, At: k}},
		netlist.Connection{Port: "put_at", To: netlist.Slice{Of: putsAt, High: k*at + at - 1, Low: k * at}},
		netlist.Connection{Port: "put_data", To: netlist.Slice{Of: putsData, High: k*bits + bits - 1, Low: k * bits}},
		netlist.Connection{Port: "put_strb", To: netlist.Slice{Of: putsStrb, High: (k+1)*bits/8 - 1, Low: k * bits / 8}},
		netlist.Connection{Port: "put_ready", To: netlist.Bit{Of: putsReady, At: k}},
		netlist.Connection{Port: "done", To: netlist.Bit{Of: putsDone, At: k}},
		netlist.Connection{Port: "idle", To: netlist.Bit{Of: cachesIdle, At: k}})
	return append(wires(stream, c.Lanes*c.Width, 0), in)
}

// cacheStream is the prefix of the wires between the store and its unit.
func cacheStream(inst *instance) string { return "c__" + inst.name }

// asks are the connections of client k of axi_read.
func (b *builder) asks(k int) []netlist.Connection {
	at := b.atWidth()
	return []netlist.Connection{
		{Port: "ask_valid", To: netlist.Bit{Of: asksValid, At: k}},
		{Port: "ask_at", To: netlist.Slice{Of: asksAt, High: k*at + at - 1, Low: k * at}},
		{Port: "ask_len", To: netlist.Slice{Of: asksLen, High: k*8 + 7, Low: k * 8}},
		{Port: "ask_ready", To: netlist.Bit{Of: asksReady, At: k}},
		{Port: "beat_data", To: netlist.Ref(beatData)}, {Port: "beat_valid", To: netlist.Bit{Of: beatValid, At: k}}}
}
