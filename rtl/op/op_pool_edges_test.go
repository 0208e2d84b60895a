// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// factorImage holds the factors of the windows.
func factorImage(factors []int64) (image rtl.Image, width int) {
	image = rtl.Image{Param: "FACTORS", Width: 1}
	for _, f := range factors {
		image.Words = append(image.Words, big.NewInt(f))
		image.Width = max(image.Width, big.NewInt(f).BitLen())
	}
	return image, image.Width
}

func TestPoolWeigh(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pixels, beats, lanes, signed int }{{6, 2, 2, 1}, {1, 1, 1, 0}, {5, 1, 3, 1},
		{1, 4, 2, 1}} {
		factors := make([]int64, c.pixels)
		for i := range factors {
			factors[i] = int64(1 + i*5%7)
		}
		image, width := factorImage(factors)
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "op_pool_weigh", Images: []rtl.Image{image},
			Params: []rtl.Param{p("PIXELS", c.pixels), p("BEATS", c.beats), p("LANES", c.lanes), p("IN_W", 7),
				p("SIGNED", c.signed), p("F_W", width), p("OUT_W", 7+width)},
			In:  []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: c.signed == 1, Beats: c.pixels * c.beats}},
			Out: []rtltest.Port{{Name: "out", Lanes: c.lanes, Signed: c.signed == 1}},
			Model: func(x [][]int64) [][]int64 {
				out := make([]int64, len(x[0]))
				for i, v := range x[0] {
					out[i] = v * factors[i/(c.beats*c.lanes)]
				}
				return [][]int64{out}
			},
		})
	}
}

// edges are the counts of the windows of g, their least common multiple, and its quotients.
func (g geometry) edges() (common int64, factors []int64) {
	ones := make([]int64, g.H*g.W*g.C)
	for i := range ones {
		ones[i] = 1
	}
	common = 1
	counts := g.pools(ones, total)
	for _, n := range counts {
		if n == 0 {
			return 0, nil
		}
		a, b := common, n
		for b != 0 {
			a, b = b, a%b
		}
		common *= n / a
	}
	for i := 0; i < len(counts); i += g.C {
		factors = append(factors, common/counts[i])
	}
	return common, factors
}

func TestAvgPoolEdges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(15, 1))
	for i := range tools.Sample(3, 12) {
		g, lanes := drawPool(r, []int{1, 2, 4}, false)
		common, factors := g.edges()
		for ; common == 0 || common > 1000; common, factors = g.edges() {
			g, lanes = drawPool(r, []int{1, 2, 4}, false)
		}
		image, width := factorImage(factors)
		lshift, mode := r.IntN(5)-1, pick(r, []int{0, 1, 5})
		sum := min(7+big.NewInt(int64(g.KH*g.KW-1)).BitLen()+width+1, 7+big.NewInt(common).BitLen())
		rtltest.Run(t, rtltest.Bench{
			Module: "op_avgpool_edges", Images: []rtl.Image{image},
			Params: g.params(rtltest.P("LANES", lanes), rtltest.P("E_W", 7), rtltest.P("LSHIFT", lshift),
				rtltest.P("ROUND", mode), rtltest.P("DIV", int(common)), rtltest.P("F_W", width), rtltest.P("S_W", sum)),
			In:  []rtltest.Port{{Name: "in", Lanes: lanes, Signed: true, Beats: g.H * g.W * g.C / lanes}},
			Out: []rtltest.Port{{Name: "out", Lanes: lanes, Signed: true}},
			Model: func(x [][]int64) [][]int64 {
				return [][]int64{g.pools(x[0], func(e []int64) int64 { return rounded(total(e), lshift, len(e), mode, 8) })}
			},
			Seed: uint64(i),
		})
	}
}
