// SPDX-License-Identifier: Apache-2.0

// Package rtltest holds the bench that every module of the library runs through. A test is a table: parameter points
// and a model in Go. The bench simulates each point without stalls and under the cross product of idle and back-
// pressure patterns, compares every beat with the model, checks the stream rules, latency and initiation interval
// against the header comment, resets in mid-stream, repeats a sample in Icarus, and has Yosys read the module.
//
//	func TestSkid(t *testing.T) {
//		rtltest.Sweep(t, "stream_skid", rtltest.Params{"WIDTH": {1, 8, 97}}, func(in []sim.Beat) []sim.Beat { return in })
//	}
//
//	rtltest.Run(t, rtltest.Bench{
//		Module: "op_relu",
//		Params: []rtl.Param{rtltest.P("LANES", 4), rtltest.P("IN_W", 8), rtltest.P("BEATS", 3)},
//		In:     []rtltest.Port{{Name: "in", Lanes: 4, Signed: true, Beats: 3}},
//		Out:    []rtltest.Port{{Name: "out", Lanes: 4}},
//		Model: func(in [][]int64) [][]int64 { // in[port] holds one frame, lanes innermost
//			out := make([]int64, len(in[0]))
//			for i, x := range in[0] {
//				out[i] = max(x, 0)
//			}
//			return [][]int64{out}
//		},
//	})
package rtltest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/rtl"
)

// Port is one stream of the module under test.
type Port struct {
	Name   string // stem of the signals: Name_data, Name_valid, Name_ready and, if the module has it, Name_last
	Lanes  int    // 0 means 1
	Width  int    // bits of a lane; 0: the port's width, read from the module, divided by Lanes
	Signed bool   // how the codes of the lanes are to be read
	Beats  int    // beats of a frame, inputs only; 0 means 1. Outputs have as many as the model returns
	// Min and Max bound the codes that are tried, for inputs whose format has codes that never occur; both 0: all
	// codes.
	Min, Max int64
}

// Bench is one parameter point of a module.
type Bench struct {
	Module string
	Params []rtl.Param
	Images []rtl.Image // bound to the module's parameters under the instance name "u"
	// In and Out may be nil: then they are read from the module's ports, one lane each.
	In, Out []Port
	// Pipeline is a module without valid and ready: combinational, or of as many registers as its header's latency
	// says, under the clock enable "en". Inputs and the one output are ports of the bare names.
	Pipeline bool
	// Model computes one frame: in[port] holds the codes of the frame, beats in order, lanes innermost; so does the
	// result. Exactly one of Model and BigModel is set. With Model, lanes have at most 63 bits unsigned, 64 signed.
	Model    func(in [][]int64) [][]int64
	BigModel func(in [][]*big.Int) [][]*big.Int
	// Gen makes the codes of a frame for an input port. nil: all minimum, all maximum, alternating, zero, one-hot,
	// then random ones. Returning nil falls back to that for this frame and port.
	Gen func(r *rand.Rand, port, frame int) []int64
	// Frames is the number of frames in a run; 0: enough for some hundred beats, at least 8.
	Frames int
	Seed   uint64
	// Files replace or extend the library's sources, by name; Module may be one of them.
	Files []rtl.File
	Ties  []rtl.Param // input ports that are held constant
	Flow  rtl.Flow    // by which cycles beats leave a module that is not the library's; nil: not compared
	// Untimed: something that the header does not speak of decides how long it takes, such as a memory in the bench, which
	// stalls, or frames that are shorter; latency and ii are not compared.
	Untimed bool
}

// P is a parameter with an integer value.
func P(name string, value int) rtl.Param { return rtl.Param{Name: name, Value: strconv.Itoa(value)} }

