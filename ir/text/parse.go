// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/base64"
	"reflect"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
)

// parser builds a graph from tokens.
type parser struct {
	lex     *lexer
	g       *ir.Graph
	nodes   map[string]*ir.Node
	in      map[string]*ir.Node // the inputs that the head lists
	pending []pending
	blobs   map[string]*ir.Blob // of the data sections and of the file
	data    Data
	area    []byte // the constants of a file, nil for a text
	used    int    // bytes of area that constants have taken
	// absent collects constants without data; nil if that is an error.
	absent map[*ir.Blob]string
}

// pending is a constant whose data are named by digest.
type pending struct {
	n      *ir.Node
	digest token
	dtype  ir.DType
}

// Parse reads a text graph; name stands for it in messages (name:line:column). Constants that the text does not hold
// are looked up in data, which may be nil. The graph is not checked: see ir.Graph.Check.
func Parse(name, src string, data Data) (*ir.Graph, error) {
	p := newParser(name, src, data)
	if err := p.file(); err != nil {
		return nil, err
	}
	return p.g, nil
}

func newParser(name, src string, data Data) *parser {
	if data == nil {
		data = none
	}
	return &parser{lex: newLexer(name, src), g: &ir.Graph{}, nodes: map[string]*ir.Node{}, in: map[string]*ir.Node{},
		data: data, blobs: map[string]*ir.Blob{}}
}

func (p *parser) file() error {
	if err := p.head(); err != nil {
		return err
	}
	for !p.lex.take("}") {
		if p.lex.peek().text == "return" && p.lex.peek().kind == tokWord {
			if err := p.outputs(); err != nil {
				return err
			}
			if _, err := p.lex.want("}"); err != nil {
				return err
			}
			break
		}
		if err := p.node(); err != nil {
			return err
		}
	}
	for p.lex.peek().kind != tokEnd {
		if err := p.section(); err != nil {
			return err
		}
	}
	return p.resolve()
}

// head reads "lathe 1 graph %name stage(inputs) {"; inputs are looked up at the end.
func (p *parser) head() error {
	if _, err := p.lex.want("lathe"); err != nil {
		return err
	}
	if t, err := p.lex.expect(tokWord, "a version"); err != nil {
		return err
	} else if t.text != "1" {
		return p.lex.fail(t, diag.GraphSyntax, "version %s of the text form is not known, 1 is", t.text)
	}
	if _, err := p.lex.want("graph"); err != nil {
		return err
	}
	name, err := p.lex.expect(tokName, "the name of the graph")
	if err != nil {
		return err
	}
	p.g.Name = name.text
	stage, err := p.lex.expect(tokWord, "the stage of the graph")
	if err != nil {
		return err
	}
	var words []string
	for s := ir.StageFloat; s <= ir.StageScheduled; s++ {
		words = append(words, s.String())
	}
	i := slices.Index(words, stage.text)
	if i < 0 {
		return p.hint(p.lex.fail(stage, diag.GraphValue, "%q is not a stage", stage.text), stage.text, words)
	}
	p.g.Stage = ir.Stage(i)
	return p.inputs()
}

// inputs reads the list of input names; the nodes stand below, so that they are made here and filled in there.
func (p *parser) inputs() error {
	if _, err := p.lex.want("("); err != nil {
		return err
	}
	for !p.lex.take(")") {
		if len(p.g.In) > 0 {
			if _, err := p.lex.want(","); err != nil {
				return err
			}
		}
		t, err := p.lex.expect(tokName, "the name of an input")
		if err != nil {
			return err
		}
		if p.in[t.text] != nil {
			return p.lex.fail(t, diag.GraphNameTwice, "input %s is listed twice", shown(t.text))
		}
		p.in[t.text] = &ir.Node{Name: t.text}
		p.g.In = append(p.g.In, p.in[t.text])
	}
	_, err := p.lex.want("{")
	return err
}

// hint adds the nearest of the candidates.
func (p *parser) hint(e *diag.Error, name string, candidates []string) error {
	if len(name) > 100 {
		return e
	}
	short := make([]string, 0, min(len(candidates), 1000))
	for _, c := range candidates[:min(len(candidates), 1000)] {
		if len(c) <= 100 {
			short = append(short, c)
		}
	}
	if near := diag.Nearest(name, short); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e
}

// node reads one line.
func (p *parser) node() error {
	t, err := p.lex.expect(tokName, "a node, return or }")
	if err != nil {
		return err
	}
	if p.nodes[t.text] != nil {
		return p.lex.fail(t, diag.GraphNameTwice, "%s is defined twice", shown(t.text))
	}
	n := p.in[t.text]
	if n == nil {
		n = &ir.Node{Name: t.text}
	}
	if _, err := p.lex.want("="); err != nil {
		return err
	}
	name, err := p.lex.expect(tokWord, "an operation")
	if err != nil {
		return err
	}
	if n.Op = op.Find(name.text); n.Op == nil {
		return p.hint(p.lex.fail(name, diag.UnknownOp, "unknown operation %s", shown(name.text)), name.text, op.Names())
	}
	if err := p.args(n); err != nil {
		return err
	}
	if err := p.attrs(n); err != nil {
		return err
	}
	if err := p.typ(n); err != nil {
		return err
	}
	p.nodes[n.Name] = n
	p.g.Nodes = append(p.g.Nodes, n)
	return p.facts(n)
}

