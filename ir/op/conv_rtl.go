// SPDX-License-Identifier: Apache-2.0

package op

import (
	"slices"

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

// convLanes are the foldings of a convolution. One of each channel by itself has as many lanes on both streams up to
// its channels; beyond, for whole windows or parts of them, a pixel of all channels goes out.
func convLanes(n *ir.Node) (*ir.Lanes, error) {
	if kindsOf(n).window() {
		return windowLanes(n)
	}
	a, rows := n.Attrs.(*ConvAttrs), n.Args[1].Type.Shape[0]
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, err
	}
	l := &ir.Lanes{Styles: []ir.Style{ir.StyleFold}, Mem: true} // all lanes are the folded unit that folds nothing
	if a.Depthwise(g, rows) {
		l.In = ir.Count{Legal: tapLanes(g), Size: g.C, Things: "channels"}
		l.Tie = func(lanes int) (in, out int) { return lanes, min(lanes, g.C) }
		l.Stream = func(in int) []int {
			if in <= g.C {
				return []int{in}
			}
			return Divisors(g.C)
		}
		return l, nil
	}
	l.In = ir.Count{Legal: kernelLanes(g, a.Groups), Size: g.KH * g.KW * g.C / a.Groups,
		Things: "kernel elements in whole channels or pixels"}
	l.Out = counted(rows/a.Groups, "output channels")
	l.Stream = func(in int) []int { return pixelLanes(g.C, in) }
	return l, nil
}

// pixelLanes lists the lanes of the stream into a convolution of c channels with in parallel inputs: divisors of c of
// which one of stream and in divides the other; whole pixels in parallel take any.
func pixelLanes(c, in int) []int {
	return slices.DeleteFunc(Divisors(c), func(d int) bool { return in < c && d%in != 0 && in%d != 0 })
}

// kernelLanes lists the parallel inputs that op_conv can have along kernel and channels, ascending: divisors of the
// channels of a group, or whole pixels, as many as divide the kernel (see the header of op_window).
func kernelLanes(g *Geometry, groups int) []int {
	legal := Divisors(g.C / groups)
	if groups == 1 {
		for _, pixels := range Divisors(g.KH * g.KW)[1:] {
			legal = append(legal, g.C*pixels)
		}
	}
	return legal
}

// tapLanes lists the parallel products that a depthwise convolution can have, ascending: divisors of the
// channels, one element of their windows each; or all channels, as many elements as divide the kernel.
func tapLanes(g *Geometry) []int {
	legal := Divisors(g.C)
	for _, taps := range Divisors(g.KH * g.KW)[1:] {
		legal = append(legal, g.C*taps)
	}
	return legal
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
	if e := CheckLanes(n, "in_lanes", n.HW.InLanes, kernelLanes(g, groups), g.KH*g.KW*g.C/groups,
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
	if e := CheckLanes(n, "lanes", n.HW.InLanes, tapLanes(g), g.C, "channels"); e != nil {
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
