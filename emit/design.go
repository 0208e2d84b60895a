// SPDX-License-Identifier: Apache-2.0

// Package emit turns scheduled graphs into designs: files in memory and what a reader of them must know.
package emit

import (
	"math/bits"
	"path"
	"slices"
	"strings"

	"lathe/ir"
	"lathe/ir/unit"
	"lathe/rtl"
)

// Design is the only output of emission. Nothing in it depends on time, machine or map order.
type Design struct {
	// Name is the name of the graph; Top the wrapper module; Core the module inside it with bare streams. Single is the
	// wrapper with one clock: Top itself, or inside of Top where streams have a clock of their own.
	Name, Top, Single, Core string
	// Version is that of the compiler; Part and ClockMHz are what the plan wishes for, "" and 0 if nothing.
	Version, Part string
	ClockMHz      float64
	// StreamMHz is the clock of the streams that the plan wishes for, where it is another one; 0: there is one clock.
	StreamMHz float64
	// Balance is what the choice of foldings aimed at and reached; nil where nothing was balanced.
	Balance *unit.Balance
	// Tokens is, for a decoder, the most tokens of a sequence, which a sample then has; 0 for other designs. A token has
	// the beats of a sample divided by it.
	Tokens int
	// Group is how many samples at a time go through layers that share units; 1 without such layers.
	Group int
	// Lengths is the most tokens of a frame, where each has its own number of them; 0 for other designs. Ends is then the
	// stream of the core that says where they end, which the wrapper makes.
	Lengths int
	Ends    *Port
	// BadFrame is what becomes of a frame that TLAST ends too early or too late: Completes or Drops, else nobody looks.
	BadFrame string
	// Memory is what lies in a memory outside of the design; nil: nothing.
	Memory *Memory
	// Ports lists the streams of the design, inputs first.
	Ports []Port
	// Files are sources in the order of compilation, then memory images.
	Files []rtl.File
	// Units describe the nodes in hardware, in graph order.
	Units []Unit
	// Extra are files that use the design: testbench, Makefile, scripts of vendors. Names may have folders, with slashes.
	Extra []rtl.File
	// Docs are files for readers: design.json and README.md.
	Docs []rtl.File
}

// What becomes of a frame that TLAST ends too early or too late: zeros complete it, or its end is cut off; nothing
// comes out for it.
const (
	Completes = "complete"
	Drops     = "drop"
)

// ChecksWeights says that the design reads weights once after reset, and tells of wrong ones.
func (d *Design) ChecksWeights() bool {
	return slices.ContainsFunc(d.Units, func(u Unit) bool { return u.Checked })
}

// CountBits are those of an output that counts frames.
const CountBits = 16

// Checked says whether the design looks at TLAST of frames that have one length.
func (d *Design) Checked() bool { return d.BadFrame == Completes || d.BadFrame == Drops }

// Counts names the outputs that count bad frames, one an input; nil where nobody looks.
func (d *Design) Counts() (names []string) {
	for _, p := range d.Ports {
		if suffix, ok := strings.CutPrefix(p.Stream, "s_axis"); ok && d.Checked() {
			names = append(names, "bad_frames"+suffix)
		}
	}
	return names
}

// CoreClock is the input for the clock of all but the streams, where those have one of their own.
const CoreClock = "core_clk"

// Frame is what the design takes as a whole: a sample, a frame of changing length, or a sequence of tokens.
func (d *Design) Frame() string {
	switch {
	case d.Tokens > 0:
		return "sequence"
	case d.Lengths > 0:
		return "frame"
	}
	return "sample"
}

// PositionBits are those of the status output of a decoder that counts the tokens of a sequence.
func (d *Design) PositionBits() int { return bits.Len(uint(d.Tokens)) }

// All returns every file of the emitted folder.
func (d *Design) All() []rtl.File { return slices.Concat(d.Files, d.Extra, d.Docs) }

// Extras returns the names of the extra files below a folder, such as "tb/"; "" is the folder of the design itself.
func (d *Design) Extras(folder string) []string {
	var names []string
	for _, f := range d.Extra {
		if dir, _ := path.Split(f.Name); dir == folder {
			names = append(names, f.Name)
		}
	}
	return names
}

// Port is one stream of a design, for one input or output of the graph.
type Port struct {
	// Name is the graph's name of the value; Stream the prefix of the wrapper's signals, such as s_axis.
	Name   string
	Stream string
	// CoreStream is the prefix of the core's signals, such as in.
	CoreStream string
	Input      bool
	Type       ir.Type
	// Perm is the transposition between the caller's array and the stream, as in ir.Input and ir.Output.
	Perm []int
	// Exponents are those of ir.Input: a value of channel c, of the last axis, is 2^Exponents[c] times the caller's.
	Exponents []int
	// Lanes is elements per beat, Beats beats per sample, Width bits of payload, TData bits of TDATA.
	Lanes, Beats, Width, TData int
	// Tokens is the most tokens of a frame on this port, where that changes; 0: all frames have Beats beats.
	Tokens int
}

