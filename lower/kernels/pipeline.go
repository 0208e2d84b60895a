// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/float/simplify"
	"lathe/lower/kernels/fuse"
	"lathe/lower/pass"
)

// Pipeline decides what a GPU computes together.
var Pipeline = pass.Pipeline[*stage]{
	pass.New("set_precision", "values of float graphs get the formats that kernels keep them in", pass.Lossy, 0,
		func(s *stage, g *ir.Graph) error { return s.precision.set(g) }),
	{Promise: float.Constants.Promise, Run: only(ref.Compute)}, // of graphs that were saved quantized
	pass.New("write_out_time", "layers with a state become their steps, one after the other, which have kernels",
		pass.Exact, 0, only(simplify.Steps)),
	pass.New("join_linear", "linear layers on the same data, queries, keys and values, become one", pass.Exact, 0,
		only(fuse.Linears)),
	pass.New("join_rotary", "queries and keys that are columns of one value are turned together", pass.Exact, 0,
		only(fuse.Rotaries)),
	pass.New("group_kernels", "an operation, the moves in front of it and what follows become one kernel", pass.Annotate,
		0, func(s *stage, g *ir.Graph) error {
			s.report.Borders = fuse.Groups(g, s.target)
			return nil
		}),
	pass.New("round_at_borders", "floats of 16 bits are rounded where a kernel ends, and not within", pass.Lossy, 0,
		only(fuse.Round)),
}

// Orders are the reasons for the order of Pipeline.
var Orders = []pass.Order{
	pass.First("set_precision", "join_linear", "weights are rounded, and kept in blocks, one by one"),
	pass.First("set_precision", "group_kernels", "columns are asked for the formats that kernels keep"),
	pass.First("compute_constants", "group_kernels", "a kernel computes what inputs decide"),
	pass.First("write_out_time", "group_kernels", "products and functions of a step are groups of their own"),
	pass.First("join_linear", "join_rotary", "queries and keys are columns of one value where one layer computes both"),
	pass.First("join_rotary", "group_kernels", "what is joined is one anchor"),
	pass.First("group_kernels", "round_at_borders", "groups say where values leave a kernel"),
}
