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

// rotate is a point of op_rotate, named as there.
type rotate struct {
	tokens, heads, size, turned, lanes int
	adjacent                           bool
	flush                              int
	x                                  format
	cW, frac                           int
	cast                               num.Cast
	mult                               string
	cos, sin                           []int64 // [token][pair]
}

// fill draws angles, the extremes among them.
func (c *rotate) fill(r *rand.Rand) {
	least, most := bounds(c.cW, true)
	for i := range c.tokens * c.turned / 2 {
		c.cos = append(c.cos, []int64{least, most, between(r, least, most)}[min(i%5, 2)])
		c.sin = append(c.sin, []int64{most, least, between(r, least, most)}[min(i%7, 2)])
	}
}

// pair is the partner of an element, the number of their pair, and whether the element is the second one.
func (c *rotate) pair(i int) (partner, number int, second bool) {
	half := c.turned / 2
	switch {
	case c.adjacent:
		return i ^ 1, i / 2, i%2 == 1
	case i < half:
		return i + half, i, false
	}
	return i - half, i - half, true
}

// model turns the rows of a frame.
func (c *rotate) model(x []int64) (y []int64) {
	for at, v := range x {
		i, row := at%c.size, at/c.size/c.heads*c.turned/2
		if i >= c.turned {
			y = append(y, c.cast.Of(new(big.Int).Lsh(big.NewInt(v), uint(c.frac))).Int64())
			continue
		}
		partner, number, second := c.pair(i)
		sin := c.sin[row+number]
		if !second {
			sin = -sin
		}
		sum := big.NewInt(v * c.cos[row+number])
		y = append(y, c.cast.Of(sum.Add(sum, big.NewInt(x[at-i+partner]*sin))).Int64())
	}
	return y
}

// image lists the pairs of the beats whose words differ, for each token.
func (c *rotate) image() rtl.Image {
	var words [][]int // numbers of pairs, -1 for elements that are not turned
	number := func(i int) int {
		if i >= c.turned {
			return -1
		}
		_, n, _ := c.pair(i)
		return n
	}
	for from := 0; from < c.size; from += c.lanes {
		var word []int
		for i := from; i < from+c.lanes; i++ {
			if n := number(i); !c.adjacent || c.lanes == 1 || i%2 == 0 {
				word = append(word, n)
			}
		}
		known := false
		for _, w := range words {
			known = known || w[0] == word[0]
		}
		if !known {
			words = append(words, word)
		}
	}
	im := rtl.Image{Param: "IMAGE", Width: len(words[0]) * 2 * c.cW}
	for t := range c.tokens {
		for _, w := range words {
			word := new(big.Int)
			for k := len(w) - 1; k >= 0; k-- {
				cos, sin := int64(1)<<c.frac, int64(0)
				if w[k] >= 0 {
					cos, sin = c.cos[t*c.turned/2+w[k]], c.sin[t*c.turned/2+w[k]]
				}
				for _, v := range []int64{sin, cos} {
					word.Lsh(word, uint(c.cW)).Add(word, num.Fit(big.NewInt(v), c.cW, false, num.Wrap))
				}
			}
			im.Words = append(im.Words, word)
		}
	}
	return im
}

func (c *rotate) bench() rtltest.Bench {
	p := rtltest.P
	b := rtltest.Bench{
		Module: "op_rotate",
		Params: []rtl.Param{p("TOKENS", c.tokens), p("HEADS", c.heads), p("SIZE", c.size), p("TURNED", c.turned),
			p("ADJACENT", flag(c.adjacent)), p("LANES", c.lanes), p("X_W", c.x.width), p("X_SIGNED", flag(c.x.signed)),
			p("C_W", c.cW), p("SHIFT", c.cast.Shift), p("OUT_W", c.cast.Width), p("OUT_SIGNED", flag(c.cast.Signed)),
			p("ROUND", c.cast.Round), p("OVER", c.cast.Over), p("FLUSH", c.flush)},
		Images: []rtl.Image{c.image()},
		In: []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: c.x.signed,
			Beats: c.tokens * c.heads * c.size / c.lanes}},
		Out:   []rtltest.Port{{Name: "out", Lanes: c.lanes, Signed: c.cast.Signed}},
		Model: func(in [][]int64) [][]int64 { return [][]int64{c.model(in[0])} },
		Seed:  uint64(c.size + c.lanes),
	}
	if c.mult != "" {
		b.Params = append(b.Params, text("MULT", c.mult))
	}
	return b
}

