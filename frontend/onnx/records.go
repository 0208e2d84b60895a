// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/internal/diag"
)

// The records of the ONNX schema (onnx.proto, field numbers beside the reads) that the importer uses. Bytes are views.
type (
	model struct {
		ir        int64
		producer  string
		version   string   // of the producer
		opset     int64    // of the default domain; 0 if the file names none
		domains   []string // the other operator sets
		graph     *graph
		functions []function
	}
	graph struct {
		nodes   []node
		inits   []tensor
		inputs  []valueInfo
		outputs []valueInfo
		sparse  bool
	}
	node struct {
		name, op, domain string
		overload         string
		in, out          []string
		attrs            []attr
		// captures are the names that subgraphs read from outside.
		captures []string
		// scopes, classes and namespace are the metadata that hold the module path.
		scopes, classes, namespace []byte
	}
	attr struct {
		name   string
		kind   int64 // 0 in old files
		i      int64
		f      float32
		s      []byte
		t      *tensor
		ints   []int64
		floats []float32
		texts  [][]byte
		g      *graph
		has    kinds
		ref    string // the attribute of the function around that is meant
	}
	valueInfo struct {
		name  string
		dtype int64 // 0: no tensor
		dims  []dim
		rank  bool // the shape is known
	}
	dim struct {
		value int64
		name  string // of a symbolic dimension
		fixed bool
	}
)

// kinds is a set of attribute types by their ONNX numbers.
type kinds uint16

// The attribute types that the importer reads.
const (
	kindFloat  = 1
	kindInt    = 2
	kindString = 3
	kindTensor = 4
	kindGraph  = 5
	kindFloats = 6
	kindInts   = 7
	kindTexts  = 8
)

// Limits that no sound model reaches.
const (
	maxNodes  = 1_000_000
	maxRank   = 16
	maxFields = 1_000_000 // inputs, outputs or attributes of one node
)

// limit refuses more than most of something.
func limit(what string, n, most int) error {
	if n > most {
		return diag.New(diag.ModelLimit, "", "%d %s, the limit is %d", n, what, most)
	}
	return nil
}

func decodeModel(m message) (*model, error) {
	out := &model{}
	err := m.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			out.ir, err = f.integer()
		case 2:
			out.producer, err = f.text()
		case 3:
			out.version, err = f.text()
		case 7:
			var sub message
			if sub, err = f.message(); err == nil {
				out.graph, err = decodeGraph(sub)
			}
		case 8:
			err = decodeOpset(f, &out.opset, &out.domains)
		case 25:
			out.functions, err = appendDecoded(out.functions, f, decodeFunction)
		}
		return err
	})
	return out, err
}

func decodeGraph(m message) (*graph, error) {
	n, err := m.count(1, 5, 11, 12)
	if err != nil {
		return nil, err
	}
	for i, what := range [...]string{"nodes", "initializers", "graph inputs", "graph outputs"} {
		if err := limit(what, n[i], maxNodes); err != nil {
			return nil, err
		}
	}
	g := &graph{
		nodes: make([]node, 0, n[0]), inits: make([]tensor, 0, n[1]),
		inputs: make([]valueInfo, 0, n[2]), outputs: make([]valueInfo, 0, n[3]),
	}
	err = m.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			g.nodes, err = appendDecoded(g.nodes, f, decodeNode)
		case 5:
			g.inits, err = appendDecoded(g.inits, f, decodeTensor)
		case 11:
			g.inputs, err = appendDecoded(g.inputs, f, decodeValueInfo)
		case 12:
			g.outputs, err = appendDecoded(g.outputs, f, decodeValueInfo)
		case 15:
			g.sparse = true
		}
		return err
	})
	return g, err
}

// appendDecoded decodes the message in field f and appends it.
func appendDecoded[T any](list []T, f *field, decode func(message, *T) error) ([]T, error) {
	sub, err := f.message()
	if err != nil {
		return list, err
	}
	var v T
	if err := decode(sub, &v); err != nil {
		return list, err
	}
	return append(list, v), nil
}

func decodeNode(m message, n *node) error {
	c, err := m.count(1, 2, 5)
	if err != nil {
		return err
	}
	if err := limit("inputs, outputs or attributes of one node", max(c[0], c[1], c[2]), maxFields); err != nil {
		return err
	}
	n.in, n.out, n.attrs = make([]string, 0, c[0]), make([]string, 0, c[1]), make([]attr, 0, c[2])
	err = m.each(func(f *field) (err error) {
		switch f.num {
		case 1, 2, 3, 4, 7, 8:
			err = n.decodeText(f)
		case 5:
			n.attrs, err = appendDecoded(n.attrs, f, decodeAttr)
		case 9:
			err = n.decodeMetadata(f)
		}
		return err
	})
	for i := range n.attrs {
		if g := n.attrs[i].g; g != nil {
			n.captures = append(n.captures, g.free()...)
		}
	}
	switch {
	case err != nil:
		return err
	case n.op == "":
		return broken(m.at, "a node has no op_type")
	}
	return nil
}

