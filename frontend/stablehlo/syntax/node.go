// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"

	"lathe/internal/parser/mlir"
)

func kindOf(token int) Kind {
	switch token {
	case mlir.MlirLexerSSA:
		return Value
	case mlir.MlirLexerKEY:
		return Key
	case mlir.MlirLexerDEF:
		return Def
	case mlir.MlirLexerSYM:
		return Symbol
	case mlir.MlirLexerCARET:
		return Label
	case mlir.MlirLexerSTRING:
		return Text
	case mlir.MlirLexerINT:
		return Int
	case mlir.MlirLexerFLOAT:
		return Float
	case mlir.MlirLexerTYPE:
		return TypeTok
	case mlir.MlirLexerDATA:
		return Data
	case mlir.MlirLexerHASH:
		return Hash
	case mlir.MlirLexerBANG:
		return Bang
	case mlir.MlirLexerDOTTED, mlir.MlirLexerCOMPOSITE:
		return Dotted
	case mlir.MlirLexerID:
		return Word
	}
	return Punct // the words of the grammar are renamed below
}

// unquote decodes a string: \n, \t, \\, \" and two hexadecimal digits stand for a byte. Text without quotes stays.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			if v, err := strconv.ParseUint(s[i:min(i+2, len(s))], 16, 8); err == nil && i+1 < len(s) {
				b.WriteByte(byte(v))
				i++
				continue
			}
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Is says that the node is the given word or punctuation.
func (n *Node) Is(text string) bool {
	return n.Text == text && (n.Kind == Punct || n.Kind == Word || n.Kind == Dotted)
}

// Int64 is the value of a whole number, decimal or hexadecimal.
func (n *Node) Int64() (int64, bool) {
	if n.Kind != Int {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Text, 0, 64)
	if err != nil && strings.HasPrefix(n.Text, "0") && !strings.HasPrefix(n.Text, "0x") { // leading zeros are no octal
		v, err = strconv.ParseInt(n.Text, 10, 64)
	}
	return v, err == nil
}

// split cuts nodes at commas.
func split(nodes []Node) [][]Node {
	var parts [][]Node
	start := 0
	for i := range nodes {
		if nodes[i].Kind == Punct && nodes[i].Text == "," {
			parts = append(parts, nodes[start:i])
			start = i + 1
		}
	}
	if start < len(nodes) {
		parts = append(parts, nodes[start:])
	}
	return parts
}

// Float is the value of a decimal number, whole or not.
func (n *Node) Float() (float64, bool) {
	if n.Kind != Int && n.Kind != Float {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	return v, err == nil
}
