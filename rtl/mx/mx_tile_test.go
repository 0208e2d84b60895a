// SPDX-License-Identifier: Apache-2.0

package mx_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// tile is a point of mx_tile, named as there.
type tile struct{ lanes, inW, signed, exp, w, k, line, tokens, round int }

// lines are the codes and scales of every element of a frame v, in its order.
func (c tile) lines(v []int64) (codes, scales []int64) {
	size := c.line * c.lanes
	codes, scales = make([]int64, len(v)), make([]int64, len(v))
	for e := range size {
		at := 0
		for _, n := range blocks(c.tokens, c.tokens, c.k) {
			column := make([]int64, n)
			for t := range column {
				column[t] = v[(at+t)*size+e]
			}
			scale, q := encodeBlock(column, c.exp, c.w, c.round)
			for t := range column {
				codes[(at+t)*size+e], scales[(at+t)*size+e] = q[t], scale
			}
			at += n
		}
	}
	return codes, scales
}

func (c tile) bench() rtltest.Bench {
	elems := c.line * c.lanes * c.tokens
	return rtltest.Bench{
		Module: "mx_tile", Seed: uint64(c.line),
		Params: params("LANES", c.lanes, "IN_W", c.inW, "IN_SIGNED", c.signed, "EXP", c.exp, "W", c.w, "K", c.k, "LINE",
			c.line, "TOKENS", c.tokens, "ROUND", c.round),
		In:  []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: c.signed != 0, Beats: elems / c.lanes}},
		Out: []rtltest.Port{{Name: "out"}},
		Gen: func(r *rand.Rand, _, frame int) []int64 { return small(r, frame, elems, c.inW, c.signed != 0) },
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			v := make([]int64, elems)
			for i := range v {
				v[i] = in[0][i].Int64()
			}
			var out []*big.Int
			codes, scales := c.lines(v)
			for i := 0; i < elems; i += c.lanes {
				b := new(big.Int)
				for l := c.lanes - 1; l >= 0; l-- {
					b.Lsh(b, 8).Add(b, big.NewInt(scales[i+l]))
				}
				for l := c.lanes - 1; l >= 0; l-- {
					b.Lsh(b, uint(c.w)).Add(b, num.Fit(big.NewInt(codes[i+l]), c.w, false, num.Wrap))
				}
				out = append(out, b)
			}
			return [][]*big.Int{out}
		},
	}
}

var tiles = []tile{
	{2, 16, 1, -12, 8, 4, 3, 10, 0}, {1, 12, 0, -12, 8, 4, 1, 9, 0}, {3, 9, 1, -133, 5, 32, 2, 5, 5},
	{1, 8, 1, 0, 16, 2, 4, 4, 1}, {2, 7, 1, 3, 4, 1, 1, 3, 0}, {1, 16, 1, 120, 8, 3, 2, 1, 8},
}

func TestTile(t *testing.T) {
	for _, c := range tiles {
		rtltest.Run(t, c.bench())
	}
}

// TestTileBroken has the bench look at tiles that begin or end one off, and at features that take another's scale.
func TestTileBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct {
		point            int
		file, old, fault string
	}{
		{0, "mx_tile_count.sv", "T_W'(BLOCK - 1)", "T_W'(BLOCK - 2)"}, // a tile one token short
		{0, "mx_tile_count.sv", "N_W'(TOKENS - 1)", "N_W'(TOKENS - 2)"},
		{0, "mx_tile.sv", "(first_1 ? (LANES * IN_W)'(0) : ors[at_1])", "(first_1 ? ors[at_1] : ors[at_1])"},
		{0, "mx_tile.sv", "{bank_get, out_at}", "{bank_get, out_at ^ at_2}"},
		{3, "mx_tile.sv", "if (last_2) lengths", "if (last_2 && ends_2) lengths"},
	} {
		broken(t, tiles[c.point].bench(), c.file, c.old, c.fault)
	}
}
