// SPDX-License-Identifier: Apache-2.0

// Package sim builds hardware designs with Verilator, runs them on streams of beats and reports what happened.
//
// A design is a module whose ports are valid/ready streams. Build compiles it, with a generated wrapper and one fixed
// C++ harness, into a program that is cached by content. Model.Run drives it: every input port idles and every output
// port pushes back at random by seed. Lint, Icarus and Yosys are second opinions on the same Spec.
//
// A beat is ceil(Width/8) bytes, little-endian, lane 0 in the low bits; a stream is its beats one after the other.
package sim

import (
	"lathe/emit"
	"lathe/rtl"
)

// File is a source file (.sv, .v, .svh) or a memory image, by bare name.
type File = rtl.File

// Port is one stream of the design. Empty signal names are completed from Name: Name_data, Name_valid, Name_ready.
// Last may stay empty: the port has no such flag.
//
// For a tap, Data, Valid and Ready may be hierarchical names inside the top ("conv1_out_data",
// "core.conv1_out_data").
type Port struct {
	Name  string
	Data  string
	Valid string
	Ready string
	Last  string
	Width int // bits of the payload
}

// Spec says what to build.
type Spec struct {
	Top            string
	Files          []File
	Params         []rtl.Param
	Clock, Reset   string // names of the ports; empty: the design has none
	ResetActiveLow bool
	// Settle is the number of cycles after its reset port in which the design takes no beat.
	Settle int
	// Handshake says who makes valid and ready. With ByWrapper the module is a pipeline of Pipe registers (0: it is
	// combinational), all under the clock enable named by Enable; it has one output.
	Handshake Handshake
	Pipe      int
	Enable    string
	// Ties are input ports that are held at a constant, given verbatim.
	Ties []rtl.Param

	In, Out []Port
	// Memory stands at the AXI4 read port of the design; nil: it has none.
	Memory *Memory
	// Taps are passive: their beats are recorded whenever valid and ready are both high.
	Taps     []Port
	CacheDir string
	Trace    bool // able to write FST
	Warnings bool // treat every Verilator -Wall warning as an error
}

// Memory is a simulated memory outside of the design.
type Memory struct {
	emit.Memory
	// Base is where its file begins, CacheBase where its cache does.
	Base, CacheBase uint64
	// Files are that file and the modules that the memory consists of.
	Files []File
}

// Handshake says who makes valid and ready.
type Handshake int

const (
	// ByModule is a module with streams.
	ByModule Handshake = iota
	// ByWrapper is a pipeline or a combinational module, around which the wrapper makes streams.
	ByWrapper
)

// names returns p with every empty signal name completed; wrapped modules have bare data ports.
func (p Port) names(h Handshake) Port {
	if p.Data == "" {
		p.Data = p.Name
		if h == ByModule {
			p.Data = p.Name + "_data"
		}
	}
	if p.Valid == "" {
		p.Valid = p.Name + "_valid"
	}
	if p.Ready == "" {
		p.Ready = p.Name + "_ready"
	}
	return p
}

// Bytes is the size of one beat of the port in a stream.
func (p Port) Bytes() int { return (p.Width + 7) / 8 }
