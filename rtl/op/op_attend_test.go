// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// attend is a point of op_attend_scores or op_attend_sum, named as there.
type attend struct {
	queries, keys, heads, groups, size, row, f, r int
	aW, bW                                        int
	aSigned, bSigned, causal                      bool
	offset, pipe                                  int
	behind                                        int // KEYS less AHEAD
	parts                                         int // 0: one
	cast                                          num.Cast
	mult, style                                   string
}

// sees says that query t sees key j.
func (c attend) sees(t, j int) bool { return j < c.keys && (!c.causal || j <= t+c.offset) }

// key is the number of a feature in a frame of keys or values.
func (c attend) key(head, j, d int) int { return (j*c.groups+head*c.groups/c.heads)*c.size + d }

// scores is what op_attend_scores computes of a frame.
func (c attend) scores(q, k []int64) (out []int64) {
	for row := range c.queries * c.heads {
		for j := range c.row {
			sum := new(big.Int)
			for d := range c.size {
				if c.sees(row/c.heads, j) {
					sum.Add(sum, big.NewInt(q[row*c.size+d]*k[c.key(row%c.heads, j, d)]))
				}
			}
			out = append(out, c.cast.Of(sum).Int64())
		}
	}
	return out
}

// sums is what op_attend_sum computes of a frame.
func (c attend) sums(p, v []int64) (out []int64) {
	for row := range c.queries * c.heads {
		for d := range c.size {
			sum := new(big.Int)
			for j := range c.row {
				if c.sees(row/c.heads, j) {
					sum.Add(sum, big.NewInt(p[row*c.row+j]*v[c.key(row%c.heads, j, d)]))
				}
			}
			out = append(out, c.cast.Of(sum).Int64())
		}
	}
	return out
}

// gen has extreme codes of either sign meet; the bench's own frames are alike on both streams.
func (c attend) gen(beats [2]int, _ *rand.Rand, port, frame int) []int64 {
	if frame != 2 && frame != 3 {
		return nil
	}
	least, most := bounds([]int{c.aW, c.bW}[port], []bool{c.aSigned, c.bSigned}[port])
	codes := make([]int64, beats[port])
	for i := range codes {
		if codes[i] = least; frame == 2+port {
			codes[i] = most
		}
	}
	return codes
}

// bench is one of either module.
func (c attend) bench(module string) rtltest.Bench {
	p := rtltest.P
	params := []rtl.Param{p("QUERIES", c.queries), p("KEYS", c.keys), p("HEADS", c.heads), p("GROUPS", c.groups),
		p("SIZE", c.size), p("ROW", c.row), p("F", c.f), p("R", c.r), p("A_W", c.aW), p("A_SIGNED", flag(c.aSigned)),
		p("B_W", c.bW), p("B_SIGNED", flag(c.bSigned)), p("CAUSAL", flag(c.causal)), p("OFFSET", c.offset),
		p("SHIFT", c.cast.Shift), p("OUT_W", c.cast.Width), p("OUT_SIGNED", flag(c.cast.Signed)), p("ROUND", c.cast.Round),
		p("OVER", c.cast.Over), p("TREE_PIPE", max(c.pipe, 1))}
	if c.behind > 0 {
		params = append(params, p("AHEAD", c.keys-c.behind))
	}
	if c.parts > 1 {
		params = append(params, p("PARTS", c.parts))
	}
	if c.mult != "" {
		params = append(params, text("MULT", c.mult))
	}
	if c.style != "" {
		params = append(params, text("STYLE", c.style))
	}
	width, lanes, model, outLanes := c.size, c.f, c.scores, c.r
	if module == "op_attend_sum" {
		width, lanes, model, outLanes = c.row, c.r, c.sums, c.f
	}
	elems := [2]int{c.queries * c.heads * width, c.keys * c.groups * c.size}
	return rtltest.Bench{
		Module: module, Params: params,
		In: []rtltest.Port{{Name: "a", Lanes: lanes, Signed: c.aSigned, Beats: elems[0] / lanes},
			{Name: "b", Lanes: c.f, Signed: c.bSigned, Beats: elems[1] / c.f}},
		Out:   []rtltest.Port{{Name: "out", Lanes: outLanes, Signed: c.cast.Signed}},
		Model: func(in [][]int64) [][]int64 { return [][]int64{model(in[0], in[1])} },
		Gen:   func(r *rand.Rand, port, frame int) []int64 { return c.gen(elems, r, port, frame) },
		Seed:  uint64(c.queries + c.keys), Frames: 12,
	}
}

