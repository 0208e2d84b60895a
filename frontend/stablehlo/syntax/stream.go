// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"

	"github.com/antlr4-go/antlr/v4"

	"lathe/internal/parser/mlir"
)

// lexeme is a token as the parser and the reader see it: its place in the code, and the rule that took it. It stands
// for the tokens of the library, each of which is an allocation of ten times its size.
type lexeme struct {
	start, stop int32 // of the first and of the last byte in the code
	index       int32
	kind        int16
	rule        int16
}

var _ antlr.Token = (*lexeme)(nil)

func (t *lexeme) GetSource() *antlr.TokenSourceCharStreamPair { return nil }
func (t *lexeme) GetTokenType() int                           { return int(t.kind) }
func (t *lexeme) GetChannel() int                             { return antlr.TokenDefaultChannel }
func (t *lexeme) GetStart() int                               { return int(t.start) }
func (t *lexeme) GetStop() int                                { return int(t.stop) }
func (t *lexeme) GetLine() int                                { return 0 }
func (t *lexeme) GetColumn() int                              { return 0 }
func (t *lexeme) GetText() string                             { return "" }
func (t *lexeme) SetText(string)                              {}
func (t *lexeme) GetTokenIndex() int                          { return int(t.index) }
func (t *lexeme) SetTokenIndex(v int)                         { t.index = int32(v) }
func (t *lexeme) GetTokenSource() antlr.TokenSource           { return nil }
func (t *lexeme) GetInputStream() antlr.CharStream            { return nil }
func (t *lexeme) String() string                              { return strconv.Itoa(int(t.index)) }

// letters is the code as the lexer reads it, byte by byte: the scan left ASCII alone.
type letters struct {
	code string
	at   int
}

var _ antlr.CharStream = (*letters)(nil)

func (c *letters) Consume()              { c.at++ }
func (c *letters) Mark() int             { return -1 }
func (c *letters) Release(int)           {}
func (c *letters) Index() int            { return c.at }
func (c *letters) Seek(i int)            { c.at = min(i, len(c.code)) }
func (c *letters) Size() int             { return len(c.code) }
func (c *letters) GetSourceName() string { return "" }

// LA is the byte k from here, 1 for the next and -1 for the last.
func (c *letters) LA(k int) int {
	i := c.at + k - 1
	if k < 0 {
		i++
	}
	if i < 0 || i >= len(c.code) {
		return antlr.TokenEOF
	}
	return int(c.code[i])
}

func (c *letters) GetText(start, stop int) string { return c.code[start:min(stop+1, len(c.code))] }

func (c *letters) GetTextFromTokens(a, b antlr.Token) string {
	return c.GetText(a.GetStart(), b.GetStop())
}

func (c *letters) GetTextFromInterval(i antlr.Interval) string { return c.GetText(i.Start, i.Stop) }

// lex cuts the code into tokens, the last of which is the end of the text. Space between them is skipped here, and
// not by a call of the lexer each.
func lex(code string) []lexeme {
	in := &letters{code: code}
	lexer := mlir.NewMlirLexer(in)
	tokens := make([]lexeme, 0, len(code)/5+16)
	for {
		for in.at < len(code) && (code[in.at] == ' ' || code[in.at] == '\n' || code[in.at] == '\t' || code[in.at] == '\r') {
			in.at++
		}
		start := in.at
		kind := lexer.Interpreter.Match(in, antlr.LexerDefaultMode)
		if kind == mlir.MlirLexerSPACE || kind == mlir.MlirLexerCOMMENT {
			continue
		}
		tokens = append(tokens, lexeme{start: int32(start), stop: int32(in.at - 1), index: int32(len(tokens)),
			kind: int16(kind), rule: mlir.MlirParserRULE_file})
		if kind == antlr.TokenEOF {
			return tokens
		}
	}
}

// tokens is what the parser reads from. It notes the rule that takes each token, which is all that the reader needs of
// a parse tree.
type tokens struct {
	list   []lexeme
	at     int
	parser *mlir.MlirParser
}

var _ antlr.TokenStream = (*tokens)(nil)

// Consume passes a token on. A prediction does so too before the parser does, which notes the rule last.
func (s *tokens) Consume() {
	s.list[s.at].rule = int16(s.parser.GetParserRuleContext().GetRuleIndex())
	s.at = min(s.at+1, len(s.list)-1)
}

// LT is the token k from here, 1 for the next and -1 for the last.
func (s *tokens) LT(k int) antlr.Token {
	i := s.at + k - 1
	if k < 0 {
		i++
	}
	if i < 0 {
		return nil
	}
	return &s.list[min(i, len(s.list)-1)]
}

func (s *tokens) LA(k int) int {
	i := s.at + k - 1
	if k < 0 {
		i++
	}
	if i < 0 {
		return antlr.TokenInvalidType
	}
	return int(s.list[min(i, len(s.list)-1)].kind)
}

func (s *tokens) Mark() int                                         { return 0 }
func (s *tokens) Release(int)                                       {}
func (s *tokens) Index() int                                        { return s.at }
func (s *tokens) Seek(i int)                                        { s.at = i }
func (s *tokens) Size() int                                         { return len(s.list) }
func (s *tokens) GetSourceName() string                             { return "" }
func (s *tokens) Reset()                                            { s.at = 0 }
func (s *tokens) Get(i int) antlr.Token                             { return &s.list[i] }
func (s *tokens) GetTokenSource() antlr.TokenSource                 { return nil }
func (s *tokens) SetTokenSource(antlr.TokenSource)                  {}
func (s *tokens) GetAllText() string                                { return "" }
func (s *tokens) GetTextFromInterval(antlr.Interval) string         { return "" }
func (s *tokens) GetTextFromRuleContext(antlr.RuleContext) string   { return "" }
func (s *tokens) GetTextFromTokens(antlr.Token, antlr.Token) string { return "" }

// noted is the stream of the library for texts with errors, with the rules as tokens has them.
type noted struct {
	*antlr.CommonTokenStream
	parser *mlir.MlirParser
	rules  []int16
}

// Consume passes a token on.
func (s *noted) Consume() {
	i := s.Index()
	for len(s.rules) <= i {
		s.rules = append(s.rules, mlir.MlirParserRULE_file)
	}
	s.rules[i] = int16(s.parser.GetParserRuleContext().GetRuleIndex())
	s.CommonTokenStream.Consume()
}

// lexemes are the tokens after the parser has taken them all.
func (s *noted) lexemes() []lexeme {
	var list []lexeme
	for i, t := range s.GetAllTokens() {
		l := lexeme{int32(t.GetStart()), int32(t.GetStop()), int32(i), int16(t.GetTokenType()), mlir.MlirParserRULE_file}
		if i < len(s.rules) {
			l.rule = s.rules[i]
		}
		list = append(list, l)
	}
	return list
}
