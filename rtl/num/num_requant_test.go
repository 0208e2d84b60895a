// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
	"lathe/sim"
)

// point is one instance among many that share a simulation: its parameters and its model.
type point struct {
	params   string
	inWidth  int
	inSigned bool
	outWidth int
	model    func(v *big.Int) *big.Int
}

// crowd is a module with an instance of the library module for each point, all fed by the low bits of one input.
func crowd(module string, ties string, points []point) (text string, width int) {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "  %s #(%s) u%d (%s.in(in[%d:0]), .out(out[%d+:%d]));\n", module, p.params, width, ties, p.inWidth-1,
			width, p.outWidth)
		width += p.outWidth
	}
	return fmt.Sprintf("module crowd (input wire [%d:0] in, output wire [%d:0] out);\n%sendmodule\n", crowdWidth-1,
		width-1, b.String()), width
}

// crowdWidth bits of input are tried exhaustively.
const crowdWidth = 10

// exhaust compares all points at all inputs in Verilator, and at every 37th input in Icarus.
func exhaust(t *testing.T, module, ties string, points []point) {
	t.Helper()
	tools.Need(t, "verilator", "g++", "iverilog")
	text, width := crowd(module, ties, points)
	files, err := rtl.Files(module)
	if err != nil {
		t.Fatal(err)
	}
	spec := sim.Spec{Top: "crowd", Files: append(files, sim.File{Name: "crowd.sv", Data: []byte(text)}),
		Handshake: sim.ByWrapper, CacheDir: tools.CacheDir(t),
		In: []sim.Port{{Name: "in", Width: crowdWidth}}, Out: []sim.Port{{Name: "out", Width: width}}}
	var all []int64
	for v := range 1 << crowdWidth {
		all = append(all, int64(v))
	}
	model, err := sim.Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := model.Run(t.Context(), feed(all))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, points, width, all, res.Streams[0])
	var some []int64
	for v := 0; v < len(all); v += 37 {
		some = append(some, all[v])
	}
	out, err := sim.Icarus(t.Context(), spec, feed(some))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, points, width, some, out[0])
}

func feed(values []int64) sim.Input {
	return sim.Input{Streams: [][]byte{sim.Pack(values, 1, crowdWidth)}, Frames: len(values), InBeats: []int{1},
		OutBeats: []int{1}}
}

