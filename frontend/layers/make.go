// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"maps"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/custom"
	"lathe/ir/op/leaf"
)

// Maker makes nodes; suffix "" is the one that users see under the name of the layer.
type Maker interface {
	Emit(suffix string, o *ir.Op, attrs any, args ...*ir.Node) (*ir.Node, error)
	Const(suffix string, data *ir.Blob, shape []int) (*ir.Node, error)
}

// Make writes a use of the operation in a model, with the attributes that the model gives, as texts. Errors L0231.
func (o *Op) Make(m Maker, given map[string]string, args []*ir.Node) ([]*ir.Node, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := o.defaults[name]; !known {
			return nil, o.misused("has an attribute %s, which its declaration lacks", name).
				WithHint("declare it with a default: attributes = {%s = %s}; $%s stands for its value", name, given[name], name)
		}
	}
	for i, a := range args {
		if a == nil || !a.Type.IsFloat() {
			return nil, o.misused("input %d is not of real numbers", i)
		}
	}
	one := func(op *ir.Op, attrs any, want int) ([]*ir.Node, error) {
		if len(args) != want {
			return nil, o.misused("%d inputs; it takes %d", len(args), want)
		}
		n, err := m.Emit("", op, attrs, args...)
		return []*ir.Node{n}, err
	}
	switch {
	case o.module != nil:
		return one(custom.Module, ir.CloneAttrs(o.module), len(o.module.Exact.In))
	case o.points != nil:
		return one(curve.Polyline, ir.CloneAttrs(o.points), 1)
	}
	text, ok := o.filled(o.formula+o.graph, given)
	if !ok {
		return nil, o.misused("reads an attribute that neither the model nor its declaration gives")
	}
	if o.formula != "" {
		return one(curve.Formula, &curve.FormulaAttrs{Text: text}, 1)
	}
	g, err := o.parse(o.named, text, ir.StageFloat)
	if err != nil {
		return nil, err
	}
	return o.expand(m, g, args)
}

func (o *Op) misused(msg string, args ...any) *diag.Error {
	return diag.New(diag.OpsUse, "", msg, args...).WithNote("declared in %s", o.At)
}

// expand writes the graph in the place of the use. Shapes follow from those of the arguments.
func (o *Op) expand(m Maker, g *ir.Graph, args []*ir.Node) ([]*ir.Node, error) {
	if len(args) != len(g.In) {
		return nil, o.misused("%d inputs; its graph takes %d", len(args), len(g.In))
	}
	nodes := map[*ir.Node]*ir.Node{}
	for i, in := range g.In {
		if len(in.Type.Shape) != len(args[i].Type.Shape) {
			return nil, o.misused("input %d is %s, and %s in its graph: the number of axes differs", i,
				ir.ShapeString(args[i].Type.Shape), ir.ShapeString(in.Type.Shape))
		}
		nodes[in] = args[i]
	}
	for _, n := range g.Nodes {
		if n.Op == leaf.Input {
			continue
		}
		suffix := n.Name
		if len(g.Out) == 1 && n == g.Out[0].Node {
			suffix = ""
		}
		var made *ir.Node
		var err error
		if c, ok := n.Attrs.(*ir.Const); ok {
			made, err = m.Const(suffix, c.Data, n.Type.Shape)
		} else {
			in := make([]*ir.Node, len(n.Args))
			for i, a := range n.Args {
				in[i] = nodes[a]
			}
			made, err = m.Emit(suffix, n.Op, ir.CloneAttrs(n.Attrs), in...)
		}
		if err != nil {
			return nil, o.misused("node %%%s of its graph does not fit: %s", n.Name, strings.TrimSpace(diag.Message(err)))
		}
		nodes[n] = made
	}
	out := make([]*ir.Node, len(g.Out))
	for i := range out {
		out[i] = nodes[g.Out[i].Node]
	}
	return out, nil
}
