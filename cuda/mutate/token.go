// SPDX-License-Identifier: Apache-2.0

package mutate

import "strings"

// kind says what a token is.
type kind uint8

const (
	word kind = iota
	number
	symbol
	text // a string or character
)

// token is a piece of source: text[at:at+len(text)] of the file.
type token struct {
	text string
	at   int
	line int
	kind kind
}

// symbols are the operators of more than one character, longest first.
var symbols = []string{"<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=",
	"%=", "&=", "|=", "^=", "->", "::"}

// scan parts C++ into tokens. Comments, white space and lines of the preprocessor are left out.
func scan(src string) []token {
	var out []token
	line := 1
	for at := 0; at < len(src); {
		n := skip(src[at:])
		if n > 0 {
			line += strings.Count(src[at:at+n], "\n")
			at += n
			continue
		}
		t := next(src[at:])
		t.at, t.line = at, line
		out = append(out, t)
		at += len(t.text)
	}
	return out
}

// skip is the length of the white space, comment or directive that s begins with.
func skip(s string) int {
	end := func(mark string, from int) int {
		if i := strings.Index(s[from:], mark); i >= 0 {
			return from + i + len(mark)
		}
		return len(s)
	}
	switch {
	case s[0] == ' ' || s[0] == '\n' || s[0] == '\t':
		return 1
	case strings.HasPrefix(s, "//") || s[0] == '#':
		return end("\n", 0)
	case strings.HasPrefix(s, "/*"):
		return end("*/", 2)
	}
	return 0
}

// next is the token that s begins with.
func next(s string) token {
	switch c := s[0]; {
	case isDigit(c):
		return token{text: run(s, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' }), kind: number}
	case isLetter(c):
		return token{text: run(s, func(c byte) bool { return isLetter(c) || isDigit(c) }), kind: word}
	case c == '"' || c == '\'':
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == c {
				return token{text: s[:i+1], kind: text}
			}
		}
		return token{text: s, kind: text}
	}
	for _, sym := range symbols {
		if strings.HasPrefix(s, sym) {
			return token{text: sym, kind: symbol}
		}
	}
	return token{text: s[:1], kind: symbol}
}

func run(s string, in func(byte) bool) string {
	n := 1
	for n < len(s) && in(s[n]) {
		n++
	}
	return s[:n]
}

func isLetter(c byte) bool { return c == '_' || c|32 >= 'a' && c|32 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// closing is the index of the bracket that closes tokens[open]; -1 if none does.
func closing(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// commas are the indices of the commas directly inside the brackets from open to end.
func commas(tokens []token, open, end int) []int {
	var out []int
	for i := open + 1; i < end; i++ {
		switch tokens[i].text {
		case "(", "[", "{":
			if c := closing(tokens, i); c > 0 {
				i = c
			}
		case ",":
			out = append(out, i)
		}
	}
	return out
}