var attends = []attend{
	{queries: 4, keys: 4, heads: 2, groups: 2, size: 8, row: 4, f: 4, r: 1, aW: 8, bW: 8, aSigned: true, bSigned: true,
		cast: num.Cast{Shift: 7, Width: 8, Signed: true}},
	{queries: 1, keys: 1, heads: 1, groups: 1, size: 1, row: 1, f: 1, r: 1, aW: 4, bW: 4, aSigned: true, bSigned: true,
		cast: num.Cast{Shift: 2, Width: 6, Signed: true}},
	{queries: 5, keys: 3, heads: 4, groups: 2, size: 6, row: 4, f: 2, r: 2, aW: 6, bW: 5, bSigned: true,
		cast: num.Cast{Shift: 3, Width: 9, Signed: true, Round: num.Up}, mult: "pack"},
	{queries: 1, keys: 7, heads: 2, groups: 1, size: 4, row: 8, f: 4, r: 4, aW: 8, bW: 8, aSigned: true,
		cast: num.Cast{Shift: 6, Width: 12, Signed: true, Round: num.Floor}, pipe: 2, mult: "dsp"},
	{queries: 7, keys: 1, heads: 1, groups: 1, size: 3, row: 3, f: 1, r: 1, aW: 3, bW: 7, aSigned: true, bSigned: true,
		cast: num.Cast{Width: 8, Signed: true, Over: num.Symmetric}},
	{queries: 5, keys: 5, heads: 2, groups: 1, size: 4, row: 5, f: 2, r: 1, aW: 8, bW: 8, aSigned: true, bSigned: true,
		causal: true, cast: num.Cast{Shift: 8, Width: 8, Signed: true}},
	{queries: 3, keys: 6, heads: 3, groups: 3, size: 2, row: 6, f: 2, r: 3, aW: 8, bW: 8, bSigned: true, causal: true,
		offset: 3, cast: num.Cast{Shift: 8, Width: 8, Signed: true}, pipe: 2, style: "block"},
	{queries: 6, keys: 5, heads: 1, groups: 1, size: 4, row: 6, f: 4, r: 2, aW: 16, bW: 16, aSigned: true, bSigned: true,
		causal: true, offset: -2, cast: num.Cast{Shift: 14, Width: 16, Signed: true}},
	{queries: 3, keys: 7, heads: 2, groups: 2, size: 2, row: 7, f: 1, r: 7, aW: 5, bW: 5, causal: true, offset: -1,
		cast: num.Cast{Shift: 1, Width: 7}, mult: "lut"},
	{queries: 2, keys: 4, heads: 2, groups: 1, size: 6, row: 4, f: 2, r: 4, aW: 8, bW: 7, aSigned: true, causal: true,
		offset: 9, cast: num.Cast{Shift: 9, Width: 8, Signed: true}, mult: "pack", style: "distributed"},
	{queries: 1, keys: 5, heads: 1, groups: 1, size: 4, row: 6, f: 2, r: 2, aW: 4, bW: 4, aSigned: true, bSigned: true,
		causal: true, offset: 2, cast: num.Cast{Shift: 3, Width: 8, Signed: true}},
	{queries: 2, keys: 6, heads: 1, groups: 1, size: 5, row: 6, f: 5, r: 2, aW: 16, bW: 8, bSigned: true,
		cast: num.Cast{Shift: 16, Width: 8, Signed: true}},
	// More queries than keys, of which the last ones see all; sums that round to a power of two.
	{queries: 6, keys: 3, heads: 2, groups: 1, size: 2, row: 4, f: 1, r: 2, aW: 5, bW: 4, bSigned: true, causal: true,
		cast: num.Cast{Shift: 2, Width: 9, Signed: true}},
	{queries: 2, keys: 2, heads: 1, groups: 1, size: 2, row: 2, f: 1, r: 1, aW: 8, bW: 8,
		cast: num.Cast{Shift: 11, Width: 8}},
	// Stores that hold less than two frames: circles of 7 and 3 tiles.
	{queries: 5, keys: 5, heads: 2, groups: 2, size: 4, row: 5, f: 2, r: 1, aW: 8, bW: 8, aSigned: true, bSigned: true,
		causal: true, behind: 3, cast: num.Cast{Shift: 8, Width: 8, Signed: true}},
	{queries: 4, keys: 5, heads: 2, groups: 1, size: 2, row: 6, f: 2, r: 2, aW: 6, bW: 5, bSigned: true, causal: true,
		offset: 1, behind: 5, cast: num.Cast{Shift: 3, Width: 9, Signed: true}},
	// Tokens in parts, whose heads have keys of their own, or share them.
	{queries: 5, keys: 5, heads: 4, groups: 4, size: 4, row: 5, f: 2, r: 1, aW: 8, bW: 8, aSigned: true, bSigned: true,
		causal: true, behind: 5, parts: 2, cast: num.Cast{Shift: 8, Width: 8, Signed: true}},
	{queries: 4, keys: 4, heads: 6, groups: 3, size: 2, row: 6, f: 2, r: 3, aW: 6, bW: 5, bSigned: true, causal: true,
		behind: 4, parts: 3, cast: num.Cast{Shift: 3, Width: 9, Signed: true}},
	{queries: 6, keys: 6, heads: 2, groups: 2, size: 3, row: 6, f: 1, r: 2, aW: 5, bW: 5, aSigned: true, bSigned: true,
		causal: true, behind: 2, parts: 2, cast: num.Cast{Shift: 3, Width: 8, Signed: true}, style: "block"},
}

