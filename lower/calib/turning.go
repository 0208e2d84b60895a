// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"math"

	"lathe/internal/diag"
	"lathe/ir"
)

// turning bounds an element-wise function of one argument that is monotone between its turns: the least and the
// greatest of its values at the ends of the interval and at the turns inside, and beside them, since it may jump there.
func turning(n *ir.Node, x bounds) (bounds, error) {
	at := []*ir.Tensor{x.lo, x.hi}
	for _, turn := range n.Op.Traits.Turns(n.Attrs) {
		v := float32(turn)
		below, above := math.Nextafter32(v, float32(math.Inf(-1))), math.Nextafter32(v, float32(math.Inf(1)))
		for _, v := range []float32{below, v, above} {
			t := clone(x.lo)
			for i := range t.Floats {
				t.Floats[i] = min(max(v, x.lo.Floats[i]), x.hi.Floats[i])
			}
			at = append(at, t)
		}
	}
	var b bounds
	for i, t := range at {
		y, err := eval(n, t)
		if err != nil {
			return b, err
		}
		if i == 0 {
			b = bounds{clone(y), clone(y)}
		}
		for k, v := range y.Floats {
			b.lo.Floats[k], b.hi.Floats[k] = min(b.lo.Floats[k], v), max(b.hi.Floats[k], v)
		}
	}
	return b, bounded(n, b)
}

// bounded refuses bounds that are no finite numbers: those of a logarithm or a reciprocal whose argument may be 0.
func bounded(n *ir.Node, b bounds) error {
	for i, lo := range b.lo.Floats {
		if !finite(lo) || !finite(b.hi.Floats[i]) {
			return unknown(n)
		}
	}
	return nil
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

func unknown(n *ir.Node) *diag.Error {
	return n.Errorf("L0410", "nothing is known of the bounds of %s (node %q)", n.Op.Name, n.Name).
		WithHint("give calibration data: they are measured then")
}
