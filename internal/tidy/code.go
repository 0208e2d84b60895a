// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
)

func inits(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(false) {
		for _, d := range f.Go.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, Finding{Path: f.Path, Line: f.line(fn.Pos()), Msg: "has an init function"})
			}
		}
	}
	return out
}

// compiler is where a map of anything would hide what a node is.
var compiler = []string{"ir", "lower", "emit", "frontend", "rtl", "cuda"}

func metadata(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(true) {
		if !underAny(f.dir(), compiler) {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if m, ok := n.(*ast.MapType); ok && isAny(m.Value) {
				out = append(out, Finding{Path: f.Path, Line: f.line(m.Pos()), Msg: "a map of any: declare a struct"})
			}
			return true
		})
	}
	return out
}

func isAny(e ast.Expr) bool {
	if i, ok := e.(*ast.InterfaceType); ok {
		return len(i.Methods.List) == 0
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "any"
}

// errorCode is the text of a code of the catalogue of errors.
var errorCode = regexp.MustCompile(`^"L[0-9]{4}"$`)

// codes finds codes of errors that are written out: internal/diag has a constant for each.
func codes(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(true) {
		if f.Path == "internal/diag/codes.go" {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && errorCode.MatchString(lit.Value) {
				out = append(out, Finding{Path: f.Path, Line: f.line(lit.Pos()), Msg: lit.Value +
					": use the constant of internal/diag"})
			}
			return true
		})
	}
	return out
}

// wellKnown methods mean what the standard library says that they mean.
var wellKnown = []string{"String", "Error", "Unwrap", "Close", "Len", "Less", "Swap", "Read", "Write", "MarshalJSON",
	"UnmarshalJSON", "MarshalText", "UnmarshalText"}

func docs(t Tree) []Finding {
	var out []Finding
	packageDoc := map[string]bool{}
	for _, f := range t.goFiles(true) {
		packageDoc[f.dir()] = packageDoc[f.dir()] || f.Go.Doc != nil
		if f.Go.Name.Name == "main" || f.generated() {
			continue
		}
		for _, d := range f.Go.Decls {
			out = append(out, f.undocumented(d)...)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packageDoc)) {
		if !packageDoc[dir] {
			out = append(out, Finding{Path: dir, Msg: "the package has no doc comment"})
		}
	}
	return out
}

// undocumented lists the exported names of a declaration that have no comment of their own or of their group.
func (f *File) undocumented(d ast.Decl) []Finding {
	var out []Finding
	miss := func(id *ast.Ident) {
		if id.IsExported() {
			out = append(out, Finding{Path: f.Path, Line: f.line(id.Pos()), Msg: id.Name + " has no doc comment"})
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		hidden := d.Recv != nil && (!exportedReceiver(d.Recv.List[0].Type) || slices.Contains(wellKnown, d.Name.Name))
		if d.Doc == nil && !hidden {
			miss(d.Name)
		}
	case *ast.GenDecl:
		if d.Doc != nil || d.Tok == token.IMPORT {
			return nil
		}
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && s.Comment == nil {
					miss(s.Name)
				}
			case *ast.ValueSpec:
				if s.Doc == nil && s.Comment == nil {
					for _, id := range s.Names {
						miss(id)
					}
				}
			}
		}
	}
	return out
}

func exportedReceiver(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr:
		return exportedReceiver(e.X)
	case *ast.IndexExpr:
		return exportedReceiver(e.X)
	case *ast.IndexListExpr:
		return exportedReceiver(e.X)
	case *ast.Ident:
		return e.IsExported()
	}
	return false
}

func skips(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(false) {
		if under(f.dir(), "internal/tools") {
			continue
		}
		for _, d := range f.Go.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				out = append(out, f.skipCalls(fn.Type, fn.Body, nil)...)
			}
		}
	}
	return out
}

// skipCalls finds calls of Skip on what is a testing.T, B, F or TB here; Skip of a property test only drops a sample.
func (f *File) skipCalls(typ *ast.FuncType, body ast.Node, outer map[string]bool) []Finding {
	here := maps.Clone(outer)
	if here == nil {
		here = map[string]bool{}
	}
	for _, p := range typ.Params.List {
		for _, id := range p.Names {
			here[id.Name] = isTesting(p.Type)
		}
	}
	var out []Finding
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			out = append(out, f.skipCalls(n.Type, n.Body, here)...)
			return false
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if ok && here[id.Name] && strings.HasPrefix(n.Sel.Name, "Skip") && n.Sel.Name != "Skipped" {
				msg := "skips by itself: use tools.Need"
				out = append(out, Finding{Path: f.Path, Line: f.line(n.Pos()), Msg: msg})
			}
		}
		return true
	})
	return out
}

func isTesting(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "testing"
}
