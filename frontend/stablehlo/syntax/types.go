// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"
)

// Dynamic is the size of a dimension that is not known.
const Dynamic = -1

// Type is a type as it is written.
type Type struct {
	// Tensor says that the type is one of tensors, of which the rest holds; scalars outside of tensors (i32, index) have
	// Elem alone.
	Tensor bool
	Dims   []int
	// Elem is the element type: f32, i1, ui8, index, or any other text.
	Elem string
	// Bounds are the greatest sizes of dynamic dimensions, Dynamic where there is none; nil without any.
	Bounds []int
	At     int
}

// String prints the type as it is written.
func (t Type) String() string {
	if !t.Tensor {
		return t.Elem
	}
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.Dims {
		if d == Dynamic {
			b.WriteString("?x")
		} else {
			b.WriteString(strconv.Itoa(d) + "x")
		}
	}
	return b.String() + t.Elem + ">"
}

// Static says that all dimensions are known.
func (t Type) Static() bool {
	for _, d := range t.Dims {
		if d == Dynamic {
			return false
		}
	}
	return true
}

// Elems is the number of elements of a static type; ok is false beyond 2^40.
func (t Type) Elems() (n int, ok bool) {
	n = 1
	for _, d := range t.Dims {
		if d > 0 && n > 1<<40/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// typeOf reads the type that stands for a node; ok is false where none does.
func (f *File) typeOf(n *Node) (t Type, ok bool) {
	t.At = n.At
	switch n.Kind {
	case TypeTok:
		body, tensor := strings.CutPrefix(n.Text, "tensor<")
		if !tensor {
			t.Elem = n.Text
			return t, true
		}
		return t, t.tensor(body[:len(body)-1])
	case Bang:
		if a := f.aliases[n.Text]; a != nil && len(a.Kids) > 0 && a.Kids[0].Kind != Bang {
			return f.typeOf(&a.Kids[0])
		}
		t.Elem = n.Text
		return t, true
	case Word:
		t.Elem = n.Text
		return t, true
	}
	return t, false
}

// tensor reads what stands between the brackets of a tensor type.
func (t *Type) tensor(s string) bool {
	t.Tensor = true
	s = strings.TrimSpace(s)
	for {
		i := strings.IndexFunc(s, func(r rune) bool { return r != '?' && (r < '0' || r > '9') })
		if i < 1 || s[i] != 'x' {
			break
		}
		d, err := strconv.Atoi(s[:i])
		switch {
		case s[:i] == "?":
			d = Dynamic
		case err != nil || d > 1<<40:
			return false
		}
		t.Dims = append(t.Dims, d)
		s = s[i+1:]
	}
	elem, rest := cutType(s)
	t.Elem = strings.TrimSpace(elem)
	if list, found := strings.CutPrefix(strings.TrimSpace(rest), "#stablehlo.bounds<"); found {
		for _, part := range strings.Split(strings.TrimSuffix(list, ">"), ",") {
			d, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil {
				d = Dynamic
			}
			t.Bounds = append(t.Bounds, d)
		}
	}
	return t.Elem != "" && len(t.Dims) <= 64 && !strings.HasPrefix(t.Elem, "*") &&
		(t.Elem[0] < '0' || t.Elem[0] > '9') && t.Elem[0] != '?'
}

// cutType splits s at the first comma outside of brackets.
func cutType(s string) (before, after string) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '<', '{':
			depth++
		case '>', '}':
			depth--
		case ',':
			if depth == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ""
}

// Signature is the types behind the colon of an operation.
type Signature struct {
	In, Out []Type
	// Arrow says that Out was written; without it In are the types of operands, results or both.
	Arrow bool
}

// Signature reads the types of a function from an attribute.
func (f *File) Signature(a *Attr) Signature {
	s, _ := f.types(a.Value)
	return s
}

// types reads types from nodes: "t, t", "(t, t) -> t", "(t) -> (t, t)". It returns how many nodes it took.
func (f *File) types(nodes []Node) (s Signature, taken int) {
	list, k := f.typeList(nodes)
	s.In, taken = list, k
	if taken < len(nodes) && nodes[taken].Is("->") {
		out, k := f.typeList(nodes[taken+1:])
		s.Out, s.Arrow = out, true
		taken += 1 + k
	}
	return s, taken
}

// typeList reads "t, t" or "(t, t)".
func (f *File) typeList(nodes []Node) (list []Type, taken int) {
	if len(nodes) > 0 && nodes[0].Kind == Paren {
		for _, part := range split(nodes[0].Kids) {
			if len(part) == 0 {
				continue
			}
			if t, ok := f.typeOf(&part[0]); ok {
				list = append(list, t)
			}
		}
		return list, 1
	}
	for taken < len(nodes) {
		t, ok := f.typeOf(&nodes[taken])
		if !ok {
			break
		}
		list = append(list, t)
		taken++
		if taken+1 >= len(nodes) || !nodes[taken].Is(",") {
			break
		}
		if _, ok := f.typeOf(&nodes[taken+1]); !ok {
			break
		}
		taken++
	}
	return list, taken
}
