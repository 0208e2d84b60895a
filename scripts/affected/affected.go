// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// packages are those of the project, by import path.
type packages map[string]*pkg

// pkg is a package and its tests.
type pkg struct {
	dir string
	// code and checks are the files of the package and of its tests, embedded ones too, from the root.
	code, checks []string
	// needs and tests are the packages that the package and the program of its tests consist of.
	needs, tests map[string]bool
	// reads and readsInTests are begins of paths that the Go text names, from the root; "" is all of them.
	reads, readsInTests []string
}

// scan finds what the Go files name: files of other folders by relative paths, and packages that they have the go
// command build, by import path or as ./cmd/... .
func (p packages) scan(root fs.FS) error {
	for _, one := range p {
		for _, list := range [][]string{one.code, one.checks} {
			for _, file := range list {
				if path.Ext(file) != ".go" {
					continue
				}
				data, err := fs.ReadFile(root, file)
				if err != nil {
					return err
				}
				tree, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				one.take(texts(tree), strings.HasSuffix(file, "_test.go"), p)
			}
		}
	}
	return nil
}

// texts are the strings of a Go file, and those that a call of a function Join is given in a row.
func texts(tree *ast.File) []string {
	var all []string
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && s != ".." {
				all = append(all, s)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Join" {
				all = append(all, joined(n.Args))
			}
		}
		return true
	})
	return all
}

// joined is the path that the first arguments make, as far as they are strings.
func joined(args []ast.Expr) string {
	var parts []string
	for _, a := range args {
		lit, ok := a.(*ast.BasicLit)
		if !ok {
			break
		}
		s, err := strconv.Unquote(lit.Value)
		if err != nil {
			break
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "/")
}

// take sorts the texts of a file of the package or of its tests.
func (p *pkg) take(texts []string, test bool, all packages) {
	for _, s := range texts {
		switch {
		case strings.HasPrefix(s, ".."):
			s, _, _ = strings.Cut(s, "*")
			at := path.Join("root", p.dir, s)
			at, within := strings.CutPrefix(at, "root")
			if !within {
				continue
			}
			if at = strings.TrimPrefix(at, "/"); test {
				p.readsInTests = append(p.readsInTests, at)
			} else if at != "" { // code that walks everything is told where by its tests
				p.reads = append(p.reads, at)
			}
		case strings.HasPrefix(s, "./cmd/"), strings.HasPrefix(s, module):
			s = module + strings.TrimPrefix(strings.TrimPrefix(s, "./"), module)
			for name, built := range all {
				if begin, all := strings.CutSuffix(s, "..."); name == s || all && strings.HasPrefix(name, begin) {
					maps.Copy(p.needs, built.needs)
				}
			}
		}
	}
}

// affected are the packages, sorted, that the change of files can break: those that consist of them, read them, or
// need one that does. A change of go.mod can break all.
func (p packages) affected(files []string) []string {
	if slices.ContainsFunc(files, func(f string) bool { return f == "go.mod" || f == "go.sum" }) {
		return slices.Sorted(maps.Keys(p))
	}
	whole, tests := map[string]bool{}, map[string]bool{} // packages that changed, and those of which tests did
	for name, one := range p {
		for _, f := range files {
			begins := func(at string) bool { return strings.HasPrefix(f, at) }
			switch {
			case slices.Contains(one.code, f) || slices.ContainsFunc(one.reads, begins) ||
				path.Dir(f) == one.dir && path.Ext(f) == ".go" && !strings.HasSuffix(f, "_test.go"): // deleted, or tagged
				whole[name] = true
			case slices.Contains(one.checks, f) || slices.ContainsFunc(one.readsInTests, begins) || p.owner(f) == name:
				tests[name] = true
			}
		}
	}
	for name, one := range p {
		for dep := range whole {
			if one.needs[dep] || one.tests[dep] {
				tests[name] = true
			}
		}
		for dep := range one.tests { // what tests build with the go command
			for changed := range whole {
				if d := p[dep]; d != nil && d.needs[changed] {
					tests[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(tests))
}

// owner is the package of the nearest folder around a file.
func (p packages) owner(file string) string {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if p[module+dir] != nil {
			return module + dir
		}
	}
	return ""
}
