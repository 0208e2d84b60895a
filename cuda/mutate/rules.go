// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"slices"
	"strings"
)

// ordering are calls without a value, on which only the order of memory accesses depends.
var ordering = []string{"barrier", "__syncthreads", "__syncwarp", "cp_async_commit", "cp_async_wait"}

// dropCall deletes a barrier, a wait, a commit.
func dropCall(s *source, i int) {
	if !slices.Contains(ordering, s.tok(i)) {
		return
	}
	open := i + 1
	if s.tok(open) == "<" {
		open = s.angle(open) + 1
	}
	if end := closing(s.tokens, open); s.tok(open) == "(" && s.tok(end+1) == ";" {
		s.plant(i, end, "")
	}
}

// waitLess lets one more group of copies stay in flight.
func waitLess(s *source, i int) {
	if s.tok(i) != "cp_async_wait" || s.tok(i+1) != "<" {
		return
	}
	end := s.angle(i + 1)
	s.plant(i+2, end-1, "("+s.span(i+2, end-1)+") + 1")
}

// dropCondition makes what an `if` guards happen always, and a guard that returns never.
func dropCondition(s *source, i int) {
	if s.tok(i) != "if" || s.tok(i+1) != "(" {
		return
	}
	end := closing(s.tokens, i+1)
	if end < 0 {
		return
	}
	after := "(true)"
	if s.tok(end+1) == "return" || s.tok(end+1) == "continue" || s.tok(end+1) == "break" {
		after = "(false)"
	}
	s.plant(i+1, end, after)
}

// dropOperand leaves out the right side of && and ||, up to the next of them or the end of the expression.
func dropOperand(s *source, i int) {
	if s.tok(i) != "&&" && s.tok(i) != "||" {
		return
	}
	end := i + 1
	for end < len(s.tokens) {
		switch s.tok(end) {
		case "(", "[":
			end = closing(s.tokens, end)
		case ")", "]", ";", ",", "&&", "||", "?", ":", "}":
			s.plant(i, end-1, "")
			return
		}
		if end < 0 {
			return
		}
		end++
	}
}

// chooseBranch takes the second alternative of `c ? a : b` always: the one for tails and rare cases, or the usual one.
func chooseBranch(s *source, i int) {
	if s.tok(i) != "?" {
		return
	}
	s.plant(i, i, "&& false ?")
	s.plant(i, i, "|| true ?")
}

// boundaries are comparisons and the ones that differ at equality.
var boundaries = [][2]string{{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}, {"==", "!="}, {"!=", "=="}}

// boundary moves a limit by one.
func boundary(s *source, i int) {
	if t := s.tok(i); (t == "<" || t == ">") && !s.spaced(i) || s.unrolled(i) {
		return // brackets of a template, or a bound that constant moves
	}
	for _, b := range boundaries {
		if s.tok(i) == b[0] {
			s.plant(i, i, b[1])
		}
	}
}

// limits are comparisons and how far off their limit is planted: the direction that boundary, for integers, has not.
var limits = [][2]string{{"<", "- 1"}, {"<=", "+ 1"}, {">", "+ 1"}, {">=", "- 1"}}

// limit moves what a comparison compares with by one, away from what boundary does: a phantom row, a tile too few. The
// bounds of unrolled loops only make them shorter, for the reason that constant has.
func limit(s *source, i int) {
	if !s.spaced(i) {
		return
	}
	end := s.operand(i + 1)
	if end <= i {
		return
	}
	for _, l := range limits {
		if s.tok(i) != l[0] || end == i+1 && s.tokens[end].kind == number && (l[1] == "+ 1") != s.unrolled(i) {
			continue // constant has it
		}
		s.plant(i+1, end, "("+s.span(i+1, end)+") "+l[1])
	}
}

// operand is the index of the last token of the operand from token i on: sums and products, up to what binds less than
// a comparison; -1 where a bracket is not closed.
func (s *source) operand(i int) int {
	for ; i < len(s.tokens); i++ {
		switch s.tok(i) {
		case "(", "[":
			if i = closing(s.tokens, i); i < 0 {
				return -1
			}
		case ")", "]", ";", ",", "&&", "||", "?", ":", "}", "==", "!=", "&", "|", "^":
			return i - 1
		}
	}
	return -1
}

