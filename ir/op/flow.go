// SPDX-License-Identifier: Apache-2.0

package op

import (
	"slices"

	"lathe/ir"
	"lathe/rtl"
)

// The Flow columns: what op_*.sv do with beats, without values. Constants of modules are read from their text.

// skid ends most units.
var skid = ir.FlowStage{Kind: ir.FlowSkid}

// locals evaluates the constants of a module under pairs of parameters and integers.
func locals(module string, pairs ...any) (map[string]int, error) {
	return rtl.Locals(module, unit(module, pairs...).Params)
}

// timing is the latency of a module, as its header says, under pairs of parameters and integers.
func timing(module string, pairs ...any) (int, error) {
	h, err := rtl.Lookup(module)
	if err != nil {
		return 0, err
	}
	values, err := h.Values(unit(module, pairs...).Params)
	if err != nil {
		return 0, err
	}
	return h.Latency.Eval(values)
}

func widenFlow(n *ir.Node) (ir.Flow, error) {
	return ir.Flow{{Kind: ir.FlowWiden, N: n.HW.OutLanes / n.HW.InLanes}}, nil
}

func narrowFlow(n *ir.Node) (ir.Flow, error) {
	return ir.Flow{{Kind: ir.FlowNarrow, N: n.HW.InLanes / n.HW.OutLanes}, skid}, nil
}

func fifoFlow(n *ir.Node) (ir.Flow, error) { return ir.Flow{{Kind: ir.FlowFifo, N: n.HW.Fifo}}, nil }

func forkFlow(*ir.Node) (ir.Flow, error) { return ir.Flow{{Kind: ir.FlowFork}}, nil }

// matrix is op_linear: vectors of sf beats, of which each makes nf beats; one product step a cycle.
func matrix(vectors, sf, nf, regs int) ir.FlowStage {
	return ir.FlowStage{Kind: ir.FlowSteps, Steps: vectors * sf * nf, Regs: regs, Step: func(s int) ir.Step {
		step := ir.Step{Give: s%sf == sf-1}
		if s/sf%nf == 0 { // later outputs replay the vector
			step.Take = 1
		}
		return step
	}}
}

func linearFlow(n *ir.Node) (ir.Flow, error) {
	if kindsOf(n).window() {
		return blockLinearFlow(n)
	}
	if n.HW.Style == ir.StyleUnroll {
		return nil, nil
	}
	w := n.Args[1].Type.Shape
	sf := w[1] / n.HW.InLanes
	return ir.Flow{matrix(n.Args[0].Type.Elems()/w[1], sf, w[0]/n.HW.OutLanes, n.HW.Latency-sf), skid}, nil
}

func convFlow(n *ir.Node) (ir.Flow, error) {
	if kindsOf(n).window() {
		return blockConvFlow(n)
	}
	a := n.Attrs.(*ConvAttrs)
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, err
	}
	out := n.Type.Shape[len(n.Type.Shape)-1]
	if a.Depthwise(g, out) {
		return depthwiseFlow(n, g)
	}
	in, sf, nf := n.HW.InLanes, g.KH*g.KW*g.C/a.Groups/n.HW.InLanes, out/a.Groups/n.HW.OutLanes
	flow, err := windowFlow(g, n.HW.StreamIn, in, a.Groups, sf*nf*a.Groups)
	if err != nil {
		return nil, err
	}
	if plain := g.KH*g.KW*g.SH*g.SW == 1 && g.PT+g.PB+g.PL+g.PR == 0; plain && in > n.HW.StreamIn && nf > 1 {
		flow = append(flow, ir.FlowStage{Kind: ir.FlowFifo, N: g.C / a.Groups / in})
	}
	least, err := timing("op_conv", append(geometryParams(g), "STREAM_LANES", n.HW.StreamIn, "IN_LANES", in, "OC", out,
		"OUT_LANES", n.HW.OutLanes, "GROUPS", a.Groups)...)
	if err != nil {
		return nil, err
	}
	tree, err := locals("op_linear", "IN_LANES", in)
	if err != nil {
		return nil, err
	}
	regs := tree["FRONT"] + 1 + n.HW.Latency - least // behind the sum: shifts and the like
	return append(flow, matrix(g.OH*g.OW*a.Groups, sf, nf, regs), skid), nil
}

func depthwiseFlow(n *ir.Node, g *Geometry) (ir.Flow, error) {
	lanes := n.HW.InLanes
	if lanes > g.C {
		return depthwiseWideFlow(n, g)
	}
	flow, err := windowFlow(g, lanes, lanes, g.C/lanes, 1)
	if err != nil {
		return nil, err
	}
	least, err := timing("op_dwconv", append(geometryParams(g), "LANES", lanes)...)
	if err != nil {
		return nil, err
	}
	const front = 3 // as in op_dwconv
	return append(flow, taps(g, lanes, front+1+n.HW.Latency-least), skid), nil
}

