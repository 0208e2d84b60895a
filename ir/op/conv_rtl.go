// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/big"

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
	if usesWindow(n) {
		return windowConvRTL(n)
	}
	a := n.Attrs.(*ConvAttrs)
	g, err := imageGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	m, err := planMAC(n)
	if err != nil {
		return nil, err
	}
	m = m.raw()
	if a.Depthwise(g, m.out) {
		return m.depthwise(n, g)
	}
	legal := ConvLanes(g, a.Groups)
	if e := CheckLanes(n, "in_lanes", n.HW.InLanes, legal, m.in, "kernel elements in whole channels or pixels"); e != nil {
		return nil, e
	}
	if e := checkLanes(n, "out_lanes", n.HW.OutLanes, m.out/a.Groups, "output channels"); e != nil {
		return nil, e
	}
	if e := checkLanes(n, "stream lanes", n.HW.StreamIn, g.C, "input channels"); e != nil {
		return nil, e
	}
	if in, s := n.HW.InLanes, n.HW.StreamIn; in < g.C && in%s != 0 && s%in != 0 {
		return nil, n.Errorf("L0412", "in_lanes %d fit neither whole pixels of %d channels nor the %d lanes of the stream",
			in, g.C, s).WithHint("use %d or a multiple", g.C)
	}
	w := m.widths()
	num, err := m.numeric(n, w)
	if err != nil {
		return nil, err
	}
	pad, err := m.padding(n, g)
	if err != nil {
		return nil, err
	}
	u := unit("op_conv", append(geometryParams(g), pad...)...)
	with(u, "OC", m.out, "STREAM_LANES", n.HW.StreamIn, "IN_LANES", n.HW.InLanes, "OUT_LANES", n.HW.OutLanes,
		"GROUPS", a.Groups)
	with(u, num...)
	with(u, "ROM_STYLE", memStyle(n))
	multipliers(u, n)
	m.images(u, n.HW.InLanes, n.HW.OutLanes, w)
	return u, nil
}

// depthwise is a convolution of each channel by itself: LANES channels at a time, one element of their windows a cycle.
func (m *mac) depthwise(n *ir.Node, g *Geometry) (*rtl.Unit, error) {
	lanes := n.HW.InLanes
	if e := CheckLanes(n, "lanes", lanes, DepthwiseLanes(g), g.C, "channels"); e != nil {
		return nil, e
	}
	w := m.widths()
	num, err := m.numeric(n, w)
	if err != nil {
		return nil, err
	}
	pad, err := m.padding(n, g)
	if err != nil {
		return nil, err
	}
	if lanes > g.C {
		return m.depthwiseWide(n, g, append(pad, num...), w)
	}
	u := unit("op_dwconv", append(geometryParams(g), pad...)...)
	with(u, "LANES", lanes)
	with(u, num...)
	with(u, "ROM_STYLE", memStyle(n))
	multipliers(u, n)
	var words []*big.Int // word f*KH*KW + k: lane i holds w[f*lanes+i][k]
	for f := 0; f < g.C; f += lanes {
		for k := range m.in {
			word := new(big.Int)
			for i := lanes - 1; i >= 0; i-- {
				appendField(word, big.NewInt(m.weights[(f+i)*m.in+k]), w.weight)
			}
			words = append(words, word)
		}
	}
	u.Images = []rtl.Image{
		{Param: "WEIGHTS", Width: lanes * w.weight, Words: words},
		{Param: "CONSTS", Width: lanes * w.konst(), Words: m.constImage(lanes, w)},
	}
	return u, nil
}

// depthwiseWide is a convolution of each channel by itself: all channels and several elements of their windows at once.
func (m *mac) depthwiseWide(n *ir.Node, g *Geometry, params []any, w widths) (*rtl.Unit, error) {
	taps := n.HW.InLanes / g.C
	if e := checkLanes(n, "stream lanes", n.HW.StreamIn, g.C, "channels"); e != nil {
		return nil, e
	}
	if e := CheckLanes(n, "out_lanes", n.HW.OutLanes, []int{g.C}, g.C, "channels of all that are computed"); e != nil {
		return nil, e
	}
	u := unit("op_dwconv_wide", geometryParams(g)...)
	with(u, "STREAM_LANES", n.HW.StreamIn, "TAP_LANES", taps)
	with(u, params...)
	with(u, "ROM_STYLE", memStyle(n))
	var words []*big.Int // word b: w[c][b*taps+t] at field c*taps+t
	for b := 0; b < m.in; b += taps {
		word := new(big.Int)
		for c := g.C - 1; c >= 0; c-- {
			for t := taps - 1; t >= 0; t-- {
				appendField(word, big.NewInt(m.weights[c*m.in+b+t]), w.weight)
			}
		}
		words = append(words, word)
	}
	u.Images = []rtl.Image{
		{Param: "WEIGHTS", Width: g.C * taps * w.weight, Words: words},
		{Param: "CONSTS", Width: g.C * w.konst(), Words: m.constImage(g.C, w)},
	}
	return u, nil
}
