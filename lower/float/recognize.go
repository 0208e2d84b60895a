// SPDX-License-Identifier: Apache-2.0

package float

import (
	"context"
	"slices"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float/recognize"
	"lathe/lower/float/simplify"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Recognizing makes operations whole that exporters have decomposed. The graph stays float.
var Recognizing = slices.Concat(pass.Pipeline[*State]{
	Constants,
	pass.New("drop_identity", "removes nodes that return their argument", pass.Exact, 0, only(simplify.Identities)),
	pass.New("sink_reshape",
		"reshapes by axes of one element move after element-wise operations, which broadcast by themselves",
		pass.Exact, 0, only(simplify.Spreads)),
	pass.New("share_common", "nodes that compute the same value become one", pass.Exact, 0, only(simplify.Common)),
}, recognizers(), pass.Pipeline[*State]{
	pass.New("share_weights", "constants that are the same become one", pass.Exact, 0, only(simplify.Common)),
	pass.New("join_reshape", "reshapes in a row become one", pass.Exact, 0, only(simplify.Reshapes)),
})

// recognizers are the passes of recognize.Groups.
func recognizers() (p pass.Pipeline[*State]) {
	for _, group := range recognize.Groups {
		p = append(p, pass.New(group.Name, group.Doc, pass.Lossy, rounding, recognizer(group)))
	}
	return p
}

// recognizing is what makes operations of the named passes whole, ahead of all else: the passes of Recognizing in front
// of the patterns, then those.
func recognizing(names ...string) pass.Pipeline[*State] {
	return slices.Concat(Recognizing.Before("recognize_functions"), Recognizing.Named(names))
}

func recognizer(group recognize.Group) func(*State, *ir.Graph) error {
	return func(s *State, g *ir.Graph) error {
		s.Recognized = append(s.Recognized, recognize.Run(g, group.Patterns)...)
		return ref.Compute(g) // weights that patterns turned or cut
	}
}

// Recognize runs Recognizing. g is not changed. Under Options.Verify each pass is held to its bound on random
// samples; the report says what was found.
func Recognize(ctx context.Context, g *ir.Graph, o pass.Options) (*ir.Graph, *Report, error) {
	s, report, c := &State{}, &Report{}, g.Clone()
	if o.Verify && Affordable(g) == 0 {
		o.Verify = false
		report.Note("the error of recognized operations is not measured: the model is large")
	}
	if err := pass.Run(NewRunner(ctx, c, plan.Default(), nil, &report.Report, o), s, Recognizing, c); err != nil {
		return nil, nil, err
	}
	report.Recognized = standing(c, s.Recognized)
	return c, report, nil
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