// Body is the module that is printed for a unit, under a name, with the header that a bench reads.
func Body(t *testing.T, name string, u *rtl.Unit) rtl.File {
	t.Helper()
	facts, err := u.Facts(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := *u.Body.Module
	m.Name, m.Comment = name, []string{name + ": a body.",
		fmt.Sprintf("  latency: %d   ii: %d   order: as it comes", facts.Latency, facts.II)}
	return rtl.File{Name: name + ".sv", Data: m.Print()}
}

// Run runs the bench as a subtest that is named by the parameters, in parallel with others: Model and Gen of different
// benches must not share what they change. The designs of benches that one test runs share programs.
func Run(t *testing.T, b Bench) {
	t.Helper()
	b.run(t, b.name(), func(t *testing.T, err error) {
		if err != nil {
			t.Errorf("%v", err)
		}
	})
}

// RunBroken is Run of a bench in whose Files a fault is planted: it demands that the bench finds the fault, and that
// the design compiles.
func RunBroken(t *testing.T, name string, b Bench) {
	t.Helper()
	b.run(t, name, func(t *testing.T, err error) {
		if why := missed(err); why != "" {
			t.Error(why)
		}
	})
}

// missed tells why what a bench has found is not a planted fault; empty if it is.
func missed(err error) string {
	switch {
	case err == nil:
		return "the bench does not see the fault"
	case diag.CodeOf(err) == diag.VerilatorFailed:
		return fmt.Sprintf("the fault does not compile: %v", err)
	}
	return ""
}

// run runs the bench as a parallel subtest and hands on what it finds.
func (b Bench) run(t *testing.T, name string, found func(*testing.T, error)) {
	t.Helper()
	together := batchOf(t)
	t.Run(name, func(t *testing.T) {
		tools.Need(t, "verilator", "g++", "iverilog", "yosys")
		c, err := b.prepare(tools.CacheDir(t))
		if err != nil {
			t.Fatal(err)
		}
		build := together.add(c.spec)
		t.Parallel()
		found(t, c.check(t.Context(), build))
	})
}

func (b *Bench) name() string {
	parts := []string{b.Module}
	for _, p := range b.Params {
		value := p.Value
		if len(value) > 24 {
			value = value[:21] + "..."
		}
		parts = append(parts, p.Name+"="+value)
	}
	return strings.Join(parts, ",")
}

// frames is the number of frames to run, given the longest input frame in beats.
func (b *Bench) frames() int {
	if b.Frames > 0 {
		return b.Frames
	}
	longest := 1
	for _, p := range b.In {
		longest = max(longest, p.Beats)
	}
	return min(max(300/longest, 8), 200)
}

// complete fills in what the Bench leaves to the module's header.
func (b *Bench) complete(h *rtl.Header, values map[string]int) error {
	if (b.Model == nil) == (b.BigModel == nil) {
		return fmt.Errorf("%s: set one of Model and BigModel", b.Module)
	}
	if b.In == nil && b.Out == nil {
		b.findPorts(h)
	}
	for _, list := range [][]Port{b.In, b.Out} {
		for i := range list {
			p := &list[i]
			p.Lanes, p.Beats = max(p.Lanes, 1), max(p.Beats, 1)
			total, err := h.Width(b.dataPort(*p), values)
			if err != nil && p.Width == 0 {
				return err
			}
			if p.Width == 0 {
				p.Width = total / p.Lanes
			}
			if err == nil && total != p.Width*p.Lanes {
				return fmt.Errorf("%s: port %s has %d bits, the bench says %d lanes of %d", b.Module, p.Name, total, p.Lanes,
					p.Width)
			}
		}
	}
	return nil
}

func (b *Bench) dataPort(p Port) string {
	if b.Pipeline {
		return p.Name
	}
	return p.Name + "_data"
}

// findPorts takes every data port of the module for one of the bench.
func (b *Bench) findPorts(h *rtl.Header) {
	for _, p := range h.Ports {
		name, isData := strings.CutSuffix(p.Name, "_data")
		if b.Pipeline {
			isData = p.Name != "clk" && p.Name != "rst" && p.Name != "en"
		}
		switch {
		case isData && p.Output:
			b.Out = append(b.Out, Port{Name: name})
		case isData:
			b.In = append(b.In, Port{Name: name})
		}
	}
}

func hasPort(h *rtl.Header, name string) bool {
	for _, p := range h.Ports {
		if p.Name == name {
			return true
		}
	}
	return false
}