// CoreWidth is the bits of a beat in the core: an output whose frames change in length marks the last one.
func (p *Port) CoreWidth() int {
	if p.Tokens > 0 && !p.Input {
		return p.Width + 1
	}
	return p.Width
}

// Unit is one node of the graph in hardware.
type Unit struct {
	Node     string   `json:"node"`
	Op       string   `json:"op"`
	Instance string   `json:"instance,omitempty"`
	Module   string   `json:"module,omitempty"`
	Source   string   `json:"source,omitempty"`
	Args     []string `json:"args,omitempty"`
	// Turns are, of a unit that layers share, the nodes that it computes one after the other in a sample, ""
	// where nobody needs the result.
	Turns    []string `json:"turns,omitempty"`
	Shape    []int    `json:"shape"`
	Format   string   `json:"format"`
	InLanes  int      `json:"in_lanes"`
	OutLanes int      `json:"out_lanes"`
	// Cycles is the initiation interval of one sample, Latency the cycles from first beat in to first beat out.
	Cycles  int `json:"cycles"`
	Latency int `json:"latency"`
	// Cost is what the module's header predicts; nil where it does not.
	Cost *rtl.Cost `json:"cost,omitempty"`
	// Sums are facts about those of an unrolled layer; nil for other units.
	Sums   *rtl.Sums `json:"sums,omitempty"`
	Images []Image   `json:"images,omitempty"`
	// Checked says that the image of the weights is read once after reset, and compared with what it should be.
	Checked bool `json:"weights_checked,omitempty"`
	// Weights are those that lie in a memory outside; nil: the unit has none there.
	Weights *Region `json:"weights,omitempty"`
	// Cache are keys or values that lie in a memory outside; nil: the unit has none there.
	Cache *CacheRegion `json:"cache,omitempty"`
	// Stream is the prefix of the wires in the core that carry the result, Width the bits of a beat.
	Stream string `json:"stream"`
	Width  int    `json:"width"`
	// Beats is the beats of a sample, of frames that change in length the most.
	Beats int `json:"-"`
	// Depth is the beats of a FIFO, Branches the readers of a fork; 0 for other units.
	Depth    int `json:"depth,omitempty"`
	Branches int `json:"branches,omitempty"`
}

