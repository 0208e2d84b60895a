// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/walk"
)

// normBounds bounds rows by what they are divided by: of n elements none is beyond sqrt(n) times the root of the mean
// of all squares, nor sqrt(n-1) standard deviations from the mean, and neither is divided by less than sqrt(eps).
func normBounds(n *ir.Node, args []ir.Bounds, rms bool) (ir.Bounds, error) {
	shape, x := n.Type.Shape, args[0]
	axis, err := walk.Axis(n.Attrs.(*Attrs).Axis, len(shape))
	if err != nil {
		return ir.Bounds{}, err
	}
	count := walk.Size(shape[axis:])
	most, factor := math.Sqrt(float64(count)), 1/math.Sqrt(float64(n.Attrs.(*Attrs).Eps))
	if !rms {
		most = math.Sqrt(float64(count - 1))
	}
	var at [][]int
	for _, a := range n.Args[1:] {
		at = append(at, walk.BroadcastIndex(a.Type.Shape, shape[axis:]))
	}
	out := column.Between(n, 0, 0)
	for from := 0; from < len(x.Lo.Floats); from += count {
		least, greatest := 0.0, 0.0 // of the mean
		for i := from; i < from+count && !rms; i++ {
			least += float64(x.Lo.Floats[i]) / float64(count)
			greatest += float64(x.Hi.Floats[i]) / float64(count)
		}
		for i := range count {
			lo, hi := float64(x.Lo.Floats[from+i])-greatest, float64(x.Hi.Floats[from+i])-least
			lo, hi = toBound(lo, factor, -most), toBound(hi, factor, most)
			if len(at) > 0 {
				lo, hi = productBounds(lo, hi, args[1], at[0][i])
			}
			if len(at) > 1 {
				lo, hi = lo+float64(args[2].Lo.Floats[at[1][i]]), hi+float64(args[2].Hi.Floats[at[1][i]])
			}
			out.Lo.Floats[from+i], out.Hi.Floats[from+i] = float32(lo), float32(hi)
		}
	}
	return out, nil
}

// toBound is v*factor, between 0 and most, whose sign is that of the direction.
func toBound(v, factor, most float64) float64 {
	switch {
	case v*most <= 0:
		return 0
	case most < 0:
		return max(v*factor, most)
	}
	return min(v*factor, most)
}

// productBounds bounds the product of a number from lo to hi and element i of b.
func productBounds(lo, hi float64, b ir.Bounds, i int) (least, most float64) {
	l, h := float64(b.Lo.Floats[i]), float64(b.Hi.Floats[i])
	return min(lo*l, lo*h, hi*l, hi*h), max(lo*l, lo*h, hi*l, hi*h)
}