func (p *parser) args(n *ir.Node) error {
	if !p.lex.take("(") {
		return nil
	}
	for !p.lex.take(")") {
		if len(n.Args) > 0 {
			if _, err := p.lex.want(","); err != nil {
				return err
			}
		}
		a, err := p.read()
		if err != nil {
			return err
		}
		n.Args = append(n.Args, a)
	}
	return nil
}

// read finds the node that a name above refers to.
func (p *parser) read() (*ir.Node, error) {
	t, err := p.lex.expect(tokName, "the name of a node")
	if err != nil {
		return nil, err
	}
	if n := p.nodes[t.text]; n != nil {
		return n, nil
	}
	names := make([]string, 0, min(len(p.g.Nodes), 1000))
	for _, n := range p.g.Nodes[:cap(names)] {
		names = append(names, n.Name)
	}
	return nil, p.hint(p.lex.fail(t, diag.GraphUndefined, "no node above is called %s", shown(t.text)), t.text, names)
}

// attrs reads {name = value, ...} into the struct that the operation declares.
func (p *parser) attrs(n *ir.Node) error {
	if n.Op.Attrs == nil {
		return nil
	}
	n.Attrs = reflect.New(reflect.TypeOf(n.Op.Attrs)).Interface()
	if c, ok := n.Attrs.(*ir.Const); ok {
		return p.constant(n, c)
	}
	return p.members(reflect.ValueOf(n.Attrs).Elem())
}

// members reads {name = value, ...}; nothing is as good as {}.
func (p *parser) members(v reflect.Value) error {
	if !p.lex.take("{") {
		return nil
	}
	all := fields(v)
	seen := make([]bool, len(all))
	for first := true; !p.lex.take("}"); first = false {
		if !first {
			if _, err := p.lex.want(","); err != nil {
				return err
			}
		}
		t, err := p.lex.expect(tokWord, "a name or }")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(f fieldOf) bool { return f.name == t.text })
		if i < 0 {
			var names []string
			for _, f := range all {
				names = append(names, f.name)
			}
			return p.hint(p.lex.fail(t, diag.GraphAttribute, "unknown field %s", shown(t.text)), t.text, names)
		}
		if seen[i] {
			return p.lex.fail(t, diag.GraphAttribute, "%s is given twice", t.text)
		}
		seen[i] = true
		if _, err := p.lex.want("="); err != nil {
			return err
		}
		if err := p.set(all[i].val); err != nil {
			return err
		}
	}
	return nil
}

// facts reads what may stand behind the type.
func (p *parser) facts(n *ir.Node) error {
	if p.lex.take("hw") {
		if err := p.members(reflect.ValueOf(&n.HW).Elem()); err != nil {
			return err
		}
	}
	if p.lex.take("stats") {
		if err := p.members(reflect.ValueOf(&n.Stats).Elem()); err != nil {
			return err
		}
	}
	if p.lex.take("@") {
		t, err := p.lex.expect(tokString, "a position in quotes")
		n.Pos = t.text
		return err
	}
	return nil
}

// outputs reads "return name = %node perm [...], ...".
func (p *parser) outputs() error {
	p.lex.step()
	for first := true; first || p.lex.take(","); first = false {
		t := p.lex.step()
		if t.kind != tokWord && t.kind != tokString {
			return p.lex.fail(t, diag.GraphSyntax, "the name of an output is expected")
		}
		if _, err := p.lex.want("="); err != nil {
			return err
		}
		n, err := p.read()
		if err != nil {
			return err
		}
		out := ir.Output{Name: t.text, Node: n}
		if p.lex.take("perm") {
			if err := p.set(reflect.ValueOf(&out.Perm).Elem()); err != nil {
				return err
			}
		}
		p.g.Out = append(p.g.Out, out)
	}
	return nil
}

// section reads "data dtype digest { ... }", or in a file a blob line.
func (p *parser) section() error {
	if p.area != nil && p.lex.take("blob") {
		return p.blob()
	}
	if _, err := p.lex.want("data"); err != nil {
		return err
	}
	dtype, digest, err := p.dtypeAndDigest()
	if err != nil {
		return err
	}
	if _, err := p.lex.want("{"); err != nil {
		return err
	}
	var bytes []byte
	for !p.lex.take("}") {
		t, err := p.lex.expect(tokString, "base64 in quotes or }")
		if err != nil {
			return err
		}
		line, err := base64.StdEncoding.DecodeString(t.text)
		if err != nil {
			return p.lex.fail(t, diag.GraphData, "the text in quotes is not base64")
		}
		bytes = append(bytes, line...)
	}
	b := &ir.Blob{DType: dtype, Bytes: bytes}
	if len(bytes)%dtype.Size() != 0 || b.Digest() != digest.text {
		return p.lex.fail(digest, diag.GraphData, "the data do not fit their digest")
	}
	p.blobs[digest.text] = b
	return nil
}