// packable is the point, without packed products where lanes of the module make no pairs, or codes are too wide.
func (c attend) packable(module string) attend {
	lanes, wide := map[string]int{"op_attend_scores": c.r, "op_attend_sum": c.f}[module], c.bW+1-flag(c.bSigned)
	if c.mult == "pack" && (lanes%2 != 0 || c.aW+2*wide+1 > 27) {
		c.mult = "auto"
	}
	return c
}

func TestAttend(t *testing.T) {
	t.Parallel()
	for _, c := range tools.Few(3, attends) {
		for _, module := range []string{"op_attend_scores", "op_attend_sum"} {
			rtltest.Run(t, c.packable(module).bench(module))
		}
	}
	for seed := range uint64(tools.Sample(2, 4)) {
		rtltest.Run(t, attendPoint(seed))
	}
}

// attendPoint is the bench of a random point.
func attendPoint(seed uint64) rtltest.Bench {
	module := []string{"op_attend_scores", "op_attend_sum"}[seed%2]
	return randomAttend(rand.New(rand.NewPCG(seed, 17))).packable(module).bench(module)
}

// randomAttend draws a point.
func randomAttend(r *rand.Rand) attend {
	c := attend{queries: 1 + r.IntN(7), keys: 1 + r.IntN(7), groups: 1 + r.IntN(3), f: 1 + r.IntN(4), r: 1 + r.IntN(4),
		aW: 2 + r.IntN(8), bW: 2 + r.IntN(7), aSigned: r.IntN(2) == 0, bSigned: r.IntN(2) == 0, causal: r.IntN(2) == 0,
		offset: r.IntN(9) - 4, pipe: 1 + r.IntN(2)}
	c.heads, c.size = c.groups*(1+r.IntN(3)), c.f*(1+r.IntN(4))
	if r.IntN(2) == 0 {
		c.behind = c.keys - r.IntN((c.keys+c.r-1)/c.r)*c.r
	}
	c.row = (c.keys + c.r - 1 + r.IntN(c.r+1)) / c.r * c.r
	c.mult = []string{"auto", "lut", "pack"}[r.IntN(3)]
	c.style = []string{"auto", "block", "distributed"}[r.IntN(3)]
	if r.IntN(4) == 0 {
		c.aW, c.bW, c.mult = 16, 16, "auto"
	}
	c.cast = num.Cast{Shift: r.IntN(c.aW+c.bW) - 1, Width: 2 + r.IntN(15), Signed: r.IntN(4) > 0, Round: r.IntN(9),
		Over: r.IntN(3)}
	return c
}

