// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"lathe/internal/diag"
	"lathe/ir"
)

// Params are the parameters of every module with a window generator.
func Params(g *Grid) []any {
	return []any{"H", g.H, "W", g.W, "C", g.C, "KH", g.KH, "KW", g.KW, "SH", g.SH, "SW", g.SW, "DH", g.DH, "DW", g.DW,
		"PT", g.PT, "PL", g.PL, "PB", g.PB, "PR", g.PR}
}

// OfNode is the geometry of the windows w over the argument of n, which hardware takes one image at a time.
func OfNode(n *ir.Node, w *Window) (*Grid, error) {
	g, err := New(n.Args[0].Type.Shape, w)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if g.N != 1 {
		return nil, n.Errorf(diag.NoHardwareForm, "a batch of %d images has no hardware; streams carry one image a frame",
			g.N).
			WithHint("export the model for a batch of 1")
	}
	return g, nil
}
