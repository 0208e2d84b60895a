// SPDX-License-Identifier: Apache-2.0

package mx_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// attend is a point of mx_attend_scores, named as there.
type attend struct {
	queries, keys, heads, groups, size, f, r, k int
	aW, bW                                      int
	causal, clamp                               bool
	offset, pipe                                int // of the keys that are seen; registers of trees
	shift, span, low, outW                      int // shift is OFFSET
	behind                                      int // KEYS less AHEAD
	parts                                       int // 0: one
	mult, style                                 string
}

// dW holds every sum of a block.
func (c attend) dW() int {
	w := c.aW + c.bW
	for n := 1; n < min(c.k, c.size); n *= 2 {
		w++
	}
	return w
}

// stream takes frames of a stream apart: elements in order, and the scale of each.
func (c attend) stream(beats []*big.Int, w int) (codes, scales []int64) {
	for _, b := range beats {
		scale, some := parts(b, c.f, w)
		codes = append(codes, some...)
		for range some {
			scales = append(scales, scale)
		}
	}
	return codes, scales
}

// scores is the definition.
func (c attend) scores(in [][]*big.Int) [][]*big.Int {
	acc := num.Cast{Width: c.outW, Signed: true, Round: num.Floor, Over: num.Saturate}
	q, qs := c.stream(in[0], c.aW)
	k, ks := c.stream(in[1], c.bW)
	var out []*big.Int
	for row := range c.queries * c.heads {
		for j := range c.keys {
			sum := new(big.Int)
			for at, n := range blocks(c.size, c.size, c.k) {
				x, y := row*c.size+at*c.k, (j*c.groups+row%c.heads*c.groups/c.heads)*c.size+at*c.k
				d := new(big.Int)
				for i := range n {
					if !c.causal || j <= row/c.heads+c.offset {
						d.Add(d, big.NewInt(q[x+i]*k[y+i]))
					}
				}
				sum.Add(sum, acc.Divided(d, int(qs[x]+ks[y])+c.shift-c.low, 1))
			}
			out = append(out, acc.Divided(sum, 0, 1))
		}
	}
	return [][]*big.Int{out}
}

// gen draws frames of blocks: extreme codes of either sign, blocks of zeros, scales within the span or anywhere.
func (c attend) gen(r *rand.Rand, port, frame int) []int64 {
	rows, w := c.queries*c.heads, c.aW
	if port == 1 {
		rows, w = c.keys*c.groups, c.bW
	}
	var out []int64
	for range rows {
		for _, n := range blocks(c.size, c.size, c.k) {
			scale := 120 + r.Int64N(8)
			if c.clamp && r.IntN(6) == 0 {
				scale = r.Int64N(255)
			}
			zero := r.IntN(8) == 0
			for i := 0; i < n; i += c.f {
				codes := make([]int64, c.f)
				for l := range codes {
					switch least := int64(-1) << (w - 1); {
					case zero:
					case frame%4 == 1:
						codes[l] = least
					case frame%4 == 2:
						codes[l] = least + int64(port)*(-2*least-1)
					default:
						codes[l] = r.Int64N(-2*least) + least
					}
				}
				if zero {
					scale = 0
				}
				out = append(out, beat(scale, codes, w).Int64())
			}
		}
	}
	return out
}

func (c attend) bench() rtltest.Bench {
	flag := map[bool]int{true: 1}
	p := params("QUERIES", c.queries, "KEYS", c.keys, "HEADS", c.heads, "GROUPS", c.groups, "SIZE", c.size, "ROW", c.keys,
		"F", c.f, "R", c.r, "K", c.k, "A_W", c.aW, "B_W", c.bW, "CAUSAL", flag[c.causal], "OFFSET_KEYS", c.offset,
		"D_W", c.dW(), "OFFSET", c.shift, "SPAN", c.span, "LOW", c.low, "CLAMP", flag[c.clamp], "SUM_W", c.outW+6,
		"OUT_W", c.outW, "TREE_PIPE", max(c.pipe, 1), "AHEAD", c.keys-c.behind, "PARTS", max(c.parts, 1))
	for name, text := range map[string]string{"MULT": c.mult, "STYLE": c.style} {
		if text != "" {
			p = append(p, rtl.Param{Name: name, Value: `"` + text + `"`})
		}
	}
	beats := c.size / c.f
	return rtltest.Bench{
		Module: "mx_attend_scores", Params: p, Seed: uint64(c.queries + c.keys), Frames: 12,
		In:  []rtltest.Port{{Name: "a", Beats: c.queries * c.heads * beats}, {Name: "b", Beats: c.keys * c.groups * beats}},
		Out: []rtltest.Port{{Name: "out", Lanes: c.r, Signed: true}},
		Gen: c.gen, BigModel: c.scores,
	}
}

