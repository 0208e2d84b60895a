// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// genNorm draws rows of 1 to about 24 codes, with a gain and a bias in most cases: eps that vanishes beside the
// variance, and eps that is most of it, or 0.
func genNorm(r *rand.Rand, o *ir.Op) *ir.Graph {
	for {
		shape := draw.Shape(r, 1, 3)
		if draw.Chance(r, 70) {
			shape[len(shape)-1] += 3
		}
		x := draw.Input("x", ir.Type{Shape: shape, Format: genCodes(r)})
		rank := len(shape)
		a := &Attrs{Axis: draw.Between(r, -rank, rank-1), Eps: []float32{1e-5, 1e-3, 0.5, 0}[r.IntN(4)]}
		axis, _ := walk.Axis(a.Axis, rank)
		args, top, frac := []*ir.Node{x}, 2, 0
		for i := 1; i < o.Arity[1] && draw.Chance(r, 75); i++ {
			f := draw.Fixed(r, 16)
			if !f.Signed {
				f.W = min(f.W, 15)
			}
			if i == 2 && f.F > zFrac+frac {
				f.F = zFrac + frac
			}
			if top = max(top, f.W-f.F); i == 1 {
				frac = f.F
			}
			row := append([]int(nil), shape[axis:]...)
			if len(row) > 1 && draw.Chance(r, 20) {
				row = row[1:]
			}
			t := ir.Type{Shape: row, Format: format.Fixed{W: f.W, F: f.F, Signed: f.Signed}}
			args = append(args, draw.Const([]string{"", "scale", "bias"}[i], t, draw.Codes(r, t.Format, t.Elems())))
		}
		y := draw.Result(r, top)
		if draw.Chance(r, 20) { // shows every bit of z
			y.W, y.F, y.Over = 36, zFrac+frac, format.Wrap
		}
		g := draw.Graph(o, a, ir.Type{Format: y}, args...)
		if o.Legal(g.Out[0].Node) == nil { // a large eps in fine steps may leave no h
			return g
		}
	}
}

// genCodes draws a format of up to 16 bits, most often of 8 to 16 with steps below 1, now and then with a real scale.
func genCodes(r *rand.Rand) format.Format {
	if draw.Chance(r, 12) {
		return draw.Affine(r, 12)
	}
	f := draw.Fixed(r, 16)
	if draw.Chance(r, 70) {
		f.W = draw.Between(r, 8, 16)
		f.F = draw.Between(r, 0, f.W)
		if draw.Chance(r, 20) { // an eps of many steps
			f.F = draw.Between(r, 16, 24)
		}
	}
	if f.Over > format.Wrap {
		f.Over = format.Sat
	}
	if !f.Signed {
		f.W = min(f.W, 15)
	}
	return f
}
