// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeText = regexp.MustCompile(`\bL0[0-9]{3}\b`)
	exact    = regexp.MustCompile(`^"L0[0-9]{3}"$`)
)

// scan notes the codes in a Go file: as a string of its own the code is used, in other text it is mentioned.
func scan(name string, src []byte, used, mentioned map[string]string) {
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return
		}
		if tok != token.STRING && tok != token.COMMENT {
			continue
		}
		where := files.Position(pos).String()
		if tok == token.STRING && exact.MatchString(lit) {
			used[strings.Trim(lit, `"`)] = where
			continue
		}
		for _, code := range codeText.FindAllString(lit, -1) {
			mentioned[code] = where
		}
	}
}

// TestCatalogue compares the catalogue with the sources: each code that they use stands in it, and the other way round.
func TestCatalogue(t *testing.T) {
	used, mentioned := map[string]string{}, map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if strings.HasPrefix(filepath.Base(path), "catalogue") && filepath.Base(filepath.Dir(path)) == "diag" {
			return nil
		}
		src, err := os.ReadFile(path)
		scan(path, src, used, mentioned)
		return err
	})
	if err != nil || len(used) < 50 {
		t.Fatalf("%d codes in the sources (%v)", len(used), err)
	}
	known := map[string]bool{}
	for _, e := range Catalogue() {
		known[e.Code] = true
		if used[e.Code] == "" {
			t.Errorf("%s stands in the catalogue, but nothing uses it", e.Code)
		}
	}
	for _, places := range []map[string]string{used, mentioned} {
		for code, where := range places {
			if !known[code] {
				t.Errorf("%s: %s is not in the catalogue", where, code)
			}
		}
	}
}

// TestEntries demands order, one sentence a cause, and an example each.
func TestEntries(t *testing.T) {
	all := Catalogue()
	if !slices.IsSortedFunc(all, func(a, b Entry) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("the codes do not ascend")
	}
	causes := map[string]string{}
	for i, e := range all {
		if !exact.MatchString(`"`+e.Code+`"`) || i > 0 && all[i-1].Code == e.Code {
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

// TestScan shows that the comparison tells uses from mentions and sees into constants and comments.
func TestScan(t *testing.T) {
	used, mentioned := map[string]string{}, map[string]string{}
	src := "package p\n\n// Error L0998 if not.\nconst code = \"L0997\"\n\nvar text = \"see L0996\"\n\nvar L0995 = 1\n"
	scan("p.go", []byte(src), used, mentioned)
	if len(used) != 1 || used["L0997"] != "p.go:4:14" || len(mentioned) != 2 || mentioned["L0998"] != "p.go:3:1" ||
		mentioned["L0996"] != "p.go:6:12" {
		t.Errorf("used %v, mentioned %v", used, mentioned)
	}
}
