// SPDX-License-Identifier: Apache-2.0

package circuit

import "strings"

// operators of more than one character (IEEE 1800-2017, annex A), the longest first.
var operators = []string{"(*)", "<<<=", ">>>=", "===", "!==", "==?", "!=?", "<<<", ">>>", "<<=", ">>=", "|->", "|=>",
	"&&&", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "**", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
	"^=", "~&", "~|", "~^", "^~", "->", "=>", "+:", "-:", "::", ".*", "##", "(*", "*)"}

// lex cuts SystemVerilog text into tokens, without white space and comments. Names, with $ or ` in front where they
// have that, numbers with size and base, and strings with their quotation marks are one token each; (*, *) and (*) too.
func lex(text string) []string {
	tokens := make([]string, 0, len(text)/4)
	for at := 0; at < len(text); {
		n, skip := next(text[at:])
		if !skip {
			tokens = append(tokens, text[at:at+n])
		}
		at += n
	}
	return tokens
}

// next is the length of what text begins with; skip says that it is no token.
func next(text string) (n int, skip bool) {
	c := text[0]
	switch {
	case strings.HasPrefix(text, "//"):
		return until(text, "\n"), true
	case strings.HasPrefix(text, "/*"):
		return 2 + until(text[2:], "*/"), true
	case c <= ' ':
		return 1, true
	case c == '"':
		return quoted(text), false
	case c == '\\': // an escaped name ends at white space
		return run(text, func(c byte) bool { return c > ' ' }), false
	case letter(c) || c == '$' || c == '`':
		return 1 + run(text[1:], func(c byte) bool { return letter(c) || digit(c) || c == '$' }), false
	case digit(c) || c == '\'':
		return number(text), false
	}
	for _, o := range operators {
		if strings.HasPrefix(text, o) {
			return len(o), false
		}
	}
	return 1, false
}

// number is the length of a number, of digits with a size and a base or of those of a real; or 1, of the apostrophe of
// a cast.
func number(text string) int {
	plain := func(c byte) bool { return digit(c) || c == '_' }
	n := run(text, plain)
	rest := text[n:]
	if strings.HasPrefix(rest, "'") {
		base := strings.TrimLeft(rest[1:], "sS")
		if base != "" && strings.ContainsRune("bBoOdDhH", rune(base[0])) {
			word := func(c byte) bool { return letter(c) || digit(c) || c == '?' }
			return len(text) - len(base) + run(base, word)
		}
		if n == 0 { // '0, '1, 'x, 'z
			return 1 + run(rest[1:min(2, len(rest))], func(c byte) bool { return strings.IndexByte("01xXzZ", c) >= 0 })
		}
		return n
	}
	if len(rest) > 1 && rest[0] == '.' && digit(rest[1]) {
		n += 1 + run(rest[1:], plain)
	}
	exponent := strings.TrimLeft(text[n:], "eE")
	if len(exponent) == len(text[n:])-1 {
		if digits := strings.TrimLeft(exponent, "+-"); digits != "" && digit(digits[0]) {
			n = len(text) - len(digits) + run(digits, plain)
		}
	}
	return n
}

// until is the length of text up to the end of what it holds of end, or all.
func until(text, end string) int {
	if at := strings.Index(text, end); at >= 0 {
		return at + len(end)
	}
	return len(text)
}

// quoted is the length of a string.
func quoted(text string) int {
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

// run is how many characters at the begin of text are in a class.
func run(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
