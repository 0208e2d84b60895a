// SPDX-License-Identifier: Apache-2.0

package op

import (
	"strconv"

	"lathe/ir"
)

// wireFlow is that of a node without a unit.
var wireFlow = ir.Flow{}

// counted are the parameters, integers all, of the unit of n, as its RTL column gives them.
func counted(n *ir.Node) (map[string]int, error) {
	u, err := n.Op.RTL(n)
	if err != nil || u.Module == "" {
		return nil, err
	}
	values := map[string]int{}
	for _, p := range u.Params {
		if v, err := strconv.Atoi(p.Value); err == nil {
			values[p.Name] = v
		}
	}
	return values, nil
}

// moveFlow is the flow of a unit that moves beats, given the parameters of its module.
func moveFlow(flow func(v map[string]int) ir.Flow) func(n *ir.Node) (ir.Flow, error) {
	return func(n *ir.Node) (ir.Flow, error) {
		v, err := counted(n)
		if v == nil {
			return wireFlow, err
		}
		return flow(v), nil
	}
}

func concatFlow(v map[string]int) ir.Flow {
	a, b := v["A_BEATS"], v["B_BEATS"]
	return ir.Flow{{Steps: v["GROUPS"] * (a + b), Step: func(s int) ir.Step {
		if s%(a+b) < a {
			return ir.Step{Take: 1, Give: true}
		}
		return ir.Step{Take: 2, Give: true}
	}}, skid}
}

func sliceFlow(v map[string]int) ir.Flow {
	beats, first, run, every, count := v["BEATS"], v["FIRST"], v["RUN"], v["EVERY"], v["COUNT"]
	return ir.Flow{{Steps: v["GROUPS"] * beats, Step: func(s int) ir.Step {
		at := s%beats - first
		keep := at >= 0 && at/every < count && at%every < run
		return ir.Step{Take: 1, Give: keep, Free: !keep}
	}}, skid}
}

func padFlow(v map[string]int) ir.Flow {
	before, body := v["BEFORE"], v["BODY"]
	turn := before + body + v["AFTER"]
	return ir.Flow{{Steps: v["GROUPS"] * turn, Step: func(s int) ir.Step {
		at, step := s%turn, ir.Step{Give: true}
		if at == 0 || at > before && at < before+body { // the first beat is kept for its place
			step.Take = 1
		}
		return step
	}}, skid}
}

func repeatFlow(v map[string]int) ir.Flow {
	beats, times := v["BEATS"], v["TIMES"]
	return ir.Flow{{Steps: v["GROUPS"] * beats * times, Step: func(s int) ir.Step {
		if s/beats%times == 0 {
			return ir.Step{Take: 1, Give: true}
		}
		return ir.Step{Give: true}
	}}, skid}
}

func reorderFlow(v map[string]int) ir.Flow {
	beats := v["BEATS"]
	out := v["D0"] * v["D1"] * v["D2"] * v["D3"] * v["D4"] * v["D5"]
	return ir.Flow{{Kind: ir.FlowMemory, N: 2 * beats, Frame: beats, Steps: out, Regs: 2,
		Need: func(int) int { return beats }, Freed: func(int) int { return 0 }}, skid}
}

// reduceFlow is op_reduce, and op_reduce_mean for sums and means.
func (k reduction) flow(n *ir.Node) (ir.Flow, error) {
	r, ok := ReduceRun(n)
	if !ok {
		return nil, nil
	}
	lanes := n.HW.InLanes
	row := &Geometry{H: r.Outer, W: r.N, C: r.Inner, KH: 1, KW: r.N, SH: 1, SW: r.N, OH: r.Outer, OW: 1}
	var flow ir.Flow
	if r.Inner == 1 {
		row.W, row.KW, row.SW = r.N/lanes, r.N/lanes, r.N/lanes
		if lanes > 1 {
			v, err := locals("op_reduce", "INNER", 1, "LANES", lanes)
			if err != nil {
				return nil, err
			}
			flow = ir.Pipeline(1, r.Outer*r.N/lanes, v["TREE"]+1)[:1]
		}
		lanes = 1
	}
	flow = append(flow, tileFlow(row, lanes)...)
	switch k {
	case reduceSum:
		return meanFlow(flow, n, 1)
	case reduceMean:
		return meanFlow(flow, n, r.N)
	}
	return flow, nil
}

