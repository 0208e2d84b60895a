// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe/internal/diag"
)

// kind is the kind of a token.
type kind uint8

// Token kinds. A mark is one character of punctuation.
const (
	tokEnd kind = iota
	tokWord
	tokName // %name; text is the name itself
	tokString
	tokMark
	tokBad
)

// token is a piece of the text; pos is its byte offset.
type token struct {
	kind kind
	text string
	pos  int
}

// lexer cuts a text into tokens, one ahead.
type lexer struct {
	name string // of the file, for messages
	src  string
	pos  int // behind the token ahead
	next token
}

func newLexer(name, src string) *lexer {
	l := &lexer{name: name, src: src}
	l.scan()
	return l
}

// peek is the token ahead.
func (l *lexer) peek() token { return l.next }

// step returns the token ahead and moves on.
func (l *lexer) step() token {
	t := l.next
	l.scan()
	return t
}

// take moves on if the mark or the word s is ahead.
func (l *lexer) take(s string) bool {
	if (l.next.kind == tokMark || l.next.kind == tokWord) && l.next.text == s {
		l.scan()
		return true
	}
	return false
}

// want demands the mark or word s.
func (l *lexer) want(s string) (token, error) {
	t := l.next
	if l.take(s) {
		return t, nil
	}
	return t, l.unexpected(t, strconv.Quote(s))
}

// expect demands a token of a kind, which what describes.
func (l *lexer) expect(k kind, what string) (token, error) {
	if l.next.kind == k {
		return l.step(), nil
	}
	return l.next, l.unexpected(l.next, what)
}

func (l *lexer) unexpected(t token, what string) error {
	switch {
	case t.kind == tokBad:
		return l.fail(t, diag.GraphSyntax, "%s", t.text)
	case t.kind == tokEnd:
		return l.fail(t, diag.GraphSyntax, "the text ends where %s is expected", what)
	}
	return l.fail(t, diag.GraphSyntax, "found %s where %s is expected", shown(l.src[t.pos:l.pos]), what)
}

// shown quotes a piece of the text in bounded length.
func shown(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 60 {
		s = s[:60] + "..."
	}
	return strconv.Quote(s)
}

// fail makes an error at a token: name:line:column.
func (l *lexer) fail(t token, code diag.Code, msg string, args ...any) *diag.Error {
	return diag.New(code, l.place(t.pos), msg, args...)
}

func (l *lexer) place(pos int) string {
	before := l.src[:min(pos, len(l.src))]
	start := strings.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("%s:%d:%d", l.name, strings.Count(before, "\n")+1, utf8.RuneCountInString(before[start:])+1)
}

// scan reads the next token. Comments run from # to the end of the line.
func (l *lexer) scan() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.pos++
			continue
		case c == '#':
			if end := strings.IndexByte(l.src[l.pos:], '\n'); end >= 0 {
				l.pos += end
			} else {
				l.pos = len(l.src)
			}
			continue
		}
		break
	}
	l.next = token{pos: l.pos}
	if l.pos == len(l.src) {
		return
	}
	switch c := l.src[l.pos]; {
	case c == '%':
		l.pos++
		if l.pos < len(l.src) && l.src[l.pos] == '"' {
			l.quoted()
		} else {
			l.word()
		}
		if l.next.kind != tokBad {
			l.next.kind = tokName
		}
		l.next.pos--
	case c == '"':
		l.quoted()
	case isWord(rune(c)):
		l.word()
	default:
		_, n := utf8.DecodeRuneInString(l.src[l.pos:])
		l.next = token{tokMark, l.src[l.pos : l.pos+n], l.pos}
		l.pos += n
	}
}

// word reads the longest run of word characters.
func (l *lexer) word() {
	start := l.pos
	for l.pos < len(l.src) && isWord(rune(l.src[l.pos])) {
		l.pos++
	}
	l.next = token{tokWord, l.src[start:l.pos], start}
	if start == l.pos {
		l.next = token{tokBad, "a name is missing after %", start}
	}
}

// quoted reads a Go string literal.
func (l *lexer) quoted() {
	start := l.pos
	lit, err := strconv.QuotedPrefix(l.src[start:])
	if err != nil {
		l.next = token{tokBad, "a text in quotes does not end on its line, or holds a bad escape", start}
		l.pos = len(l.src)
		return
	}
	l.pos += len(lit)
	s, _ := strconv.Unquote(lit) // QuotedPrefix has checked it
	l.next = token{tokString, s, start}
}

// rest returns the text from the token ahead up to the first of the given characters, which becomes the token ahead.
func (l *lexer) rest(until string) token {
	start := l.next.pos
	end := strings.IndexAny(l.src[start:], until)
	if end < 0 {
		end = len(l.src) - start
	}
	l.pos = start + end
	t := token{tokWord, l.src[start:l.pos], start}
	l.scan()
	return t
}
