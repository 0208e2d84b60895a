// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"
	"sort"
	"strings"

	"lathe/internal/diag"
)

// Limits on texts. The parser is recursive, and a stack that overflows ends the process: nesting is bounded before it
// runs. What it reads are the bytes outside of long constants, of which each costs it some 30 bytes.
const (
	maxDepth = 200
	maxCode  = 64 << 20
	maxSize  = 1<<31 - 1
	longText = 32 // constants and strings beyond it are cut out
)

// scanned is a text prepared for the parser: pure ASCII, without the contents of long constants, strings and resources.
type scanned struct {
	src  []byte
	code []byte // while it is scanned
	text string // the code, once it is complete
	cuts []cut
	// lines holds the offset at which each line of src begins, once somebody asks.
	lines []int
}

// cut says that before byte at of the code, removed bytes of the source are missing, those of earlier cuts included.
type cut struct{ at, removed int }

// origin is the offset in the source of byte i of the code.
func (s *scanned) origin(i int) int {
	k := sort.Search(len(s.cuts), func(k int) bool { return s.cuts[k].at > i })
	if k == 0 {
		return i
	}
	return i + s.cuts[k-1].removed
}

// lineCol is the line and the column of an offset in the source, both from 1 on; columns count bytes.
func (s *scanned) lineCol(at int) (line, col int) {
	if s.lines == nil {
		s.lines = append(s.lines, 0)
		for i, c := range s.src {
			if c == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	line = sort.SearchInts(s.lines, at+1)
	return line, at - s.lines[line-1] + 1
}

// scanner walks over the source once.
type scanner struct {
	scanned
	file  *File
	at    int
	open  [maxDepth]int // offsets of the brackets that are open
	depth int
}

// scan bounds size and nesting, checks that brackets match, and cuts out what the parser need not see.
func (f *File) scan(src []byte) error {
	s := &scanner{scanned: scanned{src: src}, file: f}
	if len(src) > maxSize {
		return diag.New(diag.ModelLimit, f.Name, "is %d bytes long, more than 2^31-1", len(src))
	}
	s.code = make([]byte, 0, min(len(src), maxCode))
	f.scanned = &s.scanned
	for s.at < len(src) {
		if err := s.next(); err != nil {
			return err
		}
		if len(s.code) > maxCode {
			return f.errorAt(diag.ModelLimit, s.at, "more than %d bytes of code stand outside of constants", maxCode)
		}
	}
	if s.depth > 0 {
		at := s.open[s.depth-1]
		return f.errorAt(diag.MLIRSyntax, at, "the %q is never closed: the text ends too early", src[at])
	}
	return nil
}

// plain says that the scan passes a byte on without a look around.
func plain(c byte) bool {
	switch c {
	case '/', '"', '-', '(', ')', '[', ']', '{', '}', '<', '>':
		return false
	case '\n', '\r', '\t':
		return true
	}
	return c >= ' ' && c < 0x7f
}

// next handles one character or several plain ones, or a comment, a string, a constant.
func (s *scanner) next() error {
	c := s.src[s.at]
	rest := s.src[s.at:]
	n, room := 0, min(len(rest), maxCode+1-len(s.code))
	for n < room && plain(rest[n]) {
		n++
	}
	switch {
	case n > 0:
		s.take(n)
	case c == '/' && bytes.HasPrefix(rest, []byte("//")):
		return s.comment()
	case c == '"':
		return s.text()
	case bytes.HasPrefix(rest, []byte("{-#")):
		return s.resources()
	case bytes.HasPrefix(rest, []byte("->")):
		s.take(2)
	case c == '(' || c == '[' || c == '{' || c == '<':
		if s.depth == maxDepth {
			return s.file.errorAt(diag.ModelLimit, s.at, "brackets are nested more than %d deep", maxDepth)
		}
		s.open[s.depth] = s.at
		s.depth++
		s.take(1)
		if c == '<' && s.dense() {
			return s.constant()
		}
	case c == ')' || c == ']' || c == '}' || c == '>':
		if s.depth == 0 || s.src[s.open[s.depth-1]] != opens(c) {
			return s.unmatched(c)
		}
		s.depth--
		s.take(1)
	case c < ' ' || c >= 0x7f:
		return s.file.errorAt(diag.MLIRSyntax, s.at, "unexpected byte %#02x outside of a string", c)
	default:
		s.take(1)
	}
	return nil
}

func opens(c byte) byte { return "([{<"[strings.IndexByte(")]}>", c)] }

func (s *scanner) unmatched(c byte) error {
	e := s.file.errorAt(diag.MLIRSyntax, s.at, "unexpected %q", c)
	if s.depth > 0 {
		at := s.open[s.depth-1]
		line, col := s.lineCol(at)
		return e.WithNote("the %q at %d:%d is still open", s.src[at], line, col)
	}
	return e
}

// take passes n characters on.
func (s *scanner) take(n int) {
	s.code = append(s.code, s.src[s.at:s.at+n]...)
	s.at += n
}

// skip leaves n characters out.
func (s *scanner) skip(n int) {
	if n == 0 {
		return
	}
	s.at += n
	s.cuts = append(s.cuts, cut{len(s.code), s.at - len(s.code)})
}

// comment leaves out a comment; that of a file of several modules is refused.
func (s *scanner) comment() error {
	if bytes.HasPrefix(s.src[s.at:], []byte("// -----")) && (s.at == 0 || s.src[s.at-1] == '\n') {
		return s.file.errorAt(diag.SeveralModules, s.at, "the file holds several modules").
			WithHint("write each module into a file of its own")
	}
	n := bytes.IndexByte(s.src[s.at:], '\n')
	if n < 0 {
		n = len(s.src) - s.at
	}
	s.skip(n)
	return nil
}

// text passes a string on: short ones in ASCII, of others only the quotes.
func (s *scanner) text() error {
	end := stringEnd(s.src, s.at)
	if end < 0 {
		return s.file.errorAt(diag.MLIRSyntax, s.at, "a string has no end")
	}
	inner := s.src[s.at+1 : end-1]
	s.take(1)
	if len(inner) > longText {
		s.skip(len(inner))
	} else {
		s.at += len(inner)
		for _, c := range inner {
			if c < ' ' || c >= 0x7f {
				c = '_'
			}
			s.code = append(s.code, c)
		}
	}
	s.take(1)
	return nil
}

// stringEnd is the offset behind the string that begins at a quote, or -1: strings end on their line.
func stringEnd(src []byte, at int) int {
	for i := at + 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return -1
		}
	}
	return -1
}

