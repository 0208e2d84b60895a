// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// concrete finds code outside of ir/format that asks which format it has: a type assertion or a type switch on one of
// its structs. Interfaces of the package are questions that a format answers itself.
func concrete(t Tree) []Finding {
	questions := map[string]bool{}
	for _, f := range t.goFiles(true) {
		if f.dir() == "ir/format" {
			f.types(func(s *ast.TypeSpec) {
				if _, ok := s.Type.(*ast.InterfaceType); ok {
					questions[s.Name.Name] = true
				}
			})
		}
	}
	var out []Finding
	for _, f := range t.goFiles(true) {
		if under(f.dir(), "ir/format") || bench(f.dir()) {
			continue
		}
		asks := func(e ast.Expr) {
			if pkg, name := f.imported(e); pkg == module+"ir/format" && !questions[name] {
				msg := "asks for format." + name + ": what it does with the answer belongs into ir/format"
				out = append(out, Finding{Path: f.Path, Line: f.line(e.Pos()), Msg: msg})
			}
		}
		f.asked(asks)
	}
	return out
}

// types calls do for each type that f declares.
func (f *File) types(do func(*ast.TypeSpec)) {
	for _, d := range f.Go.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				do(s.(*ast.TypeSpec))
			}
		}
	}
}

// asked calls do for each type in an assertion or in a case of a type switch.
func (f *File) asked(do func(ast.Expr)) {
	ast.Inspect(f.Go, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				do(n.Type)
			}
		case *ast.TypeSwitchStmt:
			for _, s := range n.Body.List {
				for _, e := range s.(*ast.CaseClause).List {
					do(e)
				}
			}
		}
		return true
	})
}

// imported is the package and the name of an expression pkg.Name or *pkg.Name; "" if it is none.
func (f *File) imported(e ast.Expr) (pkg, name string) {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	for _, s := range f.Go.Imports {
		p := importPath(s)
		if s.Name != nil && s.Name.Name == x.Name || s.Name == nil && path.Base(p) == x.Name {
			return p, sel.Sel.Name
		}
	}
	return "", ""
}

// about are the folders whose code is about operations: their rooms, and the frontends, which say models in them.
var about = []string{"ir/op", "frontend"}

// identity finds code elsewhere that asks which operation a node is: a comparison or a case with one of the operations
// that ir/op/all.go lists, or a type assertion to the attributes of one. Traits are what others may know of all.
func identity(t Tree) []Finding {
	ops, attrs := operations(t)
	var out []Finding
	for _, f := range t.goFiles(true) {
		if underAny(f.dir(), about) || bench(f.dir()) {
			continue
		}
		is := func(e ast.Expr, set map[string]bool, what string) {
			pkg, name := f.imported(e)
			if key := pkg + "." + name; set[key] {
				msg := what + " " + path.Base(pkg) + "." + name + ": a trait or a column can say what it wants to know"
				out = append(out, Finding{Path: f.Path, Line: f.line(e.Pos()), Msg: msg})
			}
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					is(n.X, ops, "compares with")
					is(n.Y, ops, "compares with")
				}
			case *ast.CaseClause:
				for _, e := range n.List {
					is(e, ops, "has a case for")
				}
			}
			return true
		})
		f.asked(func(e ast.Expr) { is(e, attrs, "asks for") })
	}
	return out
}

// operations are the operations that ir/op/all.go lists, and the attribute structs of their packages, as path.Name.
func operations(t Tree) (ops, attrs map[string]bool) {
	ops, attrs = map[string]bool{}, map[string]bool{}
	rooms := map[string]bool{}
	for _, f := range t.goFiles(true) {
		if f.Path != "ir/op/all.go" {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				for _, e := range lit.Elts {
					if pkg, name := f.imported(e); pkg != "" {
						ops[pkg+"."+name], rooms[pkg] = true, true
					}
				}
			}
			return true
		})
	}
	for _, f := range t.goFiles(true) {
		if pkg := module + f.dir(); rooms[pkg] {
			f.types(func(s *ast.TypeSpec) {
				if strings.HasSuffix(s.Name.Name, "Attrs") {
					attrs[pkg+"."+s.Name.Name] = true
				}
			})
		}
	}
	return ops, attrs
}