// TestAttendBroken has the bench look at faults in the store, in the walk and in the sums.
func TestAttendBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct {
		point            int
		module           string
		file, old, fault string
	}{
		{2, "op_attend_sum", "mem_kv.sv", "lane  <= frame_ends || lane", "lane  <= lane"}, // values one token off
		{5, "op_attend_sum", "mem_kv.sv", "token >= need", "token + NW'(1) >= need"},
		{7, "op_attend_scores", "mem_kv.sv", "word  <= lives ?", "word  <= lives || !lives ?"},
		{7, "op_attend_scores", "op_attend_walk.sv", "32'(token) == QUERIES - 2 ? NW'(KEYS) :", "QUERIES == 0 ? NW'(KEYS) :"},
		{5, "op_attend_scores", "op_attend_walk.sv", ": OFFSET + 1;", ": OFFSET;"}, // the bound
		{12, "op_attend_sum", "op_attend_walk.sv", "NW'(sees && bound_q != NW'(KEYS))", "NW'(sees)"},
		{13, "op_attend_sum", "op_attend_cast.sv", "IN_W - SHIFT : 1) + 1", "IN_W - SHIFT : 1)"},
		{2, "op_attend_scores", "op_attend_walk.sv", "share == CW'(SHARE - 1)", "share == CW'(0)"},
		{2, "op_attend_sum", "op_attend_sum.sv", ".en(en && adds), .in(acc)", ".en(en), .in(acc)"},
		{2, "op_attend_scores", "op_attend_dots.sv", ".a(y_s[(2*i+1)*N*YW+:N*YW]), .b(y_s[2*i*N*YW+:N*YW])",
			".a(y_s[2*i*N*YW+:N*YW]), .b(y_s[(2*i+1)*N*YW+:N*YW])"},
		{0, "op_attend_scores", "op_attend_row.sv", "AW'({beat, from})", "AW'({beat, into})"},
		// Parts of a token: one is read before it has come, one meets the keys of the first, one counts as a token.
		{16, "op_attend_sum", "op_attend_walk.sv", "PARTS > 1 ? need_q + NW'(1)", "PARTS > 1 ? need_q + NW'(token_ends)"},
		{17, "op_attend_scores", "op_attend_walk.sv", "group_ends ? AW'(BEATS)", "group_ends && !part_ends ? AW'(BEATS)"},
		{17, "op_attend_scores", "mem_kv.sv", ".step(write && part_ends)", ".step(write)"},
		{18, "op_attend_sum", "op_attend_walk.sv", ".step(step && part_ends)", ".step(step)"},
		{18, "op_attend_sum", "mem_kv.sv", "PARTS : 1) * AHEAD", "PARTS : 1) * TOKENS"},
	} {
		broken(t, c.file, c.old, c.fault, func() rtltest.Bench { return attends[c.point].packable(c.module).bench(c.module) })
	}
}
