// SPDX-License-Identifier: Apache-2.0

package mx_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// image is a window that slides over h x w pixels of c channels.
type image struct{ h, w, c, kh, kw, sh, sw, dh, dw, pt, pl, pb, pr int }

func (g image) params() []rtl.Param {
	return params("H", g.h, "W", g.w, "C", g.c, "KH", g.kh, "KW", g.kw, "SH", g.sh, "SW", g.sw, "DH", g.dh, "DW", g.dw,
		"PT", g.pt, "PL", g.pl, "PB", g.pb, "PR", g.pr)
}

// windows lists the beats of all windows: those of the pixels, zeros in the padding.
func (g image) windows(beats []*big.Int, pixel int) [][]*big.Int {
	var out [][]*big.Int
	for y := -g.pt; y+(g.kh-1)*g.dh < g.h+g.pb; y += g.sh {
		for x := -g.pl; x+(g.kw-1)*g.dw < g.w+g.pr; x += g.sw {
			var window []*big.Int
			for tap := range g.kh * g.kw {
				py, px := y+tap/g.kw*g.dh, x+tap%g.kw*g.dw
				for i := range pixel {
					if py < 0 || py >= g.h || px < 0 || px >= g.w {
						window = append(window, new(big.Int))
					} else {
						window = append(window, beats[(py*g.w+px)*pixel+i])
					}
				}
			}
			out = append(out, window)
		}
	}
	return out
}

func TestConv(t *testing.T) {
	for i, c := range tools.Few(2, []struct {
		g                     image
		k, lanes, oc, rows, d int
		fixed                 bool
	}{
		{image{6, 6, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, 4, 2, 4, 2, 1, false},
		{image{5, 4, 6, 3, 2, 2, 1, 1, 1, 1, 0, 0, 1}, 4, 2, 6, 3, 3, false},
		{image{4, 5, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, 32, 1, 4, 4, 4, false},
		{image{3, 4, 8, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, 4, 4, 4, 2, 2, false},
		{image{1, 10, 3, 1, 3, 1, 1, 1, 2, 0, 4, 0, 0}, 3, 3, 2, 1, 1, false},
		{image{6, 6, 4, 1, 1, 2, 2, 1, 1, 0, 0, 0, 0}, 2, 2, 4, 4, 4, false},
		{image{7, 6, 2, 3, 2, 1, 1, 2, 2, 1, 0, 2, 1}, 2, 1, 4, 2, 1, true},
	}) {
		p := product{in: c.g.kh * c.g.kw * c.g.c, out: c.oc, run: c.g.c, k: c.k, lanes: c.lanes, rows: c.rows, drain: c.d,
			xW: 8, xsW: 8, wW: 8, wsW: 3, offset: -132, low: 18, outW: 26, biasW: 14, clamp: true}
		if c.fixed {
			p.xsW, p.offset, p.low, p.clamp = 0, 0, 0, false
		}
		p.fill(rand.New(rand.NewPCG(uint64(i), 6)))
		pixel := c.g.c / c.lanes
		whole := product{lengths: blocks(c.g.h*c.g.w*c.g.c, c.g.c, c.k), lanes: c.lanes, xW: 8, xsW: p.xsW, clamp: p.clamp}
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_conv", Seed: uint64(i), Images: p.images(),
			Params: append(append(c.g.params(), params("OC", c.oc)...), p.params()[3:]...),
			In:     []rtltest.Port{{Name: "in", Beats: c.g.h * c.g.w * pixel}},
			Out:    []rtltest.Port{{Name: "out", Lanes: c.d, Signed: true}},
			Gen:    whole.gen,
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var out []*big.Int
				for _, w := range c.g.windows(in[0], pixel) {
					x, xs := p.vector(w)
					out = append(out, p.apply(x, xs)...)
				}
				return [][]*big.Int{out}
			},
		})
	}
}
