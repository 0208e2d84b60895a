// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
)

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

// makers make a node of an operation that is an argument.
var makers = map[string]bool{"NewNode": true, "Add": true, "adapter": true}

// identity finds code elsewhere that asks which operation a node is: a use of one of the operations that ir/op/all.go
// lists for anything but making a node, a comparison of the name of one, or a type assertion to the attributes of one.
// Traits are what others may know of all.
func identity(t Tree) []Finding {
	ops, attrs := operations(t)
	var out []Finding
	for _, f := range t.goFiles(true) {
		if underAny(f.dir(), about) {
			continue
		}
		find := func(n ast.Node, what string) {
			msg := what + ": a trait or a column can say what it wants to know"
			out = append(out, Finding{Path: f.Path, Line: f.line(n.Pos()), Msg: msg})
		}
		making := map[ast.Expr]bool{}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			for _, e := range made(n) {
				making[e] = true
			}
			if e, ok := n.(*ast.SelectorExpr); ok && !making[e] {
				if pkg, name := f.imported(e); ops[pkg+"."+name] {
					find(e, "asks for "+path.Base(pkg)+"."+name)
				}
			}
			_, binary := n.(*ast.BinaryExpr)
			for _, e := range f.compared(n) {
				if s, ok := e.(*ast.SelectorExpr); ok && (!binary || constant(n)) && s.Sel.Name == "Name" && named(s.X) {
					find(e, "compares the name of an operation")
				}
			}
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
				pkg, name := f.imported(call.Fun)
				if _, text := call.Args[0].(*ast.BasicLit); text && pkg == module+"ir/op" && name == "Find" {
					find(call, "finds an operation by its name")
				}
			}
			return true
		})
		f.asked(func(e ast.Expr) {
			if pkg, name := f.imported(e); attrs[pkg+"."+name] {
				find(e, "asks for "+path.Base(pkg)+"."+name)
			}
		})
	}
	return out
}

// named says that e is x.Op, or a variable that can be one.
func named(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "Op"
	case *ast.Ident:
		return e.Name == "op"
	}
	return false
}

// made are the expressions directly in n whose values become the operation of a node: Op in a literal or an assignment,
// and arguments of makers.
func made(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Op" {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		var out []ast.Expr
		for i, l := range n.Lhs {
			if s, ok := l.(*ast.SelectorExpr); ok && s.Sel.Name == "Op" && len(n.Rhs) == len(n.Lhs) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	case *ast.CallExpr:
		switch fun := n.Fun.(type) {
		case *ast.Ident:
			if makers[fun.Name] {
				return n.Args
			}
		case *ast.SelectorExpr:
			if makers[fun.Sel.Name] {
				return n.Args
			}
		}
	}
	return nil
}

// allOps lists the operations.
const allOps = "ir/op/all.go"

// operations are the operations that ir/op/all.go lists, and the exported attribute structs below ir/op, as path.Name.
func operations(t Tree) (ops, attrs map[string]bool) {
	ops, attrs = map[string]bool{}, map[string]bool{}
	for _, f := range t.goFiles(true) {
		if f.Path == allOps {
			ast.Inspect(f.Go, func(n ast.Node) bool {
				if lit, ok := n.(*ast.CompositeLit); ok {
					for _, e := range lit.Elts {
						if pkg, name := f.imported(e); pkg != "" {
							ops[pkg+"."+name] = true
						}
					}
				}
				return true
			})
		}
		if under(f.dir(), "ir/op") {
			f.types(func(s *ast.TypeSpec) {
				if s.Name.IsExported() && strings.HasSuffix(s.Name.Name, "Attrs") {
					attrs[module+f.dir()+"."+s.Name.Name] = true
				}
			})
		}
	}
	return ops, attrs
}
