// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/source"
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
		return nil, diag.New(source.CodeLimit, "", "graphs stand more than %d deep in each other", maxSubgraphs).
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

// decodeFunction reads a FunctionProto.
func decodeFunction(m message, f *function) error {
	var domains []string
	err := m.each(func(fd *field) (err error) {
		switch fd.num {
		case 1, 4, 5, 6, 10, 13:
			err = f.decodeText(fd)
		case 7:
			f.body.nodes, err = appendDecoded(f.body.nodes, fd, decodeNode)
		case 9:
			err = decodeOpset(fd, &f.opset, &domains)
		case 11:
			f.defaults, err = appendDecoded(f.defaults, fd, decodeAttr)
		}
		return err
	})
	if err != nil {
		return err
	}
	if f.name == "" {
		return broken(m.at, "a function has no name")
	}
	return limit("nodes of a function", len(f.body.nodes), maxNodes)
}

func (f *function) decodeText(fd *field) error {
	s, err := fd.text()
	switch fd.num {
	case 1:
		f.name = s
	case 4:
		f.body.inputs = append(f.body.inputs, valueInfo{name: s})
	case 5:
		f.body.outputs = append(f.body.outputs, valueInfo{name: s})
	case 6:
		f.attrs = append(f.attrs, s)
	case 10:
		if f.domain = s; s == "ai.onnx" {
			f.domain = ""
		}
	case 13:
		f.overload = s
	}
	return err
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
