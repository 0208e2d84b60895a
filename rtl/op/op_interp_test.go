// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// interp is a function by samples, with the names of the definition.
type interp struct {
	f           func(float64) float64
	lanes       int
	in, out     format
	fx, d, fo   int
	edge        int
	round, over int
	v           []int64
	frames      int
	beats       int
}

func gelu(x float64) float64    { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
func silu(x float64) float64    { return x * sigmoid(x) }

// sample computes v, whose last places do not matter here.
func (p *interp) sample() {
	for j := range 1<<(p.d+6) + 1 {
		x := float64(j)/32 - float64(int(1)<<p.d)
		p.v = append(p.v, int64(math.RoundToEven(math.Ldexp(p.f(x), p.fo+6))))
	}
}

// segment is f0, c1 and c2 of segment i.
func (p *interp) segment(i int64) (f0, c1, c2 int64) {
	f0, fm, f1 := p.v[2*i], p.v[2*i+1], p.v[2*i+2]
	return f0, 4*fm - 3*f0 - f1, 2 * (f0 - 2*fm + f1)
}

// code is the result for one code.
func (p *interp) code(x int64) int64 {
	cast := num.Cast{Shift: 6, Width: p.out.width, Signed: p.out.signed, Round: p.round, Over: p.over}
	fx := p.fx
	for ; fx < 5; fx++ {
		x *= 2
	}
	most := int64(1) << (p.d + fx)
	if x >= -most && x < most {
		u, r := x+most, fx-4
		f0, c1, c2 := p.segment(u >> r)
		low := u & (1<<r - 1)
		return cast.Of(big.NewInt(f0 + (c1+c2*low>>r)*low>>r)).Int64()
	}
	y := big.NewInt(0)
	if cast.Shift = -p.fo; x > 0 {
		y.SetInt64(1)
	} else if p.edge == 2 {
		y.SetInt64(-1)
	}
	if p.edge == 0 && x > 0 {
		y.SetInt64(x)
		cast.Shift += fx
	}
	return cast.Of(y).Int64()
}

func (p *interp) bench() rtltest.Bench {
	p.sample()
	const vW, c1W, c2W = 28, 24, 18
	image := rtl.Image{Param: "IMAGE", Width: vW + c1W + c2W}
	for i := range int64(1) << (p.d + 5) {
		f0, c1, c2 := p.segment(i)
		word := new(big.Int)
		for _, field := range []struct {
			value int64
			width int
		}{{c2, c2W}, {c1, c1W}, {f0, vW}} {
			word.Lsh(word, uint(field.width)).Add(word, num.Fit(big.NewInt(field.value), field.width, false, num.Wrap))
		}
		image.Words = append(image.Words, word)
	}
	n, next := rtltest.P, int64(0)
	b := rtltest.Bench{
		Module: "op_interp", Images: []rtl.Image{image},
		Params: []rtl.Param{n("LANES", p.lanes), n("IN_W", p.in.width), n("IN_SIGNED", flag(p.in.signed)), n("F", p.fx),
			n("D", p.d), n("FO", p.fo), n("OUT_W", p.out.width), n("OUT_SIGNED", flag(p.out.signed)), n("ROUND", p.round),
			n("OVER", p.over), n("EDGE", p.edge), n("V_W", vW), n("C1_W", c1W), n("C2_W", c2W), n("BEATS", p.beats)},
		In:  []rtltest.Port{{Name: "in", Lanes: p.lanes, Signed: p.in.signed, Beats: p.beats}},
		Out: []rtltest.Port{{Name: "out", Lanes: p.lanes, Signed: p.out.signed}},
		Model: func(in [][]int64) [][]int64 {
			y := make([]int64, len(in[0]))
			for i, x := range in[0] {
				y[i] = p.code(x)
			}
			return [][]int64{y}
		},
		Frames: p.frames,
	}
	// All codes, with a stride where there are more than a run takes.
	least, most := bounds(p.in.width, p.in.signed)
	stride := max(1, (most-least)/int64(p.frames*p.beats*p.lanes)|1)
	b.Gen = func(*rand.Rand, int, int) []int64 {
		x := make([]int64, p.lanes*p.beats)
		for i := range x {
			x[i] = least + next%(most-least+1)
			next += stride
		}
		return x
	}
	return b
}

// interps are functions with each edge, few and many bits, and domains that the input leaves and does not.
var interps = []interp{
	{f: gelu, lanes: 2, in: fixed16, fx: 12, d: 3, fo: 12, out: fixed16, beats: 64, frames: 40},
	{f: gelu, lanes: 1, in: fixed16, fx: 8, d: 3, fo: 8, out: fixed16, beats: 50, frames: 90},
	{f: silu, lanes: 1, in: fixed8, fx: 2, d: 4, fo: 1, out: fixed8, beats: 8, frames: 32},
	{f: sigmoid, lanes: 3, in: format{11, true}, fx: 5, d: 4, fo: 8, out: format{8, false}, edge: 1, beats: 10,
		frames: 70},
	{f: sigmoid, lanes: 1, in: format{9, false}, fx: 4, d: 4, fo: 12, out: fixed16, edge: 1, beats: 8, frames: 64,
		round: num.Floor},
	{f: math.Tanh, lanes: 1, in: format{12, true}, fx: 8, d: 3, fo: 7, out: fixed8, edge: 2, beats: 64, frames: 64},
	{f: math.Erf, lanes: 2, in: format{12, true}, fx: 7, d: 2, fo: 15, out: fixed16, edge: 2, over: num.Symmetric,
		beats: 32, frames: 64},
	{f: math.Tanh, lanes: 1, in: format{5, true}, fx: -1, d: 3, fo: 6, out: fixed8, edge: 2, beats: 4, frames: 30},
	{f: silu, lanes: 1, in: format{10, true}, fx: 4, d: 4, fo: -2, out: format{4, true}, round: num.Up, beats: 32,
		frames: 32},
}

func TestInterp(t *testing.T) {
	for i := range interps {
		p := interps[i]
		rtltest.Run(t, p.bench())
	}
}

// TestInterpAnchors holds the model to values that the definition gives.
func TestInterpAnchors(t *testing.T) {
	for _, c := range []struct {
		name string
		p    interp
		v    int64
		want string
	}{
		{"gelu", interp{f: gelu, d: 3}, 220553, "[-126 0 1917 3446 12329]"},
		{"silu", interp{f: silu, d: 4}, 191643, "[-900 0 1699 2994 11767]"},
		{"tanh", interp{f: math.Tanh, d: 3, edge: 2}, 199647, "[-3996 1 2299 3119 4076]"},
	} {
		c.p.in, c.p.out, c.p.fx, c.p.fo = fixed16, fixed16, 12, 12
		c.p.sample()
		var got []int64
		for _, x := range []int64{-9000, 1, 2600, 4096, 12345} {
			got = append(got, c.p.code(x))
		}
		if one := c.p.v[32+32<<c.p.d]; fmt.Sprint(got) != c.want || one != c.v {
			t.Errorf("%s: %v, and the sample at 1 is %d", c.name, got, one)
		}
	}
}

// TestInterpBroken has the bench look at faults in one place each.
func TestInterpBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct{ old, fault string }{
		{"wire signed [C2_W-1:0] first_high", "wire [C2_W-1:0] first_high"},
		{"{!x[D+XF], ", "{x[D+XF], "},
		{".DEPTH(3)) u_f0", ".DEPTH(2)) u_f0"},
		{"!x[X_W-1] && |x[X_W-2:D+XF]", "!x[X_W-1] && x[X_W-2]"},
		{"2'b11 : 2'b00", "2'b10 : 2'b00"},
	} {
		broken(t, "op_interp_lane.sv", c.old, c.fault, func() rtltest.Bench {
			p := interp{f: math.Tanh, lanes: 1, in: format{12, true}, fx: 6, d: 3, fo: 6, out: fixed8, edge: 2, beats: 64,
				frames: 64}
			return p.bench()
		})
	}
}
