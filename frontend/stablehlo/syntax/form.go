// SPDX-License-Identifier: Apache-2.0

package syntax

// Instr is an operation in one form, however it was written.
type Instr struct {
	Op *Op
	// Operands are the names of values in the order in which they are written, without "%".
	Operands []string
	// Inits is the number of operands behind the word init, which are among Operands, each behind its own.
	Inits   int
	Attrs   Attrs
	Regions []*Node
	// Names are what regions call their arguments where the form says it in front: %a = %b of loops.
	Names []string
	Types Signature
	// Callee is the first symbol, Loose is everything else: LT, dense<...>, [0:2], applies stablehlo.add.
	Callee string
	Loose  []Node
	// Loc is the name in its location, "" without one.
	Loc string
}

// Arg is an argument of a function or a block.
type Arg struct {
	Name  string
	Type  []Node
	Attrs Attrs
	At    int
	loc   *Node
}

// Args reads "%a: type {attributes} loc(...), ...".
func Args(nodes []Node) []Arg {
	var list []Arg
	for _, part := range split(nodes) {
		if len(part) == 0 {
			continue
		}
		a := Arg{Name: part[0].Text, At: part[0].At}
		for i := 1; i < len(part); i++ {
			switch n := &part[i]; {
			case n.Is("loc") && i+1 < len(part):
				a.loc = &part[i+1]
				i++
			case n.Kind == Dict:
				a.Attrs = dict(n)
			case n.Is(":"):
			default:
				a.Type = append(a.Type, *n)
			}
		}
		list = append(list, a)
	}
	return list
}

// ArgType is the type of an argument; ok is false where it has none.
func (f *File) ArgType(a *Arg) (Type, bool) {
	if len(a.Type) == 0 {
		return Type{}, false
	}
	return f.typeOf(&a.Type[0])
}

// ArgLoc is the name in the location of an argument.
func (f *File) ArgLoc(a *Arg) string {
	if a.loc == nil {
		return ""
	}
	return f.location(a.loc)
}

// Instr reads the items of an operation.
func (f *File) Instr(op *Op) *Instr {
	in := &Instr{Op: op}
	items := op.Items
	for i := 0; i < len(items); i++ {
		i += f.item(in, items[i:]) - 1
	}
	return in
}

// item reads what begins with the first of nodes and returns how many it took.
func (f *File) item(in *Instr, nodes []Node) int {
	n := &nodes[0]
	switch {
	case n.Kind == Value:
		in.Operands = append(in.Operands, n.Text)
	case n.Kind == Paren && len(in.Loose) > 0 && in.Loose[len(in.Loose)-1].Is("reducer"):
		for _, a := range Args(n.Kids) { // the arguments of its region, in pairs
			in.Names = append(in.Names, a.Name)
		}
	case n.Kind == Paren:
		in.paren(n)
	case n.Kind == Dict:
		in.Attrs = append(in.Attrs, dict(n)...)
	case n.Kind == Region:
		in.Regions = append(in.Regions, n)
	case n.Kind == Angle && len(n.Kids) == 1 && n.Kids[0].Kind == Dict:
		in.Attrs = append(in.Attrs, dict(&n.Kids[0])...)
	case n.Kind == Symbol && in.Callee == "":
		in.Callee = n.Text
	case n.Is(":") && in.Types.In == nil && !in.Types.Arrow:
		s, taken := f.types(nodes[1:])
		in.Types = s
		return 1 + taken
	case n.Is("->") && in.Types.In == nil: // of functions, whose arguments stand in front
		out, taken := f.typeList(nodes[1:])
		in.Types.Out, in.Types.Arrow = out, true
		return 1 + taken
	case n.Is("loc") && len(nodes) > 1 && nodes[1].Kind == Paren:
		in.Loc = f.location(&nodes[1])
		return 2
	case n.Kind == Word && len(nodes) > 2 && nodes[1].Is("="):
		taken := 2 + valueLen(nodes[2:])
		in.Attrs = append(in.Attrs, Attr{Name: n.Text, At: n.At, Value: nodes[2:taken]})
		return taken
	case n.Is(","):
	default:
		in.Loose = append(in.Loose, *n)
	}
	return 1
}

// valueLen is the number of nodes of a value in a pretty form: one, and others after x and ->.
func valueLen(nodes []Node) int {
	n := 1
	for n+1 < len(nodes) && (nodes[n].Is("x") || nodes[n].Is("->") && nodes[n+1].Kind == Bracket) {
		n += 2
	}
	return n
}

// paren reads operands, regions, or both.
func (in *Instr) paren(n *Node) {
	for i := range n.Kids {
		switch k := &n.Kids[i]; {
		case k.Kind == Value && i+1 < len(n.Kids) && n.Kids[i+1].Is("="):
			in.Names = append(in.Names, k.Text)
		case k.Kind == Value:
			if i > 0 && n.Kids[i-1].Is("init") || i > 1 && n.Kids[i-2].Is("init") {
				in.Inits++
			}
			in.Operands = append(in.Operands, k.Text)
		case k.Kind == Region:
			in.Regions = append(in.Regions, k)
		case k.Kind == Word && i+2 < len(n.Kids) && n.Kids[i+1].Is("="): // of chlo.top_k(%x, k = 3)
			in.Attrs = append(in.Attrs, Attr{Name: k.Text, At: k.At, Value: n.Kids[i+2 : i+3]})
		}
	}
}
