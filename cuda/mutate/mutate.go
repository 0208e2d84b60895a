// SPDX-License-Identifier: Apache-2.0

// Package mutate plants faults into the text of the kernel library, one at a time: the faults that people make when
// they write kernels. A test suite is as good as the share of them that it notices (docs/mutation.md).
package mutate

import (
	"fmt"
	"strconv"
	"strings"
)

// Mutant is a file of the library with one fault.
type Mutant struct {
	// Rule names the kind of fault, Line is where it stands, Before and After are the piece of text that differs.
	Rule          string
	Line          int
	Before, After string
	// Source is the line without indentation and comment, Column the place in it, from 1.
	Source string
	Column int
	at     int
}

// ID names the mutant by what it does to its line, not by the number of the line: lines above may change. `@` is where
// in the line it stands.
func (m Mutant) ID() string {
	return fmt.Sprintf("%s: %s => %s @%d in %s", m.Rule, m.Before, m.After, m.Column, m.Source)
}

// Apply gives the text of the file with the fault.
func (m Mutant) Apply(src string) string { return src[:m.at] + m.After + src[m.at+len(m.Before):] }

// rule finds faults of one kind at one token.
type rule struct {
	name string
	find func(s *source, i int)
}

// rules, in the order in which a token is tried.
var rules = []rule{
	{"drop call", dropCall}, {"wait less", waitLess}, {"drop condition", dropCondition}, {"drop operand", dropOperand},
	{"choose branch", chooseBranch}, {"boundary", boundary}, {"limit", limit}, {"constant", constant},
	{"shift index", shiftIndex}, {"swizzle", swizzle}, {"swap fragments", swapFragments}, {"operator", operator},
}

// Rules are the names of all kinds of faults.
func Rules() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// source is a file in tokens, while faults are looked for.
type source struct {
	text   string
	tokens []token
	rule   string
	out    []Mutant
	// frozen says of each token that it decides no value: types, template parameters, assertions, assembly.
	frozen []bool
}

// Mutants finds every fault that can be planted into a file of the library, in the order of the text. Some do not
// compile, and some change nothing.
func Mutants(src string) []Mutant {
	s := &source{text: src, tokens: scan(src)}
	s.freeze()
	for i := range s.tokens {
		if s.frozen[i] {
			continue
		}
		for _, r := range rules {
			s.rule = r.name
			r.find(s, i)
		}
	}
	return s.out
}

// tok is the text of token i; empty outside the file.
func (s *source) tok(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].text
}

// span is the text from the start of token i to the end of token j.
func (s *source) span(i, j int) string {
	return s.text[s.tokens[i].at : s.tokens[j].at+len(s.tokens[j].text)]
}

// plant replaces the tokens i to j.
func (s *source) plant(i, j int, after string) {
	t := s.tokens[i]
	start := strings.LastIndexByte(s.text[:t.at], '\n') + 1
	line, _, _ := strings.Cut(s.text[start:], "\n")
	line, _, _ = strings.Cut(line, "  // ")
	source := strings.TrimLeft(line, " ")
	s.out = append(s.out, Mutant{Rule: s.rule, Line: t.line, Before: s.span(i, j), After: after, Source: source,
		Column: t.at - start - (len(line) - len(source)) + 1, at: t.at})
}

// freeze marks what is left alone.
func (s *source) freeze() {
	s.frozen = make([]bool, len(s.tokens))
	mark := func(i, j int) {
		for ; i <= j && i >= 0; i++ {
			s.frozen[i] = true
		}
	}
	for i := range s.tokens {
		switch s.tok(i) {
		case "template":
			if s.tok(i+1) == "<" {
				mark(i, s.angle(i+1))
			}
		case "asm", "static_assert":
			open := i + 1
			if s.tok(open) == "volatile" {
				open++
			}
			mark(i, closing(s.tokens, open))
		case "cp_async_wait": // waiting longer changes no result; waitLess has the other direction
			if s.tok(i+1) == "<" {
				mark(i+1, s.angle(i+1))
			}
		case "[":
			if s.declares(i) {
				mark(i, closing(s.tokens, i))
			}
		case "typedef", "struct", "enum":
			end := i
			for s.tok(end) != ";" && s.tok(end) != "{" && end < len(s.tokens)-1 {
				end++
			}
			mark(i, end)
		}
	}
}

// angle is the index of the > that closes the < at i.
func (s *source) angle(i int) int {
	depth := 0
	for ; i < len(s.tokens); i++ {
		switch s.tok(i) {
		case "<":
			depth++
		case ">":
			depth--
		case ">>":
			depth -= 2
		}
		if depth <= 0 {
			return i
		}
	}
	return len(s.tokens) - 1
}

// addTo is the integer literal plus d, in its base and with its suffix; ok is false for other numbers.
func addTo(lit string, d int64) (string, bool) {
	digits := strings.TrimRight(lit, "uUlL")
	suffix := lit[len(digits):]
	v, err := strconv.ParseUint(digits, 0, 64)
	if err != nil || strings.HasSuffix(lit, "f") && !strings.HasPrefix(lit, "0x") {
		return "", false
	}
	if strings.HasPrefix(digits, "0x") {
		return fmt.Sprintf("0x%X%s", v+uint64(d), suffix), true
	}
	return strconv.FormatUint(v+uint64(d), 10) + suffix, true
}
