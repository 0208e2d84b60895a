// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/rtl"
)

// Params are the parameters of every module with a window generator.
func Params(g *Grid) []any {
	return []any{"H", g.H, "W", g.W, "C", g.C, "KH", g.KH, "KW", g.KW, "SH", g.SH, "SW", g.SW, "DH", g.DH, "DW", g.DW,
		"PT", g.PT, "PL", g.PL, "PB", g.PB, "PR", g.PR}
}

// OfNode is the geometry of the windows w over the argument of n.
func OfNode(n *ir.Node, w *Window) (*Grid, error) {
	g, err := New(n.Args[0].Type.Shape, w)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	return g, nil
}

// Framed completes a column that returns the unit of one image: the images of argument 0 follow each other as frames.
func Framed(unit func(n *ir.Node) (*rtl.Unit, error)) func(n *ir.Node) (*rtl.Unit, error) {
	return func(n *ir.Node) (*rtl.Unit, error) {
		u, err := unit(n)
		if err == nil {
			u.Frames = max(u.Frames, 1) * n.Args[0].Type.Shape[0]
		}
		return u, err
	}
}