var attends = []attend{
	{queries: 4, keys: 4, heads: 2, groups: 2, size: 8, f: 4, r: 1, k: 32, aW: 8, bW: 8, clamp: true,
		shift: -224, span: 60, low: 20, outW: 30},
	{queries: 3, keys: 6, heads: 2, groups: 1, size: 10, f: 2, r: 2, k: 4, aW: 8, bW: 6, clamp: true,
		shift: -222, span: 50, low: 18, outW: 24, causal: true, pipe: 2, behind: 4},
	{queries: 5, keys: 5, heads: 2, groups: 2, size: 6, f: 1, r: 5, k: 2, aW: 5, bW: 5, shift: -236, span: 18, low: 4,
		outW: 36, causal: true, offset: 2, style: "distributed"},
	{queries: 1, keys: 3, heads: 1, groups: 1, size: 4, f: 4, r: 1, k: 4, aW: 8, bW: 8, shift: -240, span: 14, outW: 40,
		mult: "lut"},
	{queries: 6, keys: 4, heads: 4, groups: 2, size: 6, f: 2, r: 4, k: 4, aW: 8, bW: 7, clamp: true, shift: -220, span: 40,
		low: 16, outW: 16, causal: true, offset: -2, mult: "pack", style: "block"},
	{queries: 4, keys: 4, heads: 4, groups: 2, size: 6, f: 2, r: 2, k: 4, aW: 8, bW: 6, clamp: true, shift: -222, span: 50,
		low: 18, outW: 24, causal: true, behind: 4, parts: 2},
}

// sums is what mx_attend_sum computes: the blocks of the keys are k long, a bench of r keys a beat.
func (c attendSum) sums(in [][]*big.Int) [][]*big.Int {
	acc := num.Cast{Width: c.outW, Signed: true, Round: num.Floor, Over: num.Saturate}
	var p, ps, v []int64
	for _, b := range in[0] {
		scale, some := parts(b, c.r, c.aW)
		p = append(p, some...)
		for range some {
			ps = append(ps, scale)
		}
	}
	for _, x := range in[1] {
		v = append(v, x.Int64())
	}
	q, qs := c.tile().lines(v)
	var out []*big.Int
	for row := range c.queries * c.heads {
		for e := range c.size {
			sum := new(big.Int)
			for at, n := range blocks(c.keys, c.keys, c.k) {
				d, first := new(big.Int), at*c.k
				value := func(s int) int { return (s*c.groups+row%c.heads*c.groups/c.heads)*c.size + e }
				for s := first; s < first+n; s++ {
					if !c.causal || s <= row/c.heads+c.offset {
						d.Add(d, big.NewInt(p[row*c.keys+s]*q[value(s)]))
					}
				}
				sum.Add(sum, acc.Divided(d, int(ps[row*c.keys+first]+qs[value(first)])+c.shift-c.low, 1))
			}
			out = append(out, acc.Divided(sum, 0, 1))
		}
	}
	return [][]*big.Int{out}
}

// attendSum is a point of mx_attend_sum: an attend, of values of vW bits with exponent vExp.
type attendSum struct {
	attend
	vW, vExp int
}

func (c attendSum) tile() tile {
	return tile{lanes: c.f, inW: c.vW, signed: 1, exp: c.vExp, w: c.bW, k: c.k, line: c.groups * c.size / c.f,
		tokens: c.keys}
}

func (c attendSum) bench() rtltest.Bench {
	flag := map[bool]int{true: 1}
	rows := attend{queries: c.queries, heads: c.heads, size: c.keys, f: c.r, k: c.k, aW: c.aW, clamp: c.clamp}
	p := params("QUERIES", c.queries, "KEYS", c.keys, "HEADS", c.heads, "GROUPS", c.groups, "SIZE", c.size, "F", c.f,
		"R", c.r, "K", c.k, "A_W", c.aW, "V_W", c.vW, "V_EXP", c.vExp, "B_W", c.bW, "CAUSAL", flag[c.causal], "OFFSET_KEYS",
		c.offset, "D_W", attend{size: c.keys, k: c.k, aW: c.aW, bW: c.bW}.dW(), "OFFSET", c.shift, "SPAN", c.span, "LOW",
		c.low, "CLAMP", flag[c.clamp], "SUM_W", c.outW+6, "OUT_W", c.outW, "TREE_PIPE", max(c.pipe, 1), "AHEAD",
		c.keys-c.behind)
	values := c.keys * c.groups * c.size
	return rtltest.Bench{
		Module: "mx_attend_sum", Params: p, Seed: uint64(c.queries + c.keys), Frames: 12,
		In: []rtltest.Port{{Name: "a", Beats: c.queries * c.heads * c.keys / c.r},
			{Name: "b", Lanes: c.f, Signed: true, Beats: values / c.f}},
		Out: []rtltest.Port{{Name: "out", Lanes: c.f, Signed: true}},
		Gen: func(r *rand.Rand, port, frame int) []int64 {
			if port == 0 {
				return rows.gen(r, port, frame)
			}
			return small(r, frame, values, c.vW, true)
		},
		BigModel: c.sums,
	}
}

