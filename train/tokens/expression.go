// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern is a text or a regular expression.
type pattern struct {
	String *string
	Regex  *string
}

// expression is a regular expression of a tokenizer.json, or a text. It differs from those of Go in what \s, \d and
// \w are, and in `\s+(?!\S)|\s+`: blanks, but for the last one if something follows.
type expression struct {
	*regexp.Regexp
	tail int // the group of blanks that look ahead; -1 for none
}

const ahead = `\s+(?!\S)|\s+`

func compile(s string) (*expression, error) {
	classes, err := inUnicode(strings.Replace(s, ahead, `(?P<ahead>\s+)`, 1))
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(classes, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if places(tree) {
		return nil, fmt.Errorf("it asks for a place: ^, $ or \\b")
	}
	re, err := regexp.Compile(classes)
	if err != nil {
		return nil, err
	}
	return &expression{re, re.SubexpIndex("ahead")}, nil
}

func must(s string) *expression {
	e, err := compile(s)
	if err != nil {
		panic(err)
	}
	return e
}

// places says that an expression looks at what stands around a match.
func places(e *syntax.Regexp) bool {
	return e.Op >= syntax.OpBeginLine && e.Op <= syntax.OpNoWordBoundary || slices.ContainsFunc(e.Sub, places)
}

// unicodeClasses are those that Go has for ASCII only.
var unicodeClasses = map[byte]string{'s': `\t\n\v\f\r \x{85}\p{Z}`, 'd': `\p{Nd}`, 'w': `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}`}

// inUnicode writes an expression with classes of Unicode.
func inUnicode(s string) (string, error) {
	var b strings.Builder
	class := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			set, known := unicodeClasses[s[i]|0x20]
			not := s[i]&0x20 == 0
			switch {
			case !known:
				b.WriteString(s[i-1 : i+1])
			case class && not:
				return "", fmt.Errorf("\\%c stands in a class", s[i])
			case class:
				b.WriteString(set)
			case not:
				b.WriteString("[^" + set + "]")
			default:
				b.WriteString("[" + set + "]")
			}
			continue
		case class && (c == '[' || c == '&' && strings.HasPrefix(s[i:], "&&")):
			return "", fmt.Errorf("a class stands in a class")
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// match is the place of the first match from a place on; ok is false if there is none.
func (e *expression) match(s string, from int) (start, end int, ok bool) {
	m := e.FindStringSubmatchIndex(s[from:])
	if m == nil {
		return 0, 0, false
	}
	start, end = from+m[0], from+m[1]
	if e.tail >= 0 && m[2*e.tail] >= 0 && end < len(s) { // something follows: the last blank is its own
		if _, n := utf8.DecodeLastRuneInString(s[start:end]); n < end-start {
			end -= n
		}
	}
	return start, end, true
}

// split cuts a text at matches, which are words themselves unless they are dropped; invert: what is between them.
func (e *expression) split(s string, drop, invert bool) []string {
	var out []string
	add := func(word string, matched bool) {
		if word != "" && !(drop && matched != invert) {
			out = append(out, word)
		}
	}
	from := 0
	for at := 0; at <= len(s); {
		start, end, ok := e.match(s, at)
		if !ok {
			break
		}
		if end == start { // nothing is no word
			_, n := utf8.DecodeRuneInString(s[end:])
			at = end + max(n, 1)
			continue
		}
		add(s[from:start], false)
		add(s[start:end], true)
		from, at = end, end
	}
	add(s[from:], false)
	return out
}

// replace puts a text in place of each match.
func (e *expression) replace(s, by string) string {
	var b strings.Builder
	at := 0
	for at < len(s) {
		start, end, ok := e.match(s, at)
		if !ok || start == end {
			break
		}
		b.WriteString(s[at:start] + by)
		at = end
	}
	return b.String() + s[at:]
}
