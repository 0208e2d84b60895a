// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/emit"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// mostLanes bounds the lanes of a stream that a trace names.
const mostLanes = 64

// lanesSuffix makes of the name of the core that of the module that names lanes.
const lanesSuffix = "_lanes"

// joins are the operations that move a value and do not change it: a trace shows it once.
var joins = []string{"fork", "fifo", "widen", "narrow"}

// Trace is what waveforms show of a design: the elements that its streams carry. A module that only traced simulations
// have gives each lane a name and, where codes are worth something by themselves, a value; save files of waveform
// viewers list them.
type Trace struct {
	Module, Core, Version string
	Streams               []Stream
	// Binds says that the file of the module puts an instance, lanes, into the core. Icarus Verilog has no bind: there
	// the testbench has the instance.
	Binds bool
}

// Stream is one stream of the core.
type Stream struct {
	// Name is that of the stream in the trace, Wire the prefix of its wires in the core.
	Name, Wire string
	// About says which value it is.
	About string
	// Width is the bits of a beat, Bits those of an element, Beats the beats of a sample, 0 where that changes.
	Width, Bits, Beats int
	// All is the lanes of a beat, of which Lanes names the first ones.
	All    int
	Signed bool
	// Point is the fraction bits of codes that are fixed-point numbers; -1: they are none.
	Point int
	// Scale and Zero give the value of a code: less Zero, times Scale. "" where codes are worth nothing by themselves.
	Scale, Zero string
	Lanes       []Lane
}

// Lane is an element of a beat, from bit Low on.
type Lane struct {
	Name string
	Low  int
}

// NewTrace is the trace of a design.
func NewTrace(d *emit.Design) (*Trace, error) {
	t := &Trace{Module: d.Core + lanesSuffix, Core: d.Core, Version: d.Version}
	for _, p := range d.Ports {
		if p.Input {
			s := Stream{Name: p.CoreStream, Wire: p.CoreStream, Width: p.CoreWidth(), Beats: p.Beats}
			s.About = fmt.Sprintf("input %s: %s %s", p.Name, ir.ShapeString(p.Type.Shape), p.Type.Format)
			t.add(d, s, p.Lanes, p.Type.Format)
		}
	}
	for _, u := range d.Units {
		if u.Module == "" || slices.Contains(joins, u.Op) {
			continue
		}
		f, err := format.Parse(u.Format)
		if err != nil {
			return nil, err
		}
		s := Stream{Name: u.Instance, Wire: u.Stream, Width: u.Width, Beats: u.Beats}
		s.About = fmt.Sprintf("%s, %s: %s %s", u.Node, u.Module, ir.ShapeString(u.Shape), u.Format)
		t.add(d, s, u.OutLanes, f)
	}
	return t, nil
}

// add appends a stream of so many lanes.
func (t *Trace) add(d *emit.Design, s Stream, lanes int, f format.Format) {
	if d.Tokens > 0 || d.Lengths > 0 {
		s.Beats = 0
	}
	lo, _ := f.Limits()
	s.Bits, s.All, s.Signed, s.Point = f.Width(), lanes, lo.Sign() < 0, -1
	if x, ok := format.AsFixed(f); ok {
		s.Point, s.Scale = x.F, literal(math.Ldexp(1, -x.F))
	} else if x, ok := f.(format.Scaled); ok {
		if scale, zero := x.Factor(); scale > 0 {
			s.Scale = literal(float64(scale))
			if zero != 0 {
				s.Zero = literal(float64(zero))
			}
		}
	} else {
		s.Signed = false // a pattern of bits
	}
	for i := range min(lanes, mostLanes) {
		s.Lanes = append(s.Lanes, Lane{fmt.Sprintf("%s__%d", s.Name, i), i * s.Bits})
	}
	t.Streams = append(t.Streams, s)
}

