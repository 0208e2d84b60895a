// SPDX-License-Identifier: Apache-2.0

// Package emit turns scheduled graphs into designs: files in memory and what a reader of them must know.
package emit

import (
	"path"
	"slices"

	"lathe/ir"
	"lathe/rtl"
)

// Design is the only output of emission. Nothing in it depends on time, machine or map order.
type Design struct {
	// Name is the name of the graph; Top the wrapper module; Core the module inside it with bare streams.
	Name, Top, Core string
	// Version is that of the compiler; Part and ClockMHz are what the plan wishes for, "" and 0 if nothing.
	Version, Part string
	ClockMHz      float64
	// Balance is what the choice of foldings aimed at and reached; nil where nothing was balanced.
	Balance any
	// Tokens is, for a decoder, the most tokens of a sequence, which a sample then has; 0 for other designs. A token has
	// the beats of a sample divided by it.
	Tokens int
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
	// Lanes is elements per beat, Beats beats per sample, Width bits of payload, TData bits of TDATA.
	Lanes, Beats, Width, TData int
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
	Cost   *rtl.Cost `json:"cost,omitempty"`
	Images []Image   `json:"images,omitempty"`
	// Stream is the prefix of the wires in the core that carry the result, Width the bits of a beat.
	Stream string `json:"stream"`
	Width  int    `json:"width"`
	// Depth is the beats of a FIFO, Branches the readers of a fork; 0 for other units.
	Depth    int `json:"depth,omitempty"`
	Branches int `json:"branches,omitempty"`
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
		if !isImage(f.Name) {
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

func isImage(name string) bool { return len(name) > 4 && name[len(name)-4:] == ".mem" }
