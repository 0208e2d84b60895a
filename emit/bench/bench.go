// SPDX-License-Identifier: Apache-2.0

// Package bench makes what lets an emitted folder prove itself without Lathe: a testbench in SystemVerilog with
// vectors, and a Makefile that runs it in Verilator or Icarus Verilog.
package bench

import (
	"bytes"
	"embed"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"text/template"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/rtl"
)

//go:embed *.sv *.tmpl
var parts embed.FS

//go:embed tb_stall.sv
var stallText []byte

//go:embed tb_memory.sv
var memoryText []byte

//go:embed tb_writes.sv
var writesText []byte

// modules are the parts of every testbench, in the order of compilation.
var modules = []string{"tb_stall", "tb_source", "tb_sink"}

// statusModule watches what a decoder says beside its streams.
const statusModule = "tb_status"

// memoryModules are the memory of designs that have something outside.
var memoryModules = []string{"tb_memory", "tb_writes"}

// Modules lists the modules that a testbench may add to a design.
func Modules() []string { return append(slices.Concat(modules, memoryModules), statusModule) }

// MemoryBase and CacheBase are where weights and a cache lie in a simulated memory: at addresses of more than 32 bits.
const (
	MemoryBase = 0x1_2345_6000
	CacheBase  = 0x7_89ab_c000
)

// MemoryParts are the sources of a simulated memory.
func MemoryParts() []rtl.File {
	return []rtl.File{{Name: "tb_stall.sv", Data: stallText}, {Name: "tb_memory.sv", Data: memoryText},
		{Name: "tb_writes.sv", Data: writesText}}
}

// Vectors are what the streams of a design carry in a test.
type Vectors struct {
	Samples int
	// Streams holds the beats of each port in the order of Design.Ports, TDATA in bytes, least significant first.
	Streams [][]byte
	// Tokens says what becomes of each token, in designs whose samples do not all have the same number of them; nil: they
	// have.
	Tokens *Tokens
}

// Tokens are those of all samples of a test.
type Tokens struct {
	// In is how many go in, Out how many come out.
	In, Out int
	// Lines has a hexadecimal word for each that goes in, a line each. Its bits: 0 TLAST is on its last beat, 1 its output
	// ends with TLAST, 2 it waits for all outputs of those before it, 3 nothing comes out for it, and from 4 on the number
	// of tokens that come out before it.
	Lines string
}

// folder is where the testbench lies.
const folder = "tb/"

// port is a stream as the template sees it.
type port struct {
	emit.Port
	File string
	// Total counts the beats of all samples, LaneWidth the bits of an element, Marked the beats from TLAST to TLAST. Of
	// a port that has tokens of its own, Marked are the beats of one.
	Total, LaneWidth, Marked int
	ByToken                  bool
}

// halfPeriod is that of ap_clk where there are two clocks.
const halfPeriod = 50

// drain is how many cycles a run goes on after the last beat.
const drain = 256

// Files returns the testbench for the vectors: tb/<top>_tb.sv, the modules that it needs, and one memory image a port.
// Error L0660 if the vectors do not fit the ports.
func Files(d *emit.Design, v Vectors) ([]rtl.File, error) {
	if byToken := d.Tokens > 0 || d.Lengths > 0; v.Samples < 1 || len(v.Streams) != len(d.Ports) ||
		byToken != (v.Tokens != nil) {
		return nil, diag.New(diag.VectorFault, d.Name, "%d samples of %d streams for %d ports, token by token: %t", v.Samples,
			len(v.Streams), len(d.Ports), v.Tokens != nil)
	}
	files, err := fixed(d)
	if err != nil {
		return nil, err
	}
	data := newTop(d, v)
	if data.Lanes, err = NewTrace(d); err != nil {
		return nil, err
	}
	var images []rtl.File
	if v.Tokens != nil {
		images = append(images, rtl.File{Name: data.TokensFile, Data: []byte(v.Tokens.Lines)})
	}
	for i, p := range d.Ports {
		q := newPort(d, p, v)
		if len(v.Streams[i]) != q.Total*p.TData/8 {
			return nil, diag.New(diag.VectorFault, d.Name, "%d bytes for %d beats of %d bits of %s", len(v.Streams[i]), q.Total,
				p.TData, p.Stream)
		}
		if !p.Input {
			data.Checked += q.Total
		}
		data.Ports = append(data.Ports, q)
		images = append(images, rtl.File{Name: q.File, Data: image(v.Streams[i], p.TData/8)})
	}
	text, err := fill("top.sv.tmpl", data)
	if err != nil {
		return nil, err
	}
	files = append(files, rtl.File{Name: folder + d.Top + "_tb.sv", Data: text})
	trace, err := traced(d, data.Lanes)
	return slices.Concat(files, trace, images), err
}

// traced are the module that names lanes, and the save files of viewers for the waveform that make wave leaves.
func traced(d *emit.Design, t *Trace) ([]rtl.File, error) {
	f, err := t.File()
	f.Name = folder + f.Name
	clock, instance := d.Top+"_tb.lanes.clk", d.Top+"_tb.lanes"
	return []rtl.File{f, {Name: folder + d.Top + ".gtkw", Data: t.GTKWave(clock, instance)},
		{Name: folder + d.Top + ".sucl", Data: t.Surfer(clock, instance)}}, err
}