func compare(t *testing.T, points []point, width int, values []int64, stream []byte) {
	t.Helper()
	for i, word := range sim.UnpackBig(stream, 1, width, false) {
		for _, p := range points {
			in := num.Fit(big.NewInt(values[i]), p.inWidth, p.inSigned, num.Wrap)
			want := num.Fit(p.model(in), p.outWidth, false, num.Wrap)
			got := num.Fit(word, p.outWidth, false, num.Wrap)
			if got.Cmp(want) != 0 {
				t.Fatalf("%s: in %s gives code %s, not %s", p.params, in, got, want)
			}
			word.Rsh(word, uint(p.outWidth))
		}
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// limited is c at a width; a rule beyond Wrap becomes limits at three quarters of the codes, from zero or its negative.
func limited(c num.Cast, width int) num.Cast {
	if c.Width = width; c.Over > num.Wrap {
		top := 1<<min(width-flag(c.Signed), 29) - 2
		around := c.Signed && c.Over == num.Wrap+2
		if c.Over = num.Saturate; top > 0 {
			c.Over = num.Wrap + 1 + 2*max(1, top*3/4) + flag(around)
		}
	}
	return c
}

// modes calls f with every rounding, overflow and signedness, for limited.
func modes(f func(c num.Cast, inSigned bool)) {
	for round := num.Even; round <= num.Outward; round++ {
		for over := num.Saturate; over <= num.Wrap+2; over++ {
			for sign := range 4 {
				f(num.Cast{Round: round, Over: over, Signed: sign&1 != 0}, sign&2 != 0)
			}
		}
	}
}

// TestRequantModes tries every mode at every input of up to ten bits; widths and shifts go round.
func TestRequantModes(t *testing.T) {
	shapes := []struct{ in, shift, out int }{{10, 4, 5}, {8, 1, 6}, {9, 0, 9}, {6, 6, 3}, {5, 9, 4}, {4, -3, 6}, {1, 1, 1},
		{7, 5, 1}, {10, 3, 12}, {3, 4, 2}, {10, 9, 3}}
	var points []point
	modes(func(c num.Cast, inSigned bool) {
		for i := range 7 {
			s := shapes[(len(points)+i/5)%len(shapes)]
			c := limited(c, s.out)
			c.Shift = s.shift
			points = append(points, point{inWidth: s.in, inSigned: inSigned, outWidth: s.out, model: c.Of,
				params: fmt.Sprintf(".IN_W(%d),.IN_SIGNED(%d),.SHIFT(%d),.OUT_W(%d),.OUT_SIGNED(%d),.ROUND(%d),.OVER(%d)",
					s.in, flag(inSigned), s.shift, s.out, flag(c.Signed), c.Round, c.Over)})
		}
	})
	exhaust(t, "num_requant", "", points)
}

// TestRequantWide tries widths beyond 64 bits, with values around every rounding boundary of the low bits.
func TestRequantWide(t *testing.T) {
	for i, s := range []struct{ in, shift, out int }{{100, 37, 20}, {64, 33, 40}, {33, -40, 70}, {90, 95, 8},
		{40, 12, 12}} {
		c := limited(num.Cast{Shift: s.shift, Signed: i%2 == 0, Round: i % 9, Over: (i + 2) % 5}, s.out)
		rtltest.Run(t, rtltest.Bench{
			Module: "num_requant",
			Params: []rtl.Param{rtltest.P("IN_W", s.in), rtltest.P("SHIFT", s.shift), rtltest.P("OUT_W", s.out),
				rtltest.P("OUT_SIGNED", flag(c.Signed)), rtltest.P("ROUND", c.Round), rtltest.P("OVER", c.Over)},
			In:       []rtltest.Port{{Name: "in", Signed: true}},
			Out:      []rtltest.Port{{Name: "out"}},
			Pipeline: true,
			BigModel: func(in [][]*big.Int) [][]*big.Int { return [][]*big.Int{{c.Of(in[0][0])}} },
		})
	}
}

// TestRequantDefinition checks the model itself against the closed formulas for the rounding of v / 2^n.
func TestRequantDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v, n := r.Int64N(1<<12)-1<<11, 1+r.IntN(6)
		half, neg, pos := int64(1)<<(n-1), int64(0), int64(0)
		if v < 0 {
			neg = 1
		}
		if v > 0 {
			pos = 1
		}
		want := [9]int64{(v + half - 1 + v>>n&1) >> n, (v + half - neg) >> n, (v + half) >> n, (v + half - 1) >> n,
			(v + half - (1 - neg)) >> n, v >> n, (v + 2*half - 1) >> n, (v + neg*(2*half-1)) >> n, (v + pos*(2*half-1)) >> n}
		for round, w := range want {
			if got := num.Quotient(big.NewInt(v), big.NewInt(2*half), round); got.Int64() != w {
				t.Fatalf("round %d of %d / %d is %s, not %d", round, v, 2*half, got, w)
			}
		}
	}
}

// TestRequantBroken has the bench look at a module that floors where it should round to even.
func TestRequantBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	good, err := rtl.Files("num_requant")
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace(good[0].Data, []byte("assign up = half &&"), []byte("assign up = half && !half &&"), 1)
	if bytes.Equal(bad, good[0].Data) {
		t.Fatal("the line to break is gone")
	}
	c := num.Cast{Shift: 4, Width: 8, Signed: true}
	rtltest.RunBroken(t, "floors", rtltest.Bench{
		Module: "num_requant", Files: []rtl.File{{Name: good[0].Name, Data: bad}, good[1]}, Pipeline: true,
		In:       []rtltest.Port{{Name: "in", Signed: true}},
		Out:      []rtltest.Port{{Name: "out"}},
		BigModel: func(in [][]*big.Int) [][]*big.Int { return [][]*big.Int{{c.Of(in[0][0])}} },
	})
}