// spaced says that white space stands on both sides of a token, as around binary operators.
func (s *source) spaced(i int) bool {
	at, end := s.tokens[i].at, s.tokens[i].at+len(s.tok(i))
	return at > 0 && end < len(s.text) && strings.ContainsRune(" \n", rune(s.text[at-1])) &&
		strings.ContainsRune(" \n", rune(s.text[end]))
}

// constant adds one to an integer: stage, permutation, mask, exponent, rounding constant. The bounds of unrolled loops
// become one smaller: one turn more would be undefined for an array in registers, and compile to nothing.
func constant(s *source, i int) {
	if s.tokens[i].kind != number {
		return
	}
	after, ok := addTo(s.tok(i), 1)
	if s.unrolled(i) {
		after, ok = addTo(s.tok(i), -1)
	}
	if ok {
		s.plant(i, i, after)
	}
}

// unrolled says that token i stands between the semicolons of a `for` behind #pragma unroll.
func (s *source) unrolled(i int) bool {
	open, semicolons := i, 0
	for ; open > 0 && s.tok(open) != "for"; open-- {
		switch s.tok(open) {
		case ";":
			semicolons++
		case "{", "}":
			return false
		}
	}
	start := strings.LastIndexByte(s.text[:s.tokens[open].at], '\n')
	return semicolons == 1 && start > 0 && strings.HasSuffix(strings.TrimRight(s.text[:start], " "), "#pragma unroll")
}

// shiftIndex reads or writes the next element: stage, scale row, fragment.
func shiftIndex(s *source, i int) {
	if s.tok(i) != "[" || s.tok(i-1) == "]" {
		return
	}
	end := closing(s.tokens, i)
	if end <= i+1 || end == i+2 && s.tokens[i+1].kind == number {
		return
	}
	s.plant(i+1, end-1, "("+s.span(i+1, end-1)+") + 1")
}

// declares says that the bracket at i is the size of an array: `type name[SIZE]`, `, other[SIZE]` or `(&name)[SIZE]`.
func (s *source) declares(i int) bool {
	switch s.tok(i - 1) {
	case ")":
		return s.tok(i-3) == "&"
	case "]": // the second dimension
		return s.frozen[i-1]
	}
	end := closing(s.tokens, i)
	before := s.tok(i - 2)
	if end != i+2 || before == "return" || s.tokens[max(i-2, 0)].kind != word && !s.lists(i-2) {
		return false
	}
	return s.tokens[i+1].kind == number || s.tok(i+1) == strings.ToUpper(s.tok(i+1))
}

// lists says that the comma at i stands between arrays that one declaration makes: `type name[SIZE], other[SIZE]`.
func (s *source) lists(i int) bool {
	if s.tok(i) != "," || s.tok(i-1) != "]" {
		return false
	}
	for i--; i > 0 && s.tok(i) != "["; i-- {
	}
	return s.declares(i)
}

// swizzle replaces an exclusive or in an address by a sum.
func swizzle(s *source, i int) {
	if s.tok(i) == "^" && s.spaced(i) {
		s.plant(i, i, "+")
	}
}

// swapFragments exchanges the last two arguments of a tensor core instruction.
func swapFragments(s *source, i int) {
	if !strings.HasPrefix(s.tok(i), "mma_") || s.tok(i+1) != "(" {
		return
	}
	end := closing(s.tokens, i+1)
	if end < 0 {
		return
	}
	if at := commas(s.tokens, i+1, end); len(at) >= 2 {
		a, b := at[len(at)-2], at[len(at)-1]
		s.plant(a+1, end-1, s.span(b+1, end-1)+", "+s.span(a+1, b-1))
	}
}

// operators are pairs that are easily taken for each other.
var operators = [][2]string{{"+", "-"}, {"-", "+"}, {"<<", ">>"}, {">>", "<<"}, {"&", "|"}, {"|", "&"}, {"+=", "-="}}

// operator replaces an operator by its neighbour.
func operator(s *source, i int) {
	if !s.spaced(i) {
		return
	}
	for _, o := range operators {
		if s.tok(i) == o[0] {
			s.plant(i, i, o[1])
		}
	}
}