// top is what the template of the testbench fills in.
type top struct {
	Top, Version, Frames           string
	Samples, Checked, Quiet, Drain int
	Ports                          []port
	Memory                         *emit.Memory
	Base, CacheBase                string
	Tokens                         *Tokens
	TokensFile                     string
	// Most is the most tokens of a sequence; 0: it is no decoder.
	Most, PositionBits int
	// Counts are the outputs that count bad frames, of CountBits bits.
	Counts    []string
	CountBits int
	// Core is half a period of core_clk where that of ap_clk is 50; 0: there is one clock.
	Core int
	// Inside is the clock of what is no stream, Runs whether that is out of reset.
	Inside, Runs string
	// Lanes is what a waveform shows, Inner the path in the design to the wrapper with one clock.
	Lanes *Trace
	Inner string
}

// coreHalf is half a period of core_clk where that of ap_clk is halfPeriod; 0 where there is one clock.
func coreHalf(d *emit.Design) int {
	if d.StreamMHz == 0 {
		return 0
	}
	return max(int(math.Round(halfPeriod*d.StreamMHz/d.ClockMHz)), 1)
}

func newTop(d *emit.Design, v Vectors) top {
	inside, runs, inner := "clk", "rst_n", ""
	if d.StreamMHz > 0 {
		inside, runs, inner = emit.CoreClock, "!dut.core_rst", "single."
	}
	return top{Top: d.Top, Version: d.Version, Frames: d.Frame() + "s", Samples: v.Samples, Quiet: patience(d),
		Drain: drain, Memory: d.Memory, Base: fmt.Sprintf("64'h%x", uint64(MemoryBase)),
		CacheBase: fmt.Sprintf("64'h%x", uint64(CacheBase)), Tokens: v.Tokens,
		TokensFile: folder + d.Top + "_tokens.mem", Most: d.Tokens, PositionBits: d.PositionBits(),
		Counts: d.Counts(), CountBits: emit.CountBits, Core: coreHalf(d), Inside: inside, Runs: runs, Inner: inner}
}

// newPort is port p of a test.
func newPort(d *emit.Design, p emit.Port, v Vectors) port {
	q := port{Port: p, File: folder + d.Top + "_" + p.Stream + ".mem", Total: v.Samples * p.Beats,
		LaneWidth: p.Type.Format.Width(), Marked: p.Beats}
	if most := max(d.Tokens, p.Tokens); v.Tokens != nil && most > 0 {
		q.ByToken, q.Marked, q.Total = true, p.Beats/most, v.Tokens.Out*(p.Beats/most)
		if p.Input {
			q.Total = v.Tokens.In * q.Marked
		}
	} else if p.Input && d.Group > 1 {
		q.Marked = q.Total // the last sample ends its group
	}
	return q
}

// used are the modules of the testbench of a design.
func used(d *emit.Design) []string {
	list := slices.Clone(modules)
	if d.Memory != nil {
		list = append(list, memoryModules...)
	}
	if d.Tokens > 0 {
		list = append(list, statusModule)
	}
	return list
}

// fixed are the modules that are the same for every design.
func fixed(d *emit.Design) ([]rtl.File, error) {
	var files []rtl.File
	for _, m := range used(d) {
		text, err := parts.ReadFile(m + ".sv")
		if err != nil {
			return nil, err
		}
		files = append(files, rtl.File{Name: folder + m + ".sv", Data: text})
	}
	return files, nil
}

// patience is how many cycles without any transfer make a design count as stuck: far beyond what all units take for a
// sample one after the other.
func patience(d *emit.Design) int {
	cycles := 0
	for _, u := range d.Units {
		cycles += u.Cycles + u.Latency
	}
	if d.Memory != nil {
		cycles += d.Memory.Traffic + 4*d.Memory.Load
	}
	return 16*cycles + 10_000
}

// image prints beats in $readmemh form, one a line.
func image(stream []byte, size int) []byte {
	out := make([]byte, 0, len(stream)/size*(2*size+1))
	for ; len(stream) >= size; stream = stream[size:] {
		beat := slices.Clone(stream[:size])
		slices.Reverse(beat)
		out = append(hex.AppendEncode(out, beat), '\n')
	}
	return out
}

// Makefile returns the Makefile of the folder: with targets that simulate if there is a testbench, with others to lint
// and to count cells in any case. device is the one whose cells are counted.
func Makefile(d *emit.Design, device *target.Device, simulates bool) (rtl.File, error) {
	data := struct {
		Top, Version, Count string
		Lanes               string
		Vivado              bool
		Bench               []string
		Core                int
	}{Top: d.Top, Version: d.Version, Count: device.Family.Yosys.Line(*device, "$(TOP)", false, false),
		Vivado: device.Family.Vivado(), Core: coreHalf(d), Lanes: folder + d.Core + lanesSuffix + ".sv"}
	if simulates {
		for _, m := range append(used(d), d.Top+"_tb") {
			data.Bench = append(data.Bench, folder+m+".sv")
		}
	}
	text, err := fill("Makefile.tmpl", data)
	return rtl.File{Name: "Makefile", Data: text}, err
}

func fill(name string, data any) ([]byte, error) {
	t, err := template.ParseFS(parts, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}
