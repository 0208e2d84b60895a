// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/rtl"
)

// geometryParams are the parameters of every module with a window generator.
func geometryParams(g *Geometry) []any {
	return []any{"H", g.H, "W", g.W, "C", g.C, "KH", g.KH, "KW", g.KW, "SH", g.SH, "SW", g.SW, "DH", g.DH, "DW", g.DW,
		"PT", g.PT, "PL", g.PL, "PB", g.PB, "PR", g.PR}
}

// imageGeometry is the geometry of the windows w over the argument of n, which hardware takes one image at a time.
func imageGeometry(n *ir.Node, w *Window) (*Geometry, error) {
	g, err := NewGeometry(n.Args[0].Type.Shape, w)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	if g.N != 1 {
		return nil, n.Errorf("L0311", "a batch of %d images has no hardware; streams carry one image a frame", g.N).
			WithHint("export the model for a batch of 1")
	}
	return g, nil
}

func convRTL(n *ir.Node) (*rtl.Unit, error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := imageGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	p, err := PlanSum(n)
	if err != nil {
		return nil, err
	}
	rows, _ := p.Size()
	f := sumFront{name: "conv", size: geometryParams(g), padded: g.PT+g.PL+g.PB+g.PR > 0}
	switch {
	case !a.Depthwise(g, rows):
		f.exact = []any{"OC", rows, "STREAM_LANES", n.HW.StreamIn, "IN_LANES", n.HW.InLanes, "OUT_LANES", n.HW.OutLanes,
			"GROUPS", a.Groups}
		f.window = []any{"OC", rows}
		f.in, f.out, f.tail = n.HW.InLanes, n.HW.OutLanes, append(romStyle(n), multipliers(n)...)
		f.lanes = convLanesLegal(n, g, rows)
	case n.HW.InLanes <= g.C: // lanes channels at a time, one element of their windows a cycle
		f.name, f.exact = "dwconv", []any{"LANES", n.HW.InLanes}
		f.in, f.out, f.tail = 1, n.HW.InLanes, append(romStyle(n), multipliers(n)...)
		f.lanes = depthwiseLegal(n, g)
	default: // all channels and several elements of their windows at once
		f.name, f.in, f.out = "dwconv_wide", n.HW.InLanes/g.C, g.C
		f.size = append(f.size, "STREAM_LANES", n.HW.StreamIn, "TAP_LANES", f.in)
		f.tail, f.lanes = romStyle(n), depthwiseLegal(n, g)
	}
	return p.unit(n, f)
}

// convLanesLegal says why the lanes of a convolution that is not depthwise are not legal.
func convLanesLegal(n *ir.Node, g *Geometry, rows int) error {
	groups := n.Attrs.(*ConvAttrs).Groups
	if e := CheckLanes(n, "in_lanes", n.HW.InLanes, ConvLanes(g, groups), g.KH*g.KW*g.C/groups,
		"kernel elements in whole channels or pixels"); e != nil {
		return e
	}
	if e := checkLanes(n, "out_lanes", n.HW.OutLanes, rows/groups, "output channels"); e != nil {
		return e
	}
	if e := checkLanes(n, "stream lanes", n.HW.StreamIn, g.C, "input channels"); e != nil {
		return e
	}
	if in, s := n.HW.InLanes, n.HW.StreamIn; in < g.C && in%s != 0 && s%in != 0 {
		return n.Errorf("L0412", "in_lanes %d fit neither whole pixels of %d channels nor the %d lanes of the stream",
			in, g.C, s).WithHint("use %d or a multiple", g.C)
	}
	return nil
}

// depthwiseLegal says why the lanes of a depthwise convolution are not legal.
func depthwiseLegal(n *ir.Node, g *Geometry) error {
	if e := CheckLanes(n, "lanes", n.HW.InLanes, DepthwiseLanes(g), g.C, "channels"); e != nil {
		return e
	}
	if n.HW.InLanes <= g.C {
		return nil
	}
	if e := checkLanes(n, "stream lanes", n.HW.StreamIn, g.C, "channels"); e != nil {
		return e
	}
	if e := CheckLanes(n, "out_lanes", n.HW.OutLanes, []int{g.C}, g.C, "channels of all that are computed"); e != nil {
		return e
	}
	return nil
}
