// SPDX-License-Identifier: Apache-2.0

package syntax

import "lathe/internal/parser/mlir"

// slabSize is how many nodes are allocated at once.
const slabSize = 1024

// records makes the operations from tokens whose rules the parser has noted: brackets match, and what stands
// between them is what the grammar says.
type records struct {
	*File
	list []lexeme
	at   int
	// stack holds the nodes of trees that are not complete; slab is where those of complete ones go.
	stack, slab []Node
}

// read makes the records of all operations.
func (f *File) read(list []lexeme) error {
	r := &records{File: f, list: list}
	for r.at < len(list)-1 { // the last is the end of the text
		switch t := &list[r.at]; {
		case r.begins():
			f.Ops = append(f.Ops, r.op())
		case t.rule == mlir.MlirParserRULE_alias:
			r.alias()
		default:
			at, end := f.span(t)
			if r.at++; t.kind == mlir.MlirLexerRESOURCES {
				if err := f.readResources(at, end); err != nil {
					return err
				}
			}
		}
	}
	return f.bad
}

// begins says that the token at hand is the first of an operation.
func (r *records) begins() bool {
	t := &r.list[r.at]
	return t.rule == mlir.MlirParserRULE_name || t.rule == mlir.MlirParserRULE_op && t.kind == mlir.MlirLexerDEF
}

// span is where a token stands in the source.
func (f *File) span(t *lexeme) (at, end int) {
	return f.origin(int(t.start)), f.origin(int(t.stop)) + 1
}

// punct is the character that the token at hand is, 0 for a longer one.
func (r *records) punct() byte {
	if t := &r.list[r.at]; t.start == t.stop {
		return r.text[t.start]
	}
	return 0
}

// assigns says that "=" is the next token but one.
func (r *records) assigns() bool {
	t := &r.list[r.at+1]
	return t.rule == mlir.MlirParserRULE_alias && t.start == t.stop && r.text[t.start] == '='
}

// alias reads #name = value, which ends where the next begins.
func (r *records) alias() {
	base := len(r.stack)
	r.node()
	r.node()
	for r.list[r.at].rule == mlir.MlirParserRULE_alias && !r.assigns() || r.opens() {
		r.node()
	}
	if nodes := r.pop(base); len(nodes) >= 3 {
		r.aliases[nodes[0].Text] = &Node{Kind: Paren, At: nodes[2].At, End: nodes[len(nodes)-1].End, Kids: nodes[2:]}
	}
}

// op reads an operation, which ends where a token is no part of it.
func (r *records) op() Op {
	t := &r.list[r.at]
	op := Op{At: r.origin(int(t.start))}
	if t.kind == mlir.MlirLexerDEF {
		op.Results = r.results(r.token(t))
		r.at++
	}
	base := len(r.stack)
	if r.list[r.at].kind == mlir.MlirLexerCOMPOSITE { // it has two names
		r.node()
	}
	r.node()
	for r.list[r.at].rule == mlir.MlirParserRULE_op && r.list[r.at].kind != mlir.MlirLexerDEF || r.opens() {
		r.node()
	}
	op.Items = r.pop(base)
	op.Name, op.At = op.Items[0].Text, op.Items[0].At
	op.Items = op.Items[1:]
	r.commas(op.Items)
	return op
}

// opens says that the token at hand is a bracket that opens.
func (r *records) opens() bool {
	c := r.punct()
	return c == '(' || c == '[' || c == '{' || c == '<'
}

// pop takes the nodes from base on off the stack, into memory of their own.
func (r *records) pop(base int) []Node {
	n := len(r.stack) - base
	if n > len(r.slab) {
		r.slab = make([]Node, max(n, slabSize))
	}
	nodes := r.slab[:n:n]
	r.slab = r.slab[n:]
	copy(nodes, r.stack[base:])
	r.stack = r.stack[:base]
	return nodes
}

// node pushes the node at hand, a token or a tree.
func (r *records) node() {
	switch r.punct() {
	case '(':
		r.stack = append(r.stack, r.group(Paren))
	case '[':
		r.stack = append(r.stack, r.group(Bracket))
	case '<':
		r.stack = append(r.stack, r.group(Angle))
	case '{':
		r.stack = append(r.stack, r.group(Dict))
	default:
		n := r.token(&r.list[r.at])
		r.at++
		if n.Kind == Def || n.Kind == Key {
			r.stack = appendDef(r.stack, n)
		} else {
			r.stack = append(r.stack, n)
		}
	}
}

// group is a tree between brackets, which are not among its kids: in braces a dictionary, or a region where it holds
// operations.
func (r *records) group(kind Kind) Node {
	n := Node{Kind: kind, At: r.origin(int(r.list[r.at].start))}
	r.at++
	base := len(r.stack)
	for c := r.punct(); c != ')' && c != ']' && c != '}' && c != '>'; c = r.punct() {
		switch {
		case kind != Dict:
			r.node()
		case r.list[r.at].rule == mlir.MlirParserRULE_label:
			n.Blocks = append(n.Blocks, r.label())
		case r.begins():
			if len(n.Blocks) == 0 { // the first block may lack a label
				n.Blocks = append(n.Blocks, Block{})
			}
			last := &n.Blocks[len(n.Blocks)-1]
			last.Ops = append(last.Ops, r.op())
		default:
			r.node()
		}
	}
	_, n.End = r.span(&r.list[r.at])
	r.at++
	n.Kids = r.pop(base)
	r.commas(n.Kids)
	if len(n.Blocks) > 0 {
		n.Kind, n.Kids = Region, nil
	}
	return n
}

// label reads ^bb0(%a: type):
func (r *records) label() (b Block) {
	r.at++
	if r.punct() == '(' {
		b.Args = Args(r.group(Paren).Kids)
	}
	r.at++
	return b
}

// token makes the node of a token; its text is that of the source, which the code may lack.
func (f *File) token(t *lexeme) Node {
	at, end := f.span(t)
	n := Node{Kind: kindOf(int(t.kind)), At: at, End: end}
	if n.Kind == Data || end < at || end > len(f.src) {
		return n
	}
	n.Text = f.text[t.start : t.stop+1]
	if string(f.src[at:end]) != n.Text { // a string was cut out, or is not ASCII
		n.Text = string(f.src[at:end])
	}
	switch n.Kind {
	case Text:
		n.Text = unquote(n.Text)
	case Value, Label:
		n.Text = n.Text[1:]
	case Symbol:
		n.Text = unquote(n.Text[1:])
	}
	return n
}
