// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"lathe/internal/parser/mlir"
)

// Kind is what a Node is.
type Kind uint8

// Tokens, and below them trees of tokens.
const (
	Punct  Kind = iota // , : -> - * + :: = ?
	Word               // tensor dimensions, keywords, enumerators
	Dotted             // names with dots
	Value              // %x
	Def                // %x, %y:2 =
	Key                // word =
	Symbol             // @f
	Label              // ^bb0
	Text               // "a string"
	Int
	Float
	TypeTok // tensor<4xf32>
	Data    // dense<...>, array<...>
	Hash    // #loc1, #stablehlo<...>
	Bang    // !quant.uniform<...>

	Paren
	Bracket
	Angle
	Dict   // {a = 1, b}
	Region // { operations }
)

// Node is a token, or a tree of them.
type Node struct {
	Kind Kind
	// Text is the token; "" for trees and Data.
	Text string
	// At and End bound it in the source.
	At, End int
	// Kids are what stands in a tree, commas included.
	Kids   []Node
	Blocks []Block // of a Region
}

// Block is the operations under a label.
type Block struct {
	// Args are the names and types that the label declares.
	Args []Arg
	Ops  []Op
}

// Op is an operation as it is written.
type Op struct {
	// Name is the name of the operation, without quotes.
	Name string
	At   int
	// Results are the names that it defines, without "%"; %0:2 defines 0#0 and 0#1.
	Results []string
	Items   []Node
}

// read makes the records of all operations.
func (f *File) read(tree mlir.IFileContext) error {
	for _, child := range tree.GetChildren() {
		switch c := child.(type) {
		case *mlir.AliasContext:
			f.alias(c)
		case *mlir.OpContext:
			f.Ops = append(f.Ops, f.op(c))
		case antlr.TerminalNode:
			if c.GetSymbol().GetTokenType() == mlir.MlirLexerRESOURCES {
				at, end := f.span(c.GetSymbol(), c.GetSymbol())
				if err := f.readResources(at, end); err != nil {
					return err
				}
			}
		}
	}
	return f.bad
}

// span is where the tokens from a to b stand in the source.
func (f *File) span(a, b antlr.Token) (at, end int) {
	return f.origin(a.GetStart()), f.origin(b.GetStop()) + 1
}

func (f *File) alias(c *mlir.AliasContext) {
	nodes := f.nodes(c.GetChildren())
	if len(nodes) < 3 {
		return
	}
	f.aliases[nodes[0].Text] = &Node{Kind: Paren, At: nodes[2].At, End: nodes[len(nodes)-1].End, Kids: nodes[2:]}
}

func (f *File) op(c *mlir.OpContext) Op {
	start, _ := f.span(c.GetStart(), c.GetStart())
	op := Op{At: start}
	children := c.GetChildren()
	if def := c.DEF(); def != nil {
		op.Results = f.results(f.token(def.GetSymbol()))
		children = children[1:]
	}
	op.Items = f.nodes(children)
	if len(op.Items) > 0 { // its name
		op.Name, op.At = op.Items[0].Text, op.Items[0].At
		op.Items = op.Items[1:]
	}
	return op
}

// results are the names that "%x, %y:2 =" defines.
func (f *File) results(n Node) []string {
	var names []string
	for part := range strings.SplitSeq(strings.TrimSuffix(n.Text, "="), ",") {
		name, count, several := strings.Cut(strings.TrimLeft(strings.TrimSpace(part), "%"), ":")
		if !several {
			names = append(names, name)
			continue
		}
		k, err := strconv.Atoi(count)
		if err != nil || k < 1 || k > 1<<12 {
			if f.bad == nil {
				f.bad = f.errorAt(CodeSyntax, n.At, "an operation of %s results", count)
			}
			return nil
		}
		for i := range k {
			names = append(names, name+"#"+strconv.Itoa(i))
		}
	}
	return names
}

func (f *File) nodes(children []antlr.Tree) []Node {
	return f.appendNodes(make([]Node, 0, len(children)), children)
}

// appendNodes flattens rules that are no trees of their own.
func (f *File) appendNodes(nodes []Node, children []antlr.Tree) []Node {
	for _, child := range children {
		switch c := child.(type) {
		case antlr.TerminalNode:
			switch n := f.token(c.GetSymbol()); n.Kind {
			case Def, Key:
				nodes = appendDef(nodes, n)
			default:
				nodes = append(nodes, n)
			}
		case *mlir.ParenContext:
			nodes = append(nodes, f.group(Paren, c))
		case *mlir.BracketContext:
			nodes = append(nodes, f.group(Bracket, c))
		case *mlir.AngleContext:
			nodes = append(nodes, f.group(Angle, c))
		case *mlir.BraceContext:
			nodes = append(nodes, f.brace(c))
		case *mlir.OpContext, *mlir.LabelContext: // of a region, which reads them itself
		case antlr.RuleNode:
			nodes = f.appendNodes(nodes, c.GetChildren())
		}
	}
	return nodes
}

// appendDef takes "%a, %b =" and "word =" apart, the first of which is a list and the beginning of an assignment where
// it stands in brackets.
func appendDef(nodes []Node, n Node) []Node {
	kind := Value
	if n.Kind == Key {
		kind = Word
	}
	names := strings.Split(strings.TrimSuffix(n.Text, "="), ",")
	for i, name := range names {
		nodes = append(nodes, Node{Kind: kind, Text: strings.Trim(name, "% \t"), At: n.At, End: n.End},
			Node{Kind: Punct, Text: ",", At: n.At, End: n.End})
		if i == len(names)-1 {
			nodes[len(nodes)-1].Text = "="
		}
	}
	return nodes
}

// group is a tree between brackets, which are not among its kids.
func (f *File) group(kind Kind, c antlr.ParserRuleContext) Node {
	at, end := f.span(c.GetStart(), c.GetStop())
	children := c.GetChildren()
	return Node{Kind: kind, At: at, End: end, Kids: f.nodes(children[1 : len(children)-1])}
}

// brace is a dictionary, or a region where it holds operations.
func (f *File) brace(c *mlir.BraceContext) Node {
	n := f.group(Dict, c)
	for _, child := range c.GetChildren() {
		switch k := child.(type) {
		case *mlir.LabelContext:
			block := Block{}
			if p := k.Paren(); p != nil {
				block.Args = Args(f.group(Paren, p).Kids)
			}
			n.Blocks = append(n.Blocks, block)
		case *mlir.OpContext:
			if len(n.Blocks) == 0 { // the first block may lack a label
				n.Blocks = append(n.Blocks, Block{})
			}
			last := &n.Blocks[len(n.Blocks)-1]
			last.Ops = append(last.Ops, f.op(k))
		}
	}
	if len(n.Blocks) > 0 {
		n.Kind, n.Kids = Region, nil
	}
	return n
}
