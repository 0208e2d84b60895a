// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
)

// RefuseInfinite names each constant that holds NaN or an infinity, at the first node that reads it: whatever is
// measured or bounded behind it would blame another one. Error L0408.
func RefuseInfinite(g *ir.Graph) error {
	var errs diag.List
	seen := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			if !a.IsConst() || !a.Type.IsFloat() || seen[a] {
				continue
			}
			seen[a] = true
			if k, v := firstInfinite(a.Attrs.(*ir.Const).Data); k >= 0 {
				errs = append(errs, n.Errorf(diag.ConstantNotFinite, "constant %q, of shape %s, holds %v at flat index %d", a.Name,
					ir.ShapeString(a.Type.Shape), v, k).WithHint("repair the weights of the model: no number format holds this"))
			}
		}
	}
	return errs.Err()
}

// mostRead is how many weights InfiniteWeights reads, so that a look at a large model stays quick.
const mostRead = 1 << 26

// InfiniteWeights tells, a line each, of the weights of a float graph that hold NaN or an infinity, among the first
// mostRead of them.
func InfiniteWeights(g *ir.Graph) []string {
	var lines []string
	read := 0
	seen := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		if !n.Op.Traits.Weighted {
			continue
		}
		for _, a := range n.Args[1:] {
			if !a.IsConst() || !a.Type.IsFloat() || seen[a] {
				continue
			}
			seen[a] = true
			if read += a.Type.Elems(); read > mostRead {
				return lines
			}
			if k, v := firstInfinite(a.Attrs.(*ir.Const).Data); k >= 0 {
				lines = append(lines, fmt.Sprintf("constant %q, of shape %s, holds %v at flat index %d", a.Name,
					ir.ShapeString(a.Type.Shape), v, k))
			}
		}
	}
	return lines
}

// firstInfinite finds the first element of b that is NaN or infinite; k is -1 where there is none.
func firstInfinite(b *ir.Blob) (k int, v float32) {
	const piece = 1 << 16
	buf := make([]float32, min(piece, b.Len()))
	for from := 0; from < b.Len(); from += piece {
		part := buf[:min(piece, b.Len()-from)]
		b.FloatsAt(part, from)
		if i := InfiniteAt(part); i >= 0 {
			return from + i, part[i]
		}
	}
	return -1, 0
}

// InfiniteAt is the index of the first element that is NaN or infinite, -1 where there is none.
func InfiniteAt(x []float32) int {
	return slices.IndexFunc(x, func(v float32) bool { return v-v != 0 })
}
