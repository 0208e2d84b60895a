// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
)

// end ends the model where the user wants it: the values of those names are the outputs of g, so that
// nodes behind them are not looked at. known are the names that values of g have; lost are names that only a look at
// all nodes may find.
func (im *importer) end(fr *frame, g *graph) (known, lost []string) {
	if im.opts.Outputs == nil {
		return nil, nil
	}
	values, labels := map[string]bool{}, make([]string, len(g.nodes))
	for i := range g.nodes {
		labels[i] = im.label(fr, &g.nodes[i])
		for _, out := range g.nodes[i].out {
			values[out] = out != ""
		}
	}
	for i := range g.inits {
		values[g.inits[i].name] = true
	}
	for i := range g.inputs {
		values[g.inputs[i].name] = true
	}
	var outs []string
	var nodes []string // what must be the name of a node
	for _, name := range im.opts.Outputs {
		if values[name] {
			outs = append(outs, name)
		} else {
			nodes = append(nodes, name)
		}
	}
	ends, lost := build.Ends(nodes, labels)
	for _, i := range ends {
		if out := g.nodes[i].out; len(out) > 0 && out[0] != "" {
			outs = append(outs, out[0])
		}
	}
	if len(lost) > 0 {
		for _, o := range g.outputs {
			outs = append(outs, o.name)
		}
	}
	slices.Sort(outs)
	g.outputs = nil
	for _, name := range slices.Compact(outs) {
		g.outputs = append(g.outputs, valueInfo{name: name})
	}
	return slices.Concat(sortedKeys(values), labels), lost
}

// outputs makes the outputs of the graph: those of the file, or what the user ends it at; known are names of values.
func (im *importer) outputs(fr *frame, known []string) error {
	if im.opts.Outputs == nil {
		for i := range im.model.graph.outputs {
			if err := im.output(fr, &im.model.graph.outputs[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return im.b.EndAt(im.opts.Outputs, known, func(name string) (bool, error) {
		if fr.values[name] == nil {
			return false, nil
		}
		return true, im.output(fr, &valueInfo{name: name})
	})
}
