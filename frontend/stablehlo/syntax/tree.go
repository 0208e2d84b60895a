// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"

	"lathe/internal/diag"
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
				f.bad = f.errorAt(diag.MLIRSyntax, n.At, "an operation of %s results", count)
			}
			return nil
		}
		for i := range k {
			names = append(names, name+"#"+strconv.Itoa(i))
		}
	}
	return names
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
