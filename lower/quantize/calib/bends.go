// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"math"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
)

// bending bounds an element-wise function of one argument that is monotone between its bends: the least and the
// greatest of its values at the ends of the interval and at the bends inside, and beside them, since it may jump there.
func bending(n *ir.Node, x ir.Bounds) (ir.Bounds, error) {
	b, err := bends(n, x)
	if err != nil {
		return b, err
	}
	return b, bounded(n, b)
}

// bends is bending whose bounds may be infinite.
func bends(n *ir.Node, x ir.Bounds) (ir.Bounds, error) {
	at := [][]*ir.Tensor{{x.Lo}, {x.Hi}}
	for _, bend := range n.Op.Traits.Bends(n.Attrs) {
		v := float32(bend)
		below, above := math.Nextafter32(v, float32(math.Inf(-1))), math.Nextafter32(v, float32(math.Inf(1)))
		for _, v := range []float32{below, v, above} {
			t := column.CloneFloats(x.Lo)
			for i := range t.Floats {
				t.Floats[i] = min(max(v, x.Lo.Floats[i]), x.Hi.Floats[i])
			}
			at = append(at, []*ir.Tensor{t})
		}
	}
	return column.Extremes(n, at...)
}

// bounded refuses bounds that are no finite numbers: those of a logarithm or a reciprocal whose argument may be 0.
func bounded(n *ir.Node, b ir.Bounds) error {
	for i, lo := range b.Lo.Floats {
		if !finite(lo) || !finite(b.Hi.Floats[i]) {
			return unknown(n)
		}
	}
	return nil
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

func unknown(n *ir.Node) *diag.Error {
	return n.Errorf(diag.NoIntegerForm, "nothing is known of the bounds of %s (node %q)", n.Op.Name, n.Name).
		WithHint("give calibration data: they are measured then")
}
