// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/dot"
	"lathe/ir/op/geometry"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// convLanes are the foldings of a convolution. One of each channel by itself has as many lanes on both streams up to
// its channels; beyond, for whole windows or parts of them, a pixel of all channels goes out.
func convLanes(n *ir.Node) (*ir.Lanes, error) {
	if dot.KindsOf(n).Window() {
		return dot.WindowLanes(n)
	}
	a, rows := n.Attrs.(*ConvAttrs), n.Args[1].Type.Shape[0]
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, err
	}
	l := &ir.Lanes{Styles: []ir.Style{ir.StyleFold}, Mem: true}
	if a.Groups == 1 || a.Depthwise(g, rows) { // else all lanes are those of a group
		l.Styles = append(l.Styles, ir.StyleUnroll)
	}
	if a.Depthwise(g, rows) {
		l.In = ir.Count{Legal: tapLanes(g), Size: g.C, Things: "channels"}
		l.Tie = func(lanes int) (in, out int) { return lanes, min(lanes, g.C) }
		l.Stream = func(in, _ int) []int {
			if in <= g.C {
				return []int{in}
			}
			return lane.Divisors(g.C)
		}
		return l, nil
	}
	l.In = ir.Count{Legal: kernelLanes(g, a.Groups), Size: g.KH * g.KW * g.C / a.Groups,
		Things: "kernel elements in whole channels or pixels"}
	l.Out = lane.Counts(rows/a.Groups, "output channels")
	l.Stream = func(in, _ int) []int { return pixelLanes(g.C, in) }
	return l, nil
}

// pixelLanes lists the lanes of the stream into a convolution of c channels with in parallel inputs: divisors of c of
// which one of stream and in divides the other; whole pixels in parallel take any.
func pixelLanes(c, in int) []int {
	return slices.DeleteFunc(lane.Divisors(c), func(d int) bool { return in < c && d%in != 0 && in%d != 0 })
}

// kernelLanes lists the parallel inputs that op_conv can have along kernel and channels, ascending: divisors of the
// channels of a group, or whole pixels, as many as divide the kernel (see the header of op_window).
func kernelLanes(g *geometry.Grid, groups int) []int {
	legal := lane.Divisors(g.C / groups)
	if groups == 1 {
		for _, pixels := range lane.Divisors(g.KH * g.KW)[1:] {
			legal = append(legal, g.C*pixels)
		}
	}
	return legal
}

// tapLanes lists the parallel products that a depthwise convolution can have, ascending: divisors of the
// channels, one element of their windows each; or all channels, as many elements as divide the kernel.
func tapLanes(g *geometry.Grid) []int {
	legal := lane.Divisors(g.C)
	for _, taps := range lane.Divisors(g.KH * g.KW)[1:] {
		legal = append(legal, g.C*taps)
	}
	return legal
}

func convRTL(n *ir.Node) (*rtl.Unit, error) { return convRTLEach(n, nil) }

// convProducts is the Products column.
func convProducts(n *ir.Node) ([]ir.ProductForm, error) {
	p, f, err := convFront(n, nil)
	if err != nil {
		return nil, err
	}
	return p.Products(n, f)
}

// convRTLEach is the unit of n, whose rows have codes of their own where each is not nil.
func convRTLEach(n *ir.Node, each *format.Each) (*rtl.Unit, error) {
	p, f, err := convFront(n, each)
	if err != nil {
		return nil, err
	}
	u, err := p.Unit(n, f)
	if err != nil {
		return nil, err
	}
	u.Frames = n.Args[0].Type.Shape[0] // images
	if u.Body != nil && u.Body.Window == nil {
		rows, _ := p.Size()
		u.Frames = n.Type.Elems() / rows // vectors
	}
	return u, nil
}

