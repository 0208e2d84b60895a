// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
)

// Attr is a named attribute; Value is empty for units.
type Attr struct {
	Name  string
	At    int
	Value []Node
}

// Attrs are the attributes of an operation, in order.
type Attrs []Attr

// Get returns the value of the first attribute of one of the names, nil if there is none.
func (a Attrs) Get(names ...string) *Attr {
	for _, name := range names {
		for i := range a {
			if a[i].Name == name {
				return &a[i]
			}
		}
	}
	return nil
}

// dict reads the entries of a dictionary.
func dict(n *Node) Attrs {
	var list Attrs
	for _, part := range split(n.Kids) {
		if len(part) == 0 {
			continue
		}
		a := Attr{Name: part[0].Text, At: part[0].At}
		if len(part) > 1 && part[1].Is("=") {
			a.Value = part[2:]
		}
		list = append(list, a)
	}
	return list
}

// Dict reads the attribute as a dictionary, in braces or in angle brackets; a #dialect.name<...> is read anew.
func (f *File) Dict(a *Attr) Attrs {
	if a == nil || len(a.Value) == 0 {
		return nil
	}
	n := &a.Value[0]
	switch n.Kind {
	case Dict, Angle:
		return dict(n)
	case Hash:
		return f.hashDict(n)
	}
	return nil
}

// hashDict reads #stablehlo.gather<a = [1], b = 2> by the same parser, as the dictionary of an operation.
func (f *File) hashDict(n *Node) Attrs {
	i := strings.IndexByte(n.Text, '<')
	if i < 0 {
		return nil
	}
	inner := &File{Name: f.Name, aliases: map[string]*Node{}, resources: map[string]span{}}
	if err := inner.scan([]byte("a.b {" + n.Text[i+1:len(n.Text)-1] + "}")); err != nil {
		return nil
	}
	if err := inner.parse(); err != nil || len(inner.Ops) != 1 || len(inner.Ops[0].Items) != 1 {
		return nil
	}
	list := dict(&inner.Ops[0].Items[0])
	for k := range list { // their places are those of the attribute
		list[k].At = n.At
	}
	return list
}

// Word is the enumerator that an attribute names: DEFAULT of DEFAULT, of #stablehlo<precision DEFAULT>, and the text of
// a string.
func (a *Attr) Word() string {
	if a == nil || len(a.Value) == 0 {
		return ""
	}
	return a.Value[0].Enum()
}

// Enum is the enumerator that a node names.
func (n *Node) Enum() string {
	if n.Kind != Hash {
		return n.Text
	}
	fields := strings.FieldsFunc(n.Text, func(r rune) bool { return r == '<' || r == '>' || r == ' ' })
	return fields[len(fields)-1]
}

// Bool reads true or false; ok is false for anything else.
func (a *Attr) Bool() (v, ok bool) {
	w := a.Word()
	return w == "true", w == "true" || w == "false"
}

// Int reads a whole number, its type aside.
func (a *Attr) Int() (int64, bool) {
	if a == nil || len(a.Value) == 0 {
		return 0, false
	}
	return a.Value[0].Int64()
}

// Ints reads whole numbers: [1, 2], array<i64: 1, 2>, dense<[1, 2]> : tensor<2xi64>, dense<1> of any shape; nested
// lists are flattened, and true and false are 1 and 0. ok is false for anything else.
func (f *File) Ints(a *Attr) (list []int64, ok bool) {
	if a == nil || len(a.Value) == 0 {
		return nil, false
	}
	return f.IntList(a.Value)
}

// IntList is Ints of the nodes of a value.
func (f *File) IntList(nodes []Node) (list []int64, ok bool) {
	n := &nodes[0]
	switch n.Kind {
	case Bracket:
		return appendInts(nil, n.Kids)
	case Data:
		t := Type{Elem: "i64", Tensor: true, At: n.At}
		if len(nodes) > 2 && nodes[1].Is(":") {
			if t, ok = f.typeOf(&nodes[2]); !ok {
				return nil, false
			}
		}
		return f.intData(n, t)
	}
	return nil, false
}

func appendInts(list []int64, nodes []Node) ([]int64, bool) {
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Is(","):
		case n.Is("true"), n.Is("false"):
			list = append(list, map[bool]int64{true: 1}[n.Text == "true"])
		case n.Kind == Bracket:
			var ok bool
			if list, ok = appendInts(list, n.Kids); !ok {
				return nil, false
			}
		default:
			v, ok := n.Int64()
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
	}
	return list, true
}
