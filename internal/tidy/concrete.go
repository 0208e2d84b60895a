// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/token"
	"slices"
)

// concrete finds code outside of ir/format that asks which format it has: a type assertion or a type switch on one of
// its structs, another name for one, a struct as a type argument, a comparison of codes or of the text of a format.
// Interfaces of the package are questions that a format answers itself.
func concrete(t Tree) []Finding {
	questions, structs := map[string]bool{}, map[string]bool{}
	for _, f := range t.goFiles(true) {
		if f.dir() == "ir/format" {
			f.types(func(s *ast.TypeSpec) {
				_, asks := s.Type.(*ast.InterfaceType)
				questions[s.Name.Name], structs[s.Name.Name] = asks, !asks
			})
		}
	}
	var out []Finding
	for _, f := range t.goFiles(true) {
		if under(f.dir(), "ir/format") {
			continue
		}
		find := func(n ast.Node, what string) {
			msg := what + ": what it does with the answer belongs into ir/format"
			out = append(out, Finding{Path: f.Path, Line: f.line(n.Pos()), Msg: msg})
		}
		f.asked(func(e ast.Expr) {
			if pkg, name := f.imported(e); pkg == formats && !questions[name] {
				find(e, "asks for format."+name)
			}
		})
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if pkg, name := f.imported(s.Type); pkg == formats && structs[name] {
					find(s, "calls format."+name+" "+s.Name.Name)
				}
			}
			for _, e := range indices(n) {
				if pkg, name := f.imported(e); pkg == formats && structs[name] {
					find(e, "has the type argument format."+name)
				}
			}
			if what := f.compares(n, structs); what != "" {
				find(n, what)
			}
			return true
		})
	}
	return out
}

const formats = module + "ir/format"

// indices are the type arguments of n, or what else stands in its brackets.
func indices(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.IndexExpr:
		return []ast.Expr{n.Index}
	case *ast.IndexListExpr:
		return n.Indices
	}
	return nil
}

// compares says how n compares a format: its set of codes or its text with anything, or itself with a struct; "" if it
// does not.
func (f *File) compares(n ast.Node, structs map[string]bool) string {
	for _, e := range f.compared(n) {
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			if pkg, name := f.imported(e.Type); pkg == formats && structs[name] {
				return "compares with a format." + name
			}
		case *ast.CallExpr:
			pkg, name := f.imported(e.Fun)
			if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "CodeSet" {
				return "compares a CodeSet"
			} else if ok && sel.Sel.Name == "String" && constant(n) && f.imports(formats) {
				return "compares the text of a format"
			}
			if pkg == formats && name == "FamilyOf" {
				return "compares a FamilyOf"
			}
		}
	}
	return ""
}

// compared are the expressions that n compares, or looks for or up.
func (f *File) compared(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return []ast.Expr{n.X, n.Y}
		}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			return []ast.Expr{n.Tag}
		}
	case *ast.CaseClause:
		return n.List
	case *ast.IndexExpr:
		return []ast.Expr{n.Index}
	case *ast.CallExpr:
		pkg, name := f.imported(n.Fun)
		if seeks := seekers[name]; seeks && (pkg == "strings" || pkg == "slices") {
			return n.Args
		}
	}
	return nil
}

// seekers are the functions of strings and slices that compare their arguments.
var seekers = map[string]bool{"Contains": true, "Index": true, "Equal": true, "EqualFold": true, "HasPrefix": true,
	"HasSuffix": true, "Cut": true, "CutPrefix": true, "CutSuffix": true}

// constant says that n compares with a text that stands there, or switches.
func constant(n ast.Node) bool {
	var sides []ast.Expr
	switch n := n.(type) {
	case *ast.BinaryExpr:
		sides = []ast.Expr{n.X, n.Y}
	case *ast.CallExpr:
		sides = n.Args
	case *ast.SwitchStmt:
		return true
	}
	for _, e := range sides {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value != `""` {
			return true
		}
	}
	return false
}

// imports says whether f imports a package.
func (f *File) imports(pkg string) bool {
	return slices.ContainsFunc(f.Go.Imports, func(s *ast.ImportSpec) bool { return importPath(s) == pkg })
}
