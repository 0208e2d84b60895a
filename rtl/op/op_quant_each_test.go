// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"testing"

	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// own is how a channel is cast: codes of bits bits, of which the lowest has the weight 2^drop; up steps of the argument
// are a step of what is rounded.
type own struct{ bits, drop, up int }

// TestQuantEach gives channels fewer bits than the result, none, no step of their own, and more than the argument has.
func TestQuantEach(t *testing.T) {
	for _, c := range []struct {
		lanes    int
		in       format
		shift    int
		out      format
		round    int
		channels []own
	}{
		{2, format{8, true}, 5, format{7, true}, num.Even, []own{{7, 0, 3}, {3, 2, 0}, {0, 0, 0}, {1, 6, 1}}},
		{3, format{6, false}, 2, format{5, false}, num.Away, []own{{5, 0, 2}, {2, 3, 0}, {4, 1, 1}}},
		{1, format{9, true}, -2, format{8, false}, num.Floor, []own{{8, 0, 1}, {1, 0, 0}}},
		{2, format{5, false}, 0, format{4, true}, num.Outward, []own{{4, 0, 0}, {3, 0, 0}}},
		{1, format{4, true}, 9, format{6, true}, num.Up, []own{{6, 0, 4}, {5, 0, 0}, {2, 4, 2}}},
	} {
		image, casts, widths := channelWords(c.channels, c.lanes, c.out, num.Cast{Shift: c.shift, Round: c.round})
		p, beats := rtltest.P, 2*len(c.channels)/c.lanes
		rtltest.Run(t, rtltest.Bench{
			Module: "op_quant_each", Params: []rtl.Param{p("C", len(c.channels)), p("LANES", c.lanes), p("IN_W", c.in.width),
				p("IN_SIGNED", flag(c.in.signed)), p("UP_W", widths[0]), p("UP", widths[1]), p("DROP_W", widths[2]),
				p("SHIFT", c.shift), p("OUT_W", c.out.width), p("ROUND", c.round), p("BEATS", beats)},
			Images: []rtl.Image{image},
			In:     []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: c.in.signed, Beats: beats}},
			Out:    []rtltest.Port{{Name: "out", Lanes: c.lanes}},
			Model: func(in [][]int64) [][]int64 {
				y := make([]int64, len(in[0]))
				for k, x := range in[0] {
					if o := k % len(casts); c.channels[o].bits > 0 {
						y[k] = casts[o].Of(big.NewInt(x)).Int64() << c.channels[o].drop
					}
				}
				return [][]int64{y}
			},
		})
	}
}

// channelWords is the image of channels, so many in a word, what each makes of an argument, and UP_W, UP, DROP_W.
func channelWords(channels []own, lanes int, out format, all num.Cast) (rtl.Image, []num.Cast, [3]int) {
	up, drop := 0, 0
	for _, o := range channels {
		up, drop = max(up, o.up), max(drop, o.drop)
	}
	upW, dropW, limitW := big.NewInt(int64(up)).BitLen(), big.NewInt(int64(drop)).BitLen(), out.width+1
	casts := make([]num.Cast, len(channels))
	image := rtl.Image{Param: "CHANNELS", Width: lanes * (upW + dropW + 2*limitW)}
	for f := 0; f < len(channels); f += lanes {
		word, at := new(big.Int), uint(0)
		put := func(v int64, w int) {
			field := new(big.Int).And(big.NewInt(v), big.NewInt(1<<w-1))
			word.Or(word, field.Lsh(field, at))
			at += uint(w)
		}
		for k, o := range channels[f : f+lanes] {
			casts[f+k] = num.Cast{Shift: all.Shift - o.up, Width: o.bits, Signed: out.signed, Round: all.Round}
			lo, hi := int64(0), int64(1)<<o.bits-1
			if out.signed && o.bits > 0 {
				lo, hi = -1<<(o.bits-1), 1<<(o.bits-1)-1
			}
			put(int64(o.up), upW)
			put(int64(o.drop), dropW)
			put(lo, limitW)
			put(hi, limitW)
		}
		image.Words = append(image.Words, word)
	}
	return image, casts, [3]int{upW, up, dropW}
}