// dense says that the bracket just taken begins the elements of a constant.
func (s *scanner) dense() bool {
	return bytes.HasSuffix(s.code, []byte("dense<")) || bytes.HasSuffix(s.code, []byte("array<"))
}

// constant leaves out the elements of a long constant.
func (s *scanner) constant() error {
	for i := s.at; i < len(s.src); i++ {
		switch s.src[i] {
		case '"':
			end := stringEnd(s.src, i)
			if end < 0 {
				return s.file.errorAt(diag.MLIRSyntax, i, "a string has no end")
			}
			i = end - 1
		case '>':
			if i-s.at > longText {
				s.skip(i - s.at)
			}
			return nil
		case '<', '{', '}', '=', '%':
			return nil // not what a constant holds: the parser will say so
		}
	}
	return s.file.errorAt(diag.MLIRSyntax, s.at-1, "the '<' is never closed: the text ends too early")
}

// resources leaves out the contents of a block of resources.
func (s *scanner) resources() error {
	start := s.at
	for i := s.at + 3; i < len(s.src); i++ {
		switch {
		case s.src[i] == '"':
			end := stringEnd(s.src, i)
			if end < 0 {
				return s.file.errorAt(diag.MLIRSyntax, i, "a string has no end")
			}
			i = end - 1
		case bytes.HasPrefix(s.src[i:], []byte("#-}")):
			s.take(3)
			s.skip(i - s.at)
			s.take(3)
			return nil
		}
	}
	return s.file.errorAt(diag.MLIRSyntax, start, "the block of resources is never closed: the text ends too early")
}