func argMaxFlow(n *ir.Node) (ir.Flow, error) {
	r, ok := ReduceRun(n)
	if !ok {
		return nil, nil
	}
	beats := r.N / n.HW.InLanes
	var flow ir.Flow
	if n.HW.InLanes > 1 {
		flow = ir.Pipeline(1, r.Outer*beats, 2)[:1]
	}
	return append(flow, ir.FlowStage{Steps: r.Outer * beats, Step: func(s int) ir.Step {
		return ir.Step{Take: 1, Give: s%beats == beats-1}
	}}, skid), nil
}

// blockRows is mx_linear: vectors of sf beats, whose rows leave in drain beats for each turn of the vector.
func blockRows(n *ir.Node, vectors, sf, turns int) (ir.Flow, error) {
	regs, err := timing("mx_linear", "IN", n.HW.InLanes, "IN_LANES", n.HW.InLanes)
	if err != nil {
		return nil, err
	}
	drain := n.HW.Rows / n.HW.OutLanes
	return ir.Flow{matrix(vectors, sf, turns, regs-1), {Steps: vectors * turns * drain, Step: func(s int) ir.Step {
		step := ir.Step{Give: true}
		if s%drain == 0 {
			step.Take = 1
		}
		return step
	}}, skid}, nil
}

func blockLinearFlow(n *ir.Node) (ir.Flow, error) {
	w := n.Args[1].Type.Shape
	return blockRows(n, n.Args[0].Type.Elems()/w[1], w[1]/n.HW.InLanes, w[0]/n.HW.Rows)
}

// blockConvFlow is mx_conv, whose window generator takes beats for channels.
func blockConvFlow(n *ir.Node) (ir.Flow, error) {
	g, err := NewGeometry(n.Args[0].Type.Shape, &n.Attrs.(*ConvAttrs).Window)
	if err != nil {
		return nil, err
	}
	beats := *g
	beats.C = g.C / n.HW.InLanes
	sf, turns := g.KH*g.KW*beats.C, n.Type.Shape[len(n.Type.Shape)-1]/n.HW.Rows
	flow, err := windowFlow(&beats, 1, 1, 1, sf*turns)
	if err != nil {
		return nil, err
	}
	rows, err := blockRows(n, g.OH*g.OW, sf, turns)
	return append(flow, rows...), err
}

// castFlow is mx_encode for blocks: their beats wait until the last of the block is there.
func castFlow(n *ir.Node) (ir.Flow, error) {
	m, blocks := mxOf(n.Type)
	if _, from := mxOf(n.Args[0].Type); !blocks || from {
		return nil, nil
	}
	row, lanes := n.Type.Shape[len(n.Type.Shape)-1], n.HW.InLanes
	block, run := min(row, m.K)/lanes, row/lanes
	ends := func(s int) int { return s/run*run + min((s%run/block+1)*block, run) }
	return ir.Flow{{Kind: ir.FlowMemory, N: block + 3, Frame: n.Type.Elems() / lanes, Steps: n.Type.Elems() / lanes,
		Need: ends, Freed: func(s int) int { return s }, Regs: 2, Late: true}, skid}, nil
}

// pairFlow is op_pair_const, which waits for its memory in registers of its own; op_pair is a pipeline.
func pairFlow(n *ir.Node) (ir.Flow, error) {
	if !n.Args[0].IsConst() && !n.Args[1].IsConst() {
		return nil, nil
	}
	const memory = 2
	beats := frameBeats(n.Type, n.HW.OutLanes)
	return append(ir.Pipeline(1, beats, memory+1)[:1], ir.Pipeline(1, beats, n.HW.Latency-memory)...), nil
}