// literal is a number of Verilog.
func literal(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// Last is the last beat of a sample.
func (s *Stream) Last() int { return s.Beats - 1 }

// Beat says what a beat is.
func (s *Stream) Beat() string {
	text := fmt.Sprintf("lanes %d", s.All)
	if s.Beats > 0 {
		text += fmt.Sprintf(", beats of a sample %d", s.Beats)
	}
	return text
}

// Worth is the value of a code, in words.
func (s *Stream) Worth() string {
	switch {
	case s.Scale == "":
		return "the code alone does not say"
	case s.Zero != "":
		return "(code - " + s.Zero + ") * " + s.Scale
	}
	return "code * " + s.Scale
}

// File is the module, for a simulation only.
func (t *Trace) File() (rtl.File, error) {
	text, err := fill("lanes.sv.tmpl", t)
	return rtl.File{Name: t.Module + ".sv", Data: text}, err
}

// Flags of traces in save files of GTKWave.
const (
	gtkDecimal = 0x4
	gtkBinary  = 0x8
	gtkRight   = 0x20
	gtkHex     = 0x2
	gtkBlank   = 0x200
	gtkSigned  = 0x400
	gtkBegin   = 0x800000
	gtkEnd     = 0x1000000
	gtkPoint   = 0x40000000
)

// GTKWave is a save file for the waveform of the clock and of an instance of the module, by their paths: a group for
// each stream, its lanes as fixed-point numbers where they are such.
func (t *Trace) GTKWave(clock, instance string) []byte {
	var b strings.Builder
	flags := -1
	put := func(f int, text string, args ...any) {
		if f != flags {
			flags = f
			fmt.Fprintf(&b, "@%x\n", f)
		}
		fmt.Fprintf(&b, text+"\n", args...)
	}
	fmt.Fprintf(&b, "[*] Made by lathe %s: streams of %s.\n[timestart] 0\n[size] 1500 900\n*-7.0 0\n"+
		"[sst_width] 160\n[signals_width] 420\n", t.Version, t.Core)
	put(gtkRight|gtkBinary, "%s", clock)
	for _, s := range t.Streams {
		put(gtkBegin|gtkBlank, "-%s", s.Name)
		put(gtkBlank, "-%s", s.About)
		put(gtkBlank, "-%s; value: %s", s.Beat(), s.Worth())
		for _, bit := range []string{"valid", "ready", "moves"} {
			put(gtkRight|gtkBinary, "%s.%s__%s", instance, s.Name, bit)
		}
		put(gtkRight|gtkDecimal, "%s.%s__beat[31:0]", instance, s.Name)
		for _, l := range s.Lanes {
			f := gtkRight | gtkHex
			switch {
			case s.Signed:
				f = gtkRight | gtkSigned
			case s.Scale != "":
				f = gtkRight | gtkDecimal
			}
			name := fmt.Sprintf("%s.%s%s", instance, l.Name, s.bits())
			if s.Point > 0 {
				put(f|gtkPoint, "[fpshift_count] %d\n%s", s.Point, name)
			} else if put(f, "%s", name); s.Scale != "" && s.Point != 0 {
				put(gtkRight, "%s.%s_real", instance, l.Name)
			}
		}
		put(gtkEnd|gtkBlank, "-%s", s.Name)
	}
	return []byte(b.String())
}

// bits is the range of an element, behind its name.
func (s *Stream) bits() string { return fmt.Sprintf("[%d:0]", s.Bits-1) }

// Surfer is a command file of Surfer for such a waveform: lanes as the values of their codes where these have some.
func (t *Trace) Surfer(clock, instance string) []byte {
	var b strings.Builder
	put := func(command, name string) { fmt.Fprintf(&b, "%s %s\n", command, name) }
	put("variable_add", clock)
	for _, s := range t.Streams {
		put("divider_add", s.About)
		for _, bit := range []string{"valid", "ready", "moves", "beat"} {
			put("variable_add", fmt.Sprintf("%s.%s__%s", instance, s.Name, bit))
		}
		for _, l := range s.Lanes {
			name := instance + "." + l.Name
			if s.Scale != "" {
				name += "_real"
			}
			put("variable_add", name)
		}
	}
	put("zoom_fit", "")
	return []byte(b.String())
}