func depthwiseWideFlow(n *ir.Node, g *Geometry) (ir.Flow, error) {
	in, stream := n.HW.InLanes, n.HW.StreamIn
	busy := g.KH * g.KW * g.C / in
	flow, err := windowFlow(g, stream, in, 1, busy)
	if err != nil {
		return nil, err
	}
	params := append(geometryParams(g), "STREAM_LANES", stream, "TAP_LANES", in/g.C)
	least, err := timing("op_dwconv_wide", params...)
	if err != nil {
		return nil, err
	}
	v, err := locals("op_dwconv_wide", params...)
	return append(flow, matrix(g.OH*g.OW, busy, 1, v["STAGES"]+1+n.HW.Latency-least), skid), err
}

// taps takes all elements of each window and gives a result with the last.
func taps(g *Geometry, lanes, regs int) ir.FlowStage {
	k := g.KH * g.KW
	return ir.FlowStage{Kind: ir.FlowSteps, Steps: g.OH * g.OW * g.C / lanes * k, Regs: regs, Step: func(s int) ir.Step {
		return ir.Step{Take: 1, Give: s%k == k-1}
	}}
}

// poolFlow is op_pool.
func poolFlow(g *Geometry, lanes int) (ir.Flow, error) {
	if g.SH >= g.KH && g.SW >= g.KW && g.PT+g.PL+g.PB+g.PR == 0 && (g.KH-1)*(g.DH-1)+(g.KW-1)*(g.DW-1) == 0 {
		return tileFlow(g, lanes), nil
	}
	flow, err := windowFlow(g, lanes, lanes, g.C/lanes, 1)
	return append(flow, taps(g, lanes, 0), skid), err
}

// tileFlow is op_pool_tile: a beat a cycle, and a result with the last beat of each window.
func tileFlow(g *Geometry, lanes int) ir.Flow {
	cf := g.C / lanes
	return ir.Flow{{Kind: ir.FlowSteps, Steps: g.H * g.W * cf, Step: func(s int) ir.Step {
		x, y := s/cf%g.W, s/cf/g.W
		return ir.Step{Take: 1, Give: x%g.SW == g.KW-1 && y%g.SH == g.KH-1 && x/g.SW < g.OW && y/g.SH < g.OH}
	}}, skid}
}

func maxPoolFlow(n *ir.Node) (ir.Flow, error) {
	g, err := poolGeometry(n, n.Attrs.(*Window))
	if err != nil {
		return nil, err
	}
	return poolFlow(g, n.HW.InLanes)
}

func avgPoolFlow(n *ir.Node) (ir.Flow, error) {
	a := n.Attrs.(*AvgAttrs)
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	common, factors, err := a.factors(n.Args[0].Type.Shape)
	if err != nil {
		return nil, err
	}
	if slices.Min(factors) == slices.Max(factors) {
		flow, err := poolFlow(g, n.HW.InLanes)
		if err != nil {
			return nil, err
		}
		return meanFlow(flow, n, int(common/factors[0]))
	}
	flow, err := windowFlow(g, n.HW.InLanes, n.HW.InLanes, g.C/n.HW.InLanes, 1)
	if err != nil {
		return nil, err
	}
	weigh, err := timing("op_pool_weigh")
	if err != nil {
		return nil, err
	}
	flow = append(flow, taps(g, n.HW.InLanes, 0), skid)
	flow = append(flow, ir.Pipeline(1, n.Type.Elems()/n.HW.OutLanes, weigh)...)
	return meanFlow(flow, n, int(common))
}

func globalAvgFlow(n *ir.Node) (ir.Flow, error) {
	a, err := globalWindow(n)
	if err != nil {
		return nil, err
	}
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, err
	}
	pixels := g.H * g.W // one row under one window
	row := &Geometry{H: 1, W: pixels, C: g.C, KH: 1, KW: pixels, SH: 1, SW: pixels, OH: 1, OW: 1}
	return meanFlow(tileFlow(row, n.HW.InLanes), n, pixels)
}

// meanFlow appends op_pool_mean.
func meanFlow(flow ir.Flow, n *ir.Node, div int) (ir.Flow, error) {
	real := 0
	if realMean(n) {
		real = 1 // bits of a factor: any but none
	}
	v, err := locals("op_pool_mean", "DIV", div, "M_W", real)
	return append(flow, ir.Pipeline(1, n.Type.Elems()/n.HW.OutLanes, v["STAGES"]+1)...), err
}
