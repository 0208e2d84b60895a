// SPDX-License-Identifier: Apache-2.0

package op

import "lathe/ir"

// windowFlow is op_window without a skid: windows of a frame, lanes of out elements, from beats of in channels. pace is
// how many cycles the consumer takes for a window.
func windowFlow(g *Geometry, in, out, groups, pace int) (ir.Flow, error) {
	v, err := locals("op_window", append(geometryParams(g), "IN_LANES", in, "OUT_LANES", out, "GROUPS", groups,
		"PACE", pace)...)
	if err != nil {
		return nil, err
	}
	var flow ir.Flow
	if v["MEM_LANES"] != in {
		flow = append(flow, ir.FlowStage{Kind: ir.FlowWiden, N: v["MEM_LANES"] / in})
	}
	switch {
	case v["PLAIN"] != 0 && v["MEM_LANES"] != out:
		flow = append(flow, ir.FlowStage{Kind: ir.FlowNarrow, N: v["MEM_LANES"] / out}, skid)
	case v["PLAIN"] != 0:
	case v["WIDE"] != 0:
		return wideFlow(flow, g, v, out)
	default:
		flow = append(flow, partsFlow(g, v, out))
	}
	return flow, nil
}

// sweeps are the rows that each row of windows reads, as op_window_track counts them.
type sweeps struct{ h, span, stride, top, rows int }

func (w sweeps) first(k int) int { return min(max(k*w.stride-w.top, 0), w.h) }

func (w sweeps) last(k int) int {
	y := k*w.stride - w.top
	switch {
	case y < 1-w.span:
		return 0
	case y > w.h-w.span:
		return w.h - 1
	}
	return y + w.span - 1
}

// frees is how many rows nobody reads after sweep k.
func (w sweeps) frees(k int) int {
	if k == w.rows-1 {
		return w.h - w.first(k)
	}
	return w.first(k+1) - w.first(k)
}

// partsFlow is op_window_seq: windows in parts of pixels from a memory of whole rows.
func partsFlow(g *Geometry, v map[string]int, out int) ir.FlowStage {
	rows := sweeps{h: v["YH"], span: v["KS"], stride: v["YSH"], top: v["YPT"], rows: v["YOH"]}
	width, stride, reach, left, count := g.W, g.SW, (g.KW-1)*g.DW, g.PL, g.OW
	if v["TURNED"] != 0 { // a frame of one row is one column there
		width, stride, reach, left, count = v["XW"], g.SH, (g.KH-1)*g.DH, g.PT, g.OH
	}
	words := g.C / v["MEM_LANES"]
	window := g.KH * g.KW * g.C / out
	return ir.FlowStage{Kind: ir.FlowMemory, N: v["NB"] * width * words, Frame: rows.h * width * words, Regs: 2,
		Steps: rows.rows * count * window,
		Need: func(s int) int {
			x := s/window%count*stride - left + reach
			return (rows.last(s/window/count)*width + min(max(x, 0), width-1) + 1) * words
		},
		Freed: func(s int) int { return rows.first(s/window/count) * width * words },
	}
}

// wideFlow is op_window_wide: a column of pixels a cycle from row memories, then a chain of columns.
func wideFlow(flow ir.Flow, g *Geometry, v map[string]int, out int) (ir.Flow, error) {
	if g.KH*g.SH+g.PT+g.PB > 1 {
		rows := sweeps{h: g.H, span: (g.KH-1)*g.DH + 1, stride: g.SH, top: g.PT, rows: g.OH}
		flow = append(flow, ir.FlowStage{Kind: ir.FlowMemory, N: v["NB"] * g.W, Frame: g.H * g.W, Regs: 1, Steps: g.OH * g.W,
			Need: func(s int) int { return rows.last(s/g.W)*g.W + s%g.W + 1 },
			Freed: func(s int) int {
				k, x := s/g.W, s%g.W
				if rows.frees(k) == 0 {
					x = 0
				}
				return rows.first(k)*g.W + x
			}})
	}
	c, err := locals("op_window_cols", "W", g.W, "KW", g.KW, "SW", g.SW, "DW", g.DW, "PL", g.PL, "PR", g.PR)
	if err != nil {
		return nil, err
	}
	flow = append(flow, ir.FlowStage{Kind: ir.FlowColumns, Columns: ir.Columns{W: g.W, First: c["FIRST"], Last: c["LAST"],
		Step: g.SW, Ahead: c["AHEAD"]}})
	if parts := g.KH * g.KW * g.C / out; parts > 1 {
		flow = append(flow, ir.FlowStage{Kind: ir.FlowNarrow, N: parts}, skid)
	}
	return flow, nil
}