// convFront is the plan of n, and what stands before its multipliers.
func convFront(n *ir.Node, each *format.Each) (p dot.Sum, f dot.Front, err error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := geometry.OfNode(n, &a.Window)
	if err != nil {
		return nil, f, err
	}
	if p, err = dot.New(n); err != nil {
		return nil, f, err
	}
	rows, _ := p.Size()
	v := convVector(n, g, rows)
	if v != nil {
		v.Each = each
	}
	f = dot.Front{Name: "conv", Vector: v, Size: geometry.Params(g), Padded: padded(g),
		Sweeps: n.Type.Elems() / rows}
	switch {
	case !a.Depthwise(g, rows):
		f.Exact = []any{"OC", rows, "STREAM_LANES", n.HW.StreamIn, "IN_LANES", n.HW.InLanes, "OUT_LANES", n.HW.OutLanes,
			"GROUPS", a.Groups}
		f.Window, f.Coded, f.Kept = []any{"OC", rows}, true, true
		f.In, f.Out, f.Tail = n.HW.InLanes, n.HW.OutLanes, append(hardware.RomStyle(n), dot.Multipliers(n)...)
		f.Lanes = convLanesLegal(n, g, rows)
	case n.HW.InLanes <= g.C: // lanes channels at a time, one element of their windows a cycle
		f.Name, f.Exact = "dwconv", []any{"LANES", n.HW.InLanes}
		f.In, f.Out, f.Tail = 1, n.HW.InLanes, append(hardware.RomStyle(n), dot.Multipliers(n)...)
		f.Lanes = depthwiseLegal(n, g)
	default: // all channels and several elements of their windows at once
		f.Name, f.In, f.Out = "dwconv_wide", n.HW.InLanes/g.C, g.C
		f.Size = append(f.Size, "STREAM_LANES", n.HW.StreamIn, "TAP_LANES", f.In)
		f.Tail, f.Lanes = hardware.RomStyle(n), depthwiseLegal(n, g)
	}
	return p, f, nil
}

func padded(g *geometry.Grid) bool { return g.PT+g.PL+g.PB+g.PR > 0 }

// convVector is the windows of an unrolled convolution; nil where it is folded.
func convVector(n *ir.Node, g *geometry.Grid, rows int) *dot.Vector {
	a := n.Attrs.(*ConvAttrs)
	if n.HW.Style != ir.StyleUnroll || a.Groups > 1 && !a.Depthwise(g, rows) {
		return nil
	}
	v := &dot.Vector{Terms: g.KH * g.KW * g.C, Padded: padded(g)}
	if a.Groups > 1 {
		v.Of = func(row, j int) int { return j*g.C + row }
	}
	if v.Padded || g.KH*g.KW*g.SH*g.SW > 1 || n.HW.StreamIn != g.C {
		v.Window = rtl.NewUnit("op_window", append(geometry.Params(g), "IN_LANES", n.HW.StreamIn, "OUT_LANES", v.Terms,
			"SKID", 0)...)
		if n.HW.Lines != "" {
			v.Window.With("LINE_STYLE", n.HW.Lines)
		}
	}
	return v
}

// convLanesLegal says why the lanes of a convolution that is not depthwise are not legal.
func convLanesLegal(n *ir.Node, g *geometry.Grid, rows int) error {
	groups := n.Attrs.(*ConvAttrs).Groups
	if e := lane.Check(n, "in_lanes", n.HW.InLanes, kernelLanes(g, groups), g.KH*g.KW*g.C/groups,
		"kernel elements in whole channels or pixels"); e != nil {
		return e
	}
	if e := lane.CheckDivisor(n, "out_lanes", n.HW.OutLanes, rows/groups, "output channels"); e != nil {
		return e
	}
	if e := lane.CheckDivisor(n, "stream lanes", n.HW.StreamIn, g.C, "input channels"); e != nil {
		return e
	}
	if in, s := n.HW.InLanes, n.HW.StreamIn; in < g.C && in%s != 0 && s%in != 0 {
		return n.Errorf(diag.LanesDivide, "in_lanes %d is neither a multiple of %d channels nor the %d lanes of the stream",
			in, g.C, s).WithHint("use %d or a multiple", g.C)
	}
	return nil
}

// depthwiseLegal says why the lanes of a depthwise convolution are not legal.
func depthwiseLegal(n *ir.Node, g *geometry.Grid) error {
	if e := lane.Check(n, "lanes", n.HW.InLanes, tapLanes(g), g.C, "channels"); e != nil {
		return e
	}
	if n.HW.InLanes <= g.C {
		return nil
	}
	if e := lane.CheckDivisor(n, "stream lanes", n.HW.StreamIn, g.C, "channels"); e != nil {
		return e
	}
	if e := lane.Check(n, "out_lanes", n.HW.OutLanes, []int{g.C}, g.C, "channels of all that are computed"); e != nil {
		return e
	}
	return nil
}
