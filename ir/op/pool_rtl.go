// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/rtl"
)

func maxPoolRTL(n *ir.Node) (*rtl.Unit, error) {
	w := n.Attrs.(*Window)
	g, err := poolGeometry(n, w)
	if err != nil {
		return nil, err
	}
	fx, err := fixedOf(n, n.Type)
	if err != nil {
		return nil, err
	}
	if fx.W > 32 { // the least code is a parameter, and parameters of that kind have 32 bits
		return nil, n.Errorf("L0311", "maxima of %d bits have no hardware in this version", fx.W).WithHint("use 32 or less")
	}
	u := unit("op_maxpool", geometryParams(g)...)
	return with(u, "LANES", n.HW.InLanes, "E_W", fx.W, "SIGNED", flag(fx.Signed)), nil
}

func avgPoolRTL(n *ir.Node) (*rtl.Unit, error) {
	a := n.Attrs.(*AvgAttrs)
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	if !a.IncludePad && g.PT+g.PL+g.PB+g.PR > 0 {
		return nil, n.Errorf("L0311", "averages over padded windows divide by different counts: no hardware in this version").
			WithHint("set count_include_pad = 1, or take pads of 0")
	}
	return averageUnit(n, "op_avgpool", g, append(geometryParams(g), "DIV", g.KH*g.KW))
}

func globalAvgRTL(n *ir.Node) (*rtl.Unit, error) {
	a, err := globalWindow(n)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	return averageUnit(n, "op_global_avgpool", g, []any{"H", g.H, "W", g.W, "C", g.C, "DIV", g.H * g.W})
}

// averageUnit completes an exact mean: the sum times 2^LSHIFT, divided by DIV and rounded once.
func averageUnit(n *ir.Node, module string, g *Geometry, params []any) (*rtl.Unit, error) {
	in, err := fixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := hardwareResult(n)
	if err != nil {
		return nil, err
	}
	u := unit(module, params...)
	return with(u, "LANES", n.HW.InLanes, "E_W", in.W, "SIGNED", flag(in.Signed), "LSHIFT", out.F-in.F,
		"OUT_W", out.W, "OUT_SIGNED", flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over)), nil
}

// poolGeometry checks what the pool modules take.
func poolGeometry(n *ir.Node, w *Window) (*Geometry, error) {
	g, err := NewGeometry(n.Args[0].Type.Shape, w)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	if g.N != 1 {
		return nil, n.Errorf("L0311", "a batch of %d images has no hardware; streams carry one image a frame", g.N).
			WithHint("export the model for a batch of 1")
	}
	if w.CeilMode && (g.OH-1)*g.SH+(g.KH-1)*g.DH+1 > g.H+g.PT+g.PB ||
		w.CeilMode && (g.OW-1)*g.SW+(g.KW-1)*g.DW+1 > g.W+g.PL+g.PR {
		return nil, n.Errorf("L0311", "ceil_mode with windows beyond the padding has no hardware in this version").
			WithHint("set ceil_mode = 0, or pad the image such that its windows fit")
	}
	if e := checkLanes(n, "lanes", n.HW.InLanes, g.C, "channels"); e != nil {
		return nil, e
	}
	return g, nil
}
