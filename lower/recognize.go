// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"

	"lathe/ir"
	"lathe/lower/recognize"
	"lathe/lower/simplify"
)

// RecognizePipeline makes operations whole that exporters have decomposed. The graph stays float.
var RecognizePipeline = slices.Concat(Pipeline{
	{"compute_constants", "computes nodes whose arguments are all constants", Exact, 0, only(simplify.Constants)},
	{"drop_identity", "removes nodes that return their argument", Exact, 0, only(simplify.Identities)},
	{"sink_reshape", "reshapes by axes of one element move after element-wise operations, which broadcast by themselves",
		Exact, 0, only(simplify.Spreads)},
	{"share_common", "nodes that compute the same value become one", Exact, 0, only(simplify.Common)},
}, recognizers(), Pipeline{
	{"absorb_weights", "computes the constants that patterns turned or cut", Exact, 0, only(simplify.Constants)},
	{"share_weights", "constants that are the same become one", Exact, 0, only(simplify.Common)},
	{"join_reshape", "reshapes in a row become one", Exact, 0, only(simplify.Reshapes)},
})

// recognizers are the passes of recognize.Table.
func recognizers() Pipeline {
	var p Pipeline
	for _, group := range recognize.Table {
		p = append(p, Pass{group.Name, group.Doc, Lossy, rounding, recognizer(group.Patterns)})
	}
	return p
}

func recognizer(patterns []recognize.Pattern) func(*State, *ir.Graph) error {
	return func(s *State, g *ir.Graph) error {
		s.Report.Recognized = append(s.Report.Recognized, recognize.Run(g, patterns)...)
		return nil
	}
}

// Recognize runs RecognizePipeline. g is not changed. Under Options.Verify each pass is held to its bound on random
// samples; the report says what was found.
func Recognize(ctx context.Context, g *ir.Graph, o Options) (*ir.Graph, *Report, error) {
	s := &State{Plan: DefaultPlan(), Report: &Report{}}
	c := g.Clone()
	if o.Verify && affordable(g) == 0 {
		o.Verify = false
		s.Report.note("the error of recognized operations is not measured: the model is large")
	}
	if err := newRunner(ctx, c, s, o).run(s, RecognizePipeline, c); err != nil {
		return nil, nil, err
	}
	s.Report.Recognized = standing(c, s.Report.Recognized)
	return c, s.Report, nil
}

// standing leaves out what became part of something larger: the softmax of an attention.
func standing(g *ir.Graph, found []recognize.Found) []recognize.Found {
	ops := make(map[string]string, len(g.Nodes))
	for _, n := range g.Nodes {
		ops[n.Name] = n.Op.Name
	}
	var out []recognize.Found
	for _, f := range found {
		f.Nodes = slices.DeleteFunc(f.Nodes, func(name string) bool { return ops[name] != f.Op })
		if len(f.Nodes) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// wholeRange is the range of random values of an input of whole numbers: positions in what they pick from, else 0 and
// 1.
func wholeRange(g *ir.Graph, in *ir.Node) (lo, hi float64) {
	least := positionsOf(g, in)
	if least == 0 {
		least = 2
	}
	return -0.49, float64(least) - 0.51
}
