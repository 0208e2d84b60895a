// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/rand/v2"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// geometry is a sliding window over a frame of H x W pixels of C channels.
type geometry struct {
	H, W, C, KH, KW, SH, SW, DH, DW, PT, PL, PB, PR int
}

func (g geometry) spanH() int { return (g.KH-1)*g.DH + 1 }
func (g geometry) spanW() int { return (g.KW-1)*g.DW + 1 }
func (g geometry) outH() int  { return (g.H+g.PT+g.PB-g.spanH())/g.SH + 1 }
func (g geometry) outW() int  { return (g.W+g.PL+g.PR-g.spanW())/g.SW + 1 }

// fits reports whether there is at least one window.
func (g geometry) fits() bool {
	return g.H+g.PT+g.PB >= g.spanH() && g.W+g.PL+g.PR >= g.spanW()
}

func (g geometry) params(more ...rtl.Param) []rtl.Param {
	p := rtltest.P
	return append([]rtl.Param{p("H", g.H), p("W", g.W), p("C", g.C), p("KH", g.KH), p("KW", g.KW), p("SH", g.SH),
		p("SW", g.SW), p("DH", g.DH), p("DW", g.DW), p("PT", g.PT), p("PL", g.PL), p("PB", g.PB), p("PR", g.PR)}, more...)
}

// at returns the code under tap (ky, kx), channel c of window (oy, ox); ok is false in the padding.
func (g geometry) at(in []int64, oy, ox, ky, kx, c int) (code int64, ok bool) {
	y, x := oy*g.SH-g.PT+ky*g.DH, ox*g.SW-g.PL+kx*g.DW
	if y < 0 || y >= g.H || x < 0 || x >= g.W {
		return 0, false
	}
	return in[(y*g.W+x)*g.C+c], true
}

// windows lists all windows, each as group, ky, kx, channel of the group.
func (g geometry) windows(in []int64, pad int64, groups int) []int64 {
	var out []int64
	per := g.C / groups
	for w := range g.outH() * g.outW() {
		for i := range g.KH * g.KW * g.C {
			tap, c := i/per%(g.KH*g.KW), i/per/(g.KH*g.KW)*per+i%per
			v, ok := g.at(in, w/g.outW(), w%g.outW(), tap/g.KW, tap%g.KW, c)
			if !ok {
				v = pad
			}
			out = append(out, v)
		}
	}
	return out
}

// pools folds the elements of each window, channel by channel; padding is left out. A window that is nothing but
// padding gives the fold of no elements.
func (g geometry) pools(in []int64, fold func(elements []int64) int64) []int64 {
	var out []int64
	for w := range g.outH() * g.outW() {
		for c := range g.C {
			var e []int64
			for tap := range g.KH * g.KW {
				if v, ok := g.at(in, w/g.outW(), w%g.outW(), tap/g.KW, tap%g.KW, c); ok {
					e = append(e, v)
				}
			}
			out = append(out, fold(e))
		}
	}
	return out
}

// randomGeometry draws one that fits: small frames, kernels up to 4, strides up to 3, any padding below the kernel and
// sometimes beyond it.
func randomGeometry(r *rand.Rand, channels int) geometry {
	for {
		g := geometry{H: 1 + r.IntN(9), W: 1 + r.IntN(9), C: channels, KH: 1 + r.IntN(4), KW: 1 + r.IntN(4),
			SH: 1 + r.IntN(3), SW: 1 + r.IntN(3), DH: 1 + r.IntN(2), DW: 1 + r.IntN(2)}
		g.PT, g.PB, g.PL, g.PR = r.IntN(g.spanH()), r.IntN(g.spanH()), r.IntN(g.spanW()), r.IntN(g.spanW())
		if r.IntN(4) == 0 {
			g.PT, g.PL, g.PB, g.PR = r.IntN(4), r.IntN(4), r.IntN(4), r.IntN(4)
		}
		if r.IntN(3) == 0 {
			g.PT, g.PL, g.PB, g.PR = 0, 0, 0, 0
		}
		if g.fits() && g.outH()*g.outW() <= 100 {
			return g
		}
	}
}

// divisors of n in ascending order.
func divisors(n int) []int {
	var d []int
	for i := 1; i <= n; i++ {
		if n%i == 0 {
			d = append(d, i)
		}
	}
	return d
}

func pick(r *rand.Rand, choices []int) int { return choices[r.IntN(len(choices))] }
