// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// token is a word (identifier, directive, number), a string with its quotes, or one sign; text is empty at the end.
type token struct {
	text string
	line int
}

type lexer struct {
	name string
	src  string
	pos  int
	line int
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '%' || c == '.' || c == '@' ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// blank passes white space and comments.
func (l *lexer) blank() error {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.pos++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == 0 && l.pos == len(l.src)-1:
			l.pos++
		case strings.HasPrefix(rest, "//"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				l.pos += end
			} else {
				l.pos = len(l.src)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return l.fault(l.line, "a comment does not end")
			}
			l.line += strings.Count(rest[:end], "\n")
			l.pos += end + 2
		default:
			return nil
		}
	}
	return nil
}

// next returns the next token. A word is everything from a letter to the last byte of words, dots included, so that
// an opcode comes with all its modifiers; '@' begins a word of its own.
func (l *lexer) next() (token, error) {
	if err := l.blank(); err != nil {
		return token{}, err
	}
	if l.pos >= len(l.src) {
		return token{line: l.line}, nil
	}
	at, c := l.pos, l.src[l.pos]
	switch {
	case c == '"':
		end := strings.IndexAny(l.src[at+1:], "\"\n")
		if end < 0 || l.src[at+1+end] == '\n' {
			return token{}, l.fault(l.line, "a string does not end")
		}
		l.pos = at + end + 2
		return token{text: l.src[at:l.pos], line: l.line}, nil
	case c == '@' || !wordByte(c):
		l.pos++
		return token{text: l.src[at:l.pos], line: l.line}, nil
	}
	for l.pos < len(l.src) && wordByte(l.src[l.pos]) && l.src[l.pos] != '@' {
		l.pos++
		if strings.HasPrefix(l.src[l.pos:], "::") { // L1::no_allocate
			l.pos += 2
		}
	}
	return token{text: l.src[at:l.pos], line: l.line}, nil
}

func (l *lexer) fault(line int, msg string, args ...any) *diag.Error {
	return diag.New(diag.PTXSyntax, l.name+":"+strconv.Itoa(line), msg, args...)
}

// number reads a constant: 12, -0 is not one (the sign is a token of its own), 0x1F, 017, 0b1, 12U, 0fXXXXXXXX,
// 0dXXXXXXXXXXXXXXXX, 1.5.
func number(text string) (Operand, bool) {
	o := Operand{Reg: -1, Pair: -1}
	if len(text) > 2 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			v, err := strconv.ParseUint(text[2:], 16, 32)
			o.Kind, o.Val = KindF32, v
			return o, err == nil && len(text) == 10
		case 'd', 'D':
			v, err := strconv.ParseUint(text[2:], 16, 64)
			o.Kind, o.Val = KindF64, v
			return o, err == nil && len(text) == 18
		}
	}
	return decimal(o, text)
}