var to8 = num.Cast{Shift: 14, Width: 8, Signed: true}

// rotates are both ways of pairing, rows that are turned in part, and all ways in which beats hold pairs.
var rotates = []rotate{
	{tokens: 3, heads: 2, size: 8, turned: 8, lanes: 1, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 2, heads: 3, size: 8, turned: 4, lanes: 2, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 4, heads: 1, size: 6, turned: 6, lanes: 3, x: format{5, false}, cW: 7, frac: 5, mult: "lut",
		cast: num.Cast{Shift: 3, Width: 9, Signed: true, Round: num.Floor, Over: num.Wrap}},
	{tokens: 1, heads: 1, size: 2, turned: 2, lanes: 1, x: fixed16, cW: 16, frac: 14,
		cast: num.Cast{Shift: 14, Width: 16, Signed: true}},
	{tokens: 3, heads: 2, size: 5, turned: 2, lanes: 1, x: fixed8, cW: 9, frac: 7,
		cast: num.Cast{Shift: 6, Width: 7, Round: num.Up}},
	{tokens: 3, heads: 2, size: 8, turned: 8, lanes: 2, adjacent: true, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 2, heads: 3, size: 8, turned: 4, lanes: 2, adjacent: true, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 5, heads: 1, size: 8, turned: 6, lanes: 4, adjacent: true, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 3, heads: 2, size: 5, turned: 4, lanes: 5, adjacent: true, x: format{4, true}, cW: 6, frac: 3,
		cast: num.Cast{Shift: -1, Width: 12, Signed: true, Over: num.Symmetric}},
	{tokens: 2, heads: 2, size: 5, turned: 4, lanes: 1, adjacent: true, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 2, heads: 1, size: 6, turned: 6, lanes: 1, adjacent: true, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 3, heads: 2, size: 8, turned: 8, lanes: 2, flush: 1, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 4, heads: 1, size: 6, turned: 4, lanes: 1, flush: 1, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 3, heads: 2, size: 8, turned: 4, lanes: 2, adjacent: true, flush: 1, x: fixed8, cW: 16, frac: 14,
		cast: to8},
	{tokens: 3, heads: 4, size: 8, turned: 8, lanes: 2, flush: 2, x: fixed8, cW: 16, frac: 14, cast: to8},
	{tokens: 2, heads: 3, size: 6, turned: 4, lanes: 1, flush: 3, x: fixed8, cW: 16, frac: 14, cast: to8},
}

func TestRotate(t *testing.T) {
	t.Parallel()
	for i, c := range tools.Few(4, rotates) {
		c.fill(rand.New(rand.NewPCG(61, uint64(i))))
		rtltest.Run(t, c.bench())
	}
}

// TestRotateBroken has the bench look at faults.
func TestRotateBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	apart := rotate{tokens: 3, heads: 2, size: 8, turned: 4, lanes: 1, x: fixed8, cW: 10, frac: 8,
		cast: num.Cast{Shift: 8, Width: 8, Signed: true}}
	parts := apart
	parts.flush = 2
	within := apart
	within.adjacent, within.lanes = true, 2
	apart.fill(rand.New(rand.NewPCG(67, 0)))
	parts.fill(rand.New(rand.NewPCG(67, 2)))
	within.fill(rand.New(rand.NewPCG(67, 1)))
	for _, c := range []struct {
		file, old, fault string
		of               *rotate
	}{
		{"op_rotate.sv", "addr <= frame_ends ? AW'(0) : next_base", "addr <= next_base", &apart},
		{"op_rotate.sv", "row_ends || again", "row_ends || (again && token_ends)", &apart},
		{"op_rotate.sv", "wire step = en && (!taking || in_valid)", "wire step = en && in_valid", &apart},
		{"op_rotate.sv", "head == HW'(HEADS - 1)", "1'b1", &within},
		{"op_rotate.sv", "head == HW'(HEADS - 1)", "1'b1", &parts},
		{"op_rotate.sv", "HEADS / (FLUSH != 0 ? FLUSH : 1) * ROW :", "HEADS * ROW :", &parts}, // no flush between parts
		{"op_rotate.sv", "early = beat < BW'(RISE)", "early = 1'b1", &within},
		{"op_rotate_lane.sv", "1'b1} + {s_x", "second} + {s_x", &within},
	} {
		broken(t, c.file, c.old, c.fault, c.of.bench)
	}
}