func (n *node) decodeText(f *field) error {
	s, err := f.text()
	switch f.num {
	case 1:
		n.in = append(n.in, s)
	case 2:
		n.out = append(n.out, s)
	case 3:
		n.name = s
	case 4:
		n.op = s
	case 7:
		if n.domain = s; s == "ai.onnx" {
			n.domain = ""
		}
	case 8:
		n.overload = s
	}
	return err
}

func (n *node) decodeMetadata(f *field) error {
	key, val, err := f.keyValue()
	switch string(key) {
	case "pkg.torch.onnx.name_scopes":
		n.scopes = val
	case "pkg.torch.onnx.class_hierarchy":
		n.classes = val
	case "namespace":
		n.namespace = val
	}
	return err
}

// keyValue reads a StringStringEntry as views.
func (f *field) keyValue() (key, val []byte, err error) {
	sub, err := f.message()
	if err != nil {
		return nil, nil, err
	}
	err = sub.each(func(f *field) error {
		switch f.num {
		case 1:
			key = f.sub.buf
		case 2:
			val = f.sub.buf
		}
		return nil
	})
	return key, val, err
}

func decodeAttr(m message, a *attr) error {
	ints, floats := 0, 0
	err := m.each(func(f *field) (err error) {
		switch f.num {
		case 7:
			floats += max(1, len(f.sub.buf)/4)
		case 8:
			var n int
			n, err = f.terms()
			ints += n
		}
		return err
	})
	if err != nil {
		return err
	}
	a.ints, a.floats = slices.Grow(a.ints, ints), slices.Grow(a.floats, floats)
	if err := m.each(a.decodeField); err != nil {
		return err
	}
	if a.name == "" {
		return broken(m.at, "an attribute has no name")
	}
	return nil
}

func (a *attr) decodeField(f *field) (err error) {
	switch f.num {
	case 1:
		a.name, err = f.text()
	case 2:
		var b []byte
		var spare [4]byte
		if b, err = f.fixed(4, spare[:]); err == nil && len(b) == 4 {
			a.f, a.has = float32At(b), a.has|1<<kindFloat
		}
	case 3:
		a.i, err = f.integer()
		a.has |= 1 << kindInt
	case 4:
		a.s, err = f.sub.buf, f.want(2)
		a.has |= 1 << kindString
	case 5:
		var sub message
		if sub, err = f.message(); err == nil {
			a.t, a.has = &tensor{}, a.has|1<<kindTensor
			err = decodeTensor(sub, a.t)
		}
	case 7:
		var spare [4]byte
		var b []byte
		b, err = f.fixed(4, spare[:])
		for ; len(b) > 0; b = b[4:] {
			a.floats = append(a.floats, float32At(b))
		}
		a.has |= 1 << kindFloats
	case 8:
		err = f.varints(func(v uint64) { a.ints = append(a.ints, int64(v)) })
		a.has |= 1 << kindInts
	case 9:
		a.texts, err = append(a.texts, f.sub.buf), f.want(2)
		a.has |= 1 << kindTexts
	case 6:
		a.g, err = decodeSubgraph(f)
		a.has |= 1 << kindGraph
	case 20:
		a.kind, err = f.integer()
	case 21:
		a.ref, err = f.text()
	}
	return err
}

func float32At(b []byte) float32 {
	return math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

func decodeValueInfo(m message, v *valueInfo) error {
	return m.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			v.name, err = f.text()
		case 2:
			var sub message
			if sub, err = f.message(); err == nil {
				err = sub.each(v.decodeType)
			}
		}
		return err
	})
}

// decodeType reads TypeProto; types other than tensors leave dtype 0.
func (v *valueInfo) decodeType(f *field) error {
	if f.num != 1 {
		return nil
	}
	sub, err := f.message()
	if err != nil {
		return err
	}
	return sub.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			v.dtype, err = f.integer()
		case 2:
			var shape message
			if shape, err = f.message(); err == nil {
				v.rank, v.dims = true, nil
				err = shape.each(v.decodeDim)
			}
		}
		return err
	})
}

func (v *valueInfo) decodeDim(f *field) error {
	if f.num != 1 {
		return nil
	}
	sub, err := f.message()
	if err != nil {
		return err
	}
	var d dim
	err = sub.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			d.value, err = f.integer()
			d.fixed = true
		case 2:
			d.name, err = f.text()
		}
		return err
	})
	v.dims = append(v.dims, d)
	if err == nil {
		err = limit("dimensions of a graph input", len(v.dims), maxRank)
	}
	return err
}
