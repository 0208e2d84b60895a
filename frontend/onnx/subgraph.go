// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/internal/diag"
)

// maxSubgraphs bounds graphs inside each other. Each lies three messages deeper: node, attribute, graph.
const maxSubgraphs = 8

func decodeSubgraph(f *field) (*graph, error) {
	sub, err := f.message()
	if err != nil {
		return nil, err
	}
	if sub.depth > 2+3*maxSubgraphs {
		return nil, diag.New(diag.ModelLimit, "", "graphs stand more than %d deep in each other", maxSubgraphs).
			WithNote("at byte %d", f.at)
	}
	return decodeGraph(sub)
}

// free lists the names that a graph reads and does not define.
func (g *graph) free() []string {
	defined := map[string]bool{"": true}
	for i := range g.inits {
		defined[g.inits[i].name] = true
	}
	for i := range g.inputs {
		defined[g.inputs[i].name] = true
	}
	for i := range g.nodes {
		for _, o := range g.nodes[i].out {
			defined[o] = true
		}
	}
	var names []string
	add := func(name string) {
		if !defined[name] {
			defined[name] = true
			names = append(names, name)
		}
	}
	for i := range g.nodes {
		for _, in := range g.nodes[i].in {
			add(in)
		}
		for _, in := range g.nodes[i].captures {
			add(in)
		}
	}
	for i := range g.outputs {
		add(g.outputs[i].name)
	}
	return names
}

// decodeOpset reads an OperatorSetId: the version of the default domain, or a name for the list of others.
func decodeOpset(f *field, opset *int64, domains *[]string) error {
	sub, err := f.message()
	if err != nil {
		return err
	}
	domain, version := "", int64(0)
	err = sub.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			domain, err = f.text()
		case 2:
			version, err = f.integer()
		}
		return err
	})
	if domain == "" || domain == "ai.onnx" {
		*opset = version
	} else {
		*domains = append(*domains, domain)
	}
	return err
}
