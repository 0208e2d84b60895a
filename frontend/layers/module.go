// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/custom"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// readModule reads the source of a module and the graph that states what it computes.
func (o *Op) readModule(d *declared, dir string) error {
	if d.Reference == "" {
		return o.fail("a module needs reference, a quantized text graph that computes the same codes").
			WithHint("docs/own-layers.md has one")
	}
	source, err := os.ReadFile(filepath.Join(dir, d.Module))
	if err != nil {
		return o.fail("module %s: cannot be read: %v", d.Module, reason(err))
	}
	src, err := o.textOrFile("reference", d.Reference, dir)
	if err != nil {
		return err
	}
	exact, err := o.parse(fileName("reference", d.Reference), src, ir.StageQuantized)
	if err != nil {
		return err
	}
	o.module = &custom.ModuleAttrs{Source: string(source), Exact: exact}
	for _, name := range slices.Sorted(maps.Keys(d.Parameters)) {
		o.module.Parameters = append(o.module.Parameters, fmt.Sprintf("%s=%d", name, d.Parameters[name]))
	}
	if o.module.Float, err = floats(exact); err != nil {
		return o.at(err)
	}
	return o.at(o.module.Check())
}

// floats is a quantized graph on real numbers: constants have their values, and nothing is rounded.
func floats(g *ir.Graph) (*ir.Graph, error) {
	out := &ir.Graph{Name: g.Name}
	made := map[*ir.Node]*ir.Node{}
	for _, n := range g.Nodes {
		r := &ir.Node{Name: n.Name, Op: n.Op, Pos: n.Pos, Attrs: ir.CloneAttrs(n.Attrs), Type: ir.Float(n.Type.Shape...)}
		for _, a := range n.Args {
			r.Args = append(r.Args, made[a])
		}
		switch {
		case n.Op == leaf.Input:
			out.In = append(out.In, r)
		case n.IsConst():
			t, err := n.Value()
			if err != nil {
				return nil, err
			}
			values, err := t.Decode()
			if err != nil {
				return nil, err
			}
			values32 := make([]float32, len(values))
			for i, v := range values {
				values32[i] = float32(v)
			}
			r.Attrs = &ir.Const{Data: ir.FloatBlob(values32)}
		case n.Op == pointwise.Cast:
			r.Op, r.Attrs = move.Identity, nil
		}
		made[n] = r
		out.Nodes = append(out.Nodes, r)
	}
	for _, o := range g.Out {
		out.Out = append(out.Out, ir.Output{Name: o.Name, Node: made[o.Node], Perm: o.Perm})
	}
	if err := out.Check(); err != nil {
		return nil, diag.New(diag.OpsFile, "", "its reference has no form on real numbers: %s", diag.Message(err))
	}
	return out, nil
}