// Memory is what a design has in a memory outside, behind one AXI4 port: weights, which it reads, and a cache, which it
// writes and reads.
type Memory struct {
	// File is what must stand in that memory, Bytes of it, from the address on that the port weights_base has; "": no
	// weights lie outside.
	File  string `json:"file,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
	// Cache is nil where no keys and values lie outside.
	Cache *Cache `json:"cache,omitempty"`
	// Bits is the width of RDATA.
	Bits int `json:"axi_bits"`
	// Load is the beats that are read once after reset, Traffic those that are read for each sample.
	Load    int `json:"load_beats"`
	Traffic int `json:"beats_per_sample"`
	// Demand is the beats that all units would read in a cycle in which they all work.
	Demand float64 `json:"beats_per_busy_cycle"`
	SHA256 string  `json:"sha256,omitempty"`
	// Cost is what the header of the port's module predicts.
	Cost rtl.Cost `json:"cost"`
}

// KeepsUp says that a port that never stalls has every word in time, whatever units work at once: a quarter is left for
// bursts that wait for those of others. Cycles are then those of a design with ROMs; else they are bounded by Traffic.
// A cache is never in time for the first tokens: what is written must be there before it is read.
func (m *Memory) KeepsUp() bool { return m == nil || m.Demand <= 0.75 && m.Cache == nil }

// Traffic is the beats that cross the memory port for each sample; 0 for a design without one.
func (d *Design) Traffic() int {
	if d.Memory == nil {
		return 0
	}
	return d.Memory.Traffic
}

// The names of the port to a memory outside: the prefix of its signals, where in the memory the file and the cache
// begin, and what says that a read or a write has failed, or that weights in the chip are wrong.
const (
	AXI       = "m_axi"
	AXIBase   = "weights_base"
	AXICache  = "cache_base"
	AXIFailed = "memory_error"
)

// Bases are the inputs that say where in the memory something begins.
func (m *Memory) Bases() (names []string) {
	if m.File != "" {
		names = append(names, AXIBase)
	}
	if m.Cache != nil {
		names = append(names, AXICache)
	}
	return names
}

// Signal is one of an AXI4 port, seen from the design.
type Signal struct {
	Name   string
	Width  int
	Output bool
	// Fixed is set for outputs of the wrapper that never change, at Value.
	Fixed bool
	Value uint64
}

// Signals lists those of the port, without its prefix.
func (m *Memory) Signals() []Signal {
	list := []Signal{{Name: "araddr", Width: 64, Output: true}, {Name: "arlen", Width: 8, Output: true},
		{Name: "arsize", Width: 3, Output: true}, {Name: "arburst", Width: 2, Output: true},
		{Name: "arcache", Width: 4, Output: true, Fixed: true, Value: 3}, // normal memory that may be buffered
		{Name: "arprot", Width: 3, Output: true, Fixed: true}, {Name: "arvalid", Width: 1, Output: true},
		{Name: "arready", Width: 1}, {Name: "rdata", Width: m.Bits}, {Name: "rresp", Width: 2}, {Name: "rlast", Width: 1},
		{Name: "rvalid", Width: 1}, {Name: "rready", Width: 1, Output: true}}
	if m.Cache == nil {
		return list
	}
	return append(list, Signal{Name: "awaddr", Width: 64, Output: true}, Signal{Name: "awlen", Width: 8, Output: true},
		Signal{Name: "awsize", Width: 3, Output: true}, Signal{Name: "awburst", Width: 2, Output: true},
		Signal{Name: "awcache", Width: 4, Output: true, Fixed: true, Value: 3},
		Signal{Name: "awprot", Width: 3, Output: true, Fixed: true}, Signal{Name: "awvalid", Width: 1, Output: true},
		Signal{Name: "awready", Width: 1}, Signal{Name: "wdata", Width: m.Bits, Output: true},
		Signal{Name: "wstrb", Width: m.Bits / 8, Output: true}, Signal{Name: "wlast", Width: 1, Output: true},
		Signal{Name: "wvalid", Width: 1, Output: true}, Signal{Name: "wready", Width: 1},
		Signal{Name: "bresp", Width: 2}, Signal{Name: "bvalid", Width: 1},
		Signal{Name: "bready", Width: 1, Output: true})
}

// Cache is what a decoder keeps in a memory outside: keys and values, Bytes from the address on that the port
// cache_base has.
type Cache struct {
	Bytes int `json:"bytes"`
	// Reads and Writes are the bytes that cross the port for the last token of a whole sequence; a token before it is
	// read for as many times less as it has fewer tokens in front of it.
	Reads  int `json:"read_bytes_last_token"`
	Writes int `json:"write_bytes_token"`
	// Word is the most beats of the memory that a word takes.
	Word int `json:"-"`
}

// CacheRegion is the place of a unit's keys or values in a memory outside.
type CacheRegion struct {
	// Offset is the first byte, Bytes how many there are; a head begins every Stride bytes.
	Offset int `json:"offset"`
	Bytes  int `json:"bytes"`
	Stride int `json:"head_bytes"`
	// Slot is the bytes of a beat of a token, of which Width bits are used, and a head of a token has Beats of them. A
	// word is that beat of Tokens tokens, one behind the other.
	Slot   int `json:"slot_bytes"`
	Width  int `json:"slot_bits"`
	Beats  int `json:"slots_per_head"`
	Tokens int `json:"tokens_per_word"`
	// PerBeat is the words in a beat of the memory, the first in the low bits; 0 where a word takes several.
	PerBeat int `json:"words_per_beat"`
	// Reads is the bytes that are read for the last token of a whole sequence.
	Reads int `json:"read_bytes_last_token"`
}

// Region is the place of a unit's weights in a memory outside: Words of Width bits a set, each sample's use of them.
type Region struct {
	// Way is "stream" where words come each time that they are used, "hold" where they are read once, "swap" where those
	// of the next layer come while those of one are used.
	Way string `json:"way"`
	// Offset is the first byte, a multiple of 4096; Beats is how many beats follow. Of layers that share the unit, each
	// has a set of its own, in the order of turns; each begins at a multiple of 4096.
	Offset int `json:"offset"`
	Sets   int `json:"sets"`
	Beats  int `json:"beats"`
	Width  int `json:"width"`
	Words  int `json:"words"`
	// PerBeat is the words in a beat, the first in the low bits; 0 where a word takes several beats, the low bits first.
	PerBeat  int    `json:"words_per_beat"`
	Checksum string `json:"checksum"`
	// Traffic is the beats that are read for each sample, Needs the bytes that the unit uses in a cycle in which it works.
	Traffic int     `json:"beats_per_sample"`
	Needs   float64 `json:"bytes_per_cycle"`
}

// Image is one memory image of a unit.
type Image struct {
	File     string `json:"file"`
	Width    int    `json:"width"`
	Words    int    `json:"words"`
	Checksum string `json:"checksum"`
	SHA256   string `json:"sha256"`
}

// Sources returns the names of the source files in compilation order, without memory images.
func (d *Design) Sources() []string {
	var names []string
	for _, f := range d.Files {
		if isSource(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Images returns the names of the memory images.
func (d *Design) Images() []string {
	var names []string
	for _, f := range d.Files {
		if isImage(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

func isSource(name string) bool {
	return strings.HasSuffix(name, ".sv") || strings.HasSuffix(name, ".v")
}

func isImage(name string) bool { return len(name) > 4 && name[len(name)-4:] == ".mem" }
