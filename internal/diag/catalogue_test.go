// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	codeText = regexp.MustCompile(`\bL[01][0-9]{3}\b`)
	exact    = regexp.MustCompile(`^L[01][0-9]{3}$`)
)

// scan notes in a Go file the constants of this package that it uses, by name, and the codes in its texts and comments.
func scan(name string, src []byte, used, mentioned map[string]string) {
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	var last [2]string
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return
		}
		where := files.Position(pos).String()
		if tok == token.IDENT && last == [2]string{"diag", "."} {
			used[lit] = where
		}
		if last[0] = last[1]; tok == token.PERIOD {
			last[1] = "."
		} else {
			last[1] = lit
		}
		if tok == token.STRING || tok == token.COMMENT {
			for _, code := range codeText.FindAllString(lit, -1) {
				mentioned[code] = where
			}
		}
	}
}

// constants are the codes of codes.go by the names of their constants.
func constants(t *testing.T) map[string]Code {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Code{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok {
			all[s.Names[0].Name] = Code(strings.Trim(s.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	return all
}

// TestCatalogue compares the catalogue with the sources: each code that they name stands in it, and each code of it has
// a constant that they use.
func TestCatalogue(t *testing.T) {
	used, mentioned := map[string]string{}, map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		scan(path, src, used, mentioned)
		return err
	})
	if err != nil || len(used) < 50 {
		t.Fatalf("%d codes in the sources (%v)", len(used), err)
	}
	known, named := map[Code]bool{}, map[Code]string{}
	for _, e := range Catalogue() {
		known[e.Code] = true
	}
	for name, code := range constants(t) {
		switch {
		case !known[code]:
			t.Errorf("%s, %s, is not in the catalogue", name, code)
		case named[code] != "":
			t.Errorf("%s is %s and %s", code, name, named[code])
		case used[name] == "":
			t.Errorf("%s, %s, stands in the catalogue, but nothing uses it", name, code)
		}
		named[code] = name
	}
	for code := range known {
		if named[code] == "" {
			t.Errorf("%s has no constant", code)
		}
	}
	for code, where := range mentioned {
		if !known[Code(code)] {
			t.Errorf("%s: %s is not in the catalogue", where, code)
		}
	}
}

// TestEntries demands order, one sentence a cause, and an example each.
func TestEntries(t *testing.T) {
	all := Catalogue()
	if !slices.IsSortedFunc(all, func(a, b Entry) int { return cmp.Compare(a.Code, b.Code) }) {
		t.Error("the codes do not ascend")
	}
	causes := map[string]Code{}
	for i, e := range all {
		if !exact.MatchString(string(e.Code)) || i > 0 && all[i-1].Code == e.Code {
			t.Errorf("%q is not a code, or occurs twice", e.Code)
		}
		if !strings.HasSuffix(e.Cause, ".") || strings.Count(e.Cause, ". ") > 0 || strings.Contains(e.Cause, "\n") {
			t.Errorf("%s: %q is not one sentence", e.Code, e.Cause)
		}
		if other := causes[e.Cause]; other != "" {
			t.Errorf("%s has the cause of %s", e.Code, other)
		}
		causes[e.Cause] = e.Code
		if strings.TrimSpace(e.Example) == "" {
			t.Errorf("%s has no example", e.Code)
		}
	}
}

// TestRemedies demands of each entry what to do next: a short line that begins like a sentence and says more than the
// cause does.
func TestRemedies(t *testing.T) {
	for _, e := range Catalogue() {
		r, stop := strings.CutSuffix(e.Remedy, ".")
		switch {
		case e.Remedy == "":
			t.Errorf("%s has no remedy", e.Code)
		case !stop || strings.Contains(r, "\n") || strings.TrimSpace(r) != r || !unicode.IsUpper(rune(r[0])):
			t.Errorf("%s: %q is no sentence", e.Code, e.Remedy)
		case len(e.Remedy) > 240:
			t.Errorf("%s: its remedy has %d characters, and 240 are the most", e.Code, len(e.Remedy))
		case !more(r, e.Cause):
			t.Errorf("%s: %q says what the cause says", e.Code, e.Remedy)
		}
	}
}

var words = regexp.MustCompile(`[a-z0-9_]{4,}`)

// more says that at least half of the words of text, the short ones aside, are not in other.
func more(text, other string) bool {
	had, added := map[string]bool{}, 0
	for _, w := range words.FindAllString(strings.ToLower(other), -1) {
		had[w] = true
	}
	all := words.FindAllString(strings.ToLower(text), -1)
	for _, w := range all {
		if !had[w] {
			added++
		}
	}
	return 2*added >= len(all)
}

// TestScan shows that the comparison tells uses from mentions and sees into texts and comments.
func TestScan(t *testing.T) {
	used, mentioned := map[string]string{}, map[string]string{}
	src := "package p\n\n// Error L0998 if not.\nvar code = diag.Usage\n\n" +
		"var text = \"see L0996\"\n\nvar L0995 = other.Labels\n"
	scan("p.go", []byte(src), used, mentioned)
	if len(used) != 1 || used["Usage"] != "p.go:4:17" || len(mentioned) != 2 || mentioned["L0998"] != "p.go:3:1" ||
		mentioned["L0996"] != "p.go:6:12" {
		t.Errorf("used %v, mentioned %v", used, mentioned)
	}
}