var attendSums = []attendSum{
	{attend{queries: 4, keys: 4, heads: 2, groups: 2, size: 4, f: 2, r: 2, k: 32, aW: 8, bW: 8, clamp: true, shift: -224,
		span: 60, low: 18, outW: 30}, 16, -3},
	{attend{queries: 3, keys: 10, heads: 2, groups: 1, size: 6, f: 2, r: 2, k: 4, aW: 8, bW: 8, clamp: true, shift: -220,
		span: 50, low: 17, outW: 24, causal: true, pipe: 2, behind: 6}, 12, 0},
	{attend{queries: 6, keys: 5, heads: 4, groups: 2, size: 3, f: 1, r: 1, k: 2, aW: 6, bW: 6, clamp: true, shift: -230,
		span: 40, low: 12, outW: 20, causal: true, offset: 2}, 9, -1},
	{attend{queries: 5, keys: 3, heads: 1, groups: 1, size: 4, f: 4, r: 3, k: 3, aW: 8, bW: 8, shift: -246, span: 30,
		low: 3, outW: 48, causal: true, offset: -2}, 8, 0},
}

func TestAttendSum(t *testing.T) {
	for _, c := range attendSums {
		rtltest.Run(t, c.bench())
	}
}

// TestAttendSumBroken has the bench look at a tile of values one token off, and at faults in what goes round.
func TestAttendSumBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct{ file, old, fault string }{
		{"mx_tile_count.sv", "N_W'(TOKENS - 1)", "N_W'(TOKENS - 2)"}, // the tile of the last values
		{"mx_attend_sum.sv", "if (at_last && block_last) opening <= last", "if (at_last) opening <= last"},
		{"mx_attend_sum.sv", ".en(en && enters), .in(window)", ".en(en), .in(window)"},
		{"mx_attend_sum.sv", "values[F*B_W+i*BS_W+:BS_W]", "values[F*B_W+:BS_W]"},
		{"mx_attend_sum.sv", "values[j*BW+i*B_W+:B_W]", "values[i*B_W+:B_W]"},
	} {
		broken(t, attendSums[1].bench(), c.file, c.old, c.fault)
	}
}

func TestAttendScores(t *testing.T) {
	for _, c := range attends {
		rtltest.Run(t, c.bench())
	}
}

// TestAttendScoresBroken has the bench look at faults in the scales, the blocks and the window.
func TestAttendScoresBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct {
		point      int
		old, fault string
	}{
		{2, "E_W'(keys[i*BW+F*B_W+:BS_W])", "E_W'(keys[(i+1)%R*BW+F*B_W+:BS_W])"},
		{1, "opening_q <= last", "opening_q <= 1'b0"},
		{1, "last || at == AT_W'(BLOCK - 1)", "at == AT_W'(BLOCK - 1)"}, // the short tail
		{4, "BEATS == 1 || fresh ?", "BEATS == 1 || !fresh ?"},
		{2, ".DEPTH(1 + TREE)) u_exponent", ".DEPTH(TREE)) u_exponent"},
	} {
		broken(t, attends[c.point].bench(), "mx_attend_scores.sv", c.old, c.fault)
	}
}

// broken wants the bench to see a fault in a file.
func broken(t *testing.T, b rtltest.Bench, file, old, fault string) {
	t.Helper()
	files, err := rtl.Files(b.Module)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name != file {
			continue
		}
		if bytes.Count(f.Data, []byte(old)) == 0 {
			t.Fatalf("%s does not hold %q", file, old)
		}
		f.Data = bytes.Replace(f.Data, []byte(old), []byte(fault), 1)
		b.Files = append(b.Files, f)
	}
	rtltest.RunBroken(t, fault, b)
}
