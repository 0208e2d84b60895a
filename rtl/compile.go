// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"go/ast"
	"go/token"
	"strconv"
)

// term is an expression in s, the step of a stage: a number, or a function where it depends on s.
type term struct {
	value int
	f     func(s int) int
}

// at is the value at step s.
func (t term) at(s int) int {
	if t.f == nil {
		return t.value
	}
	return t.f(s)
}

// compiler turns expressions of one header into terms. Names stand for values, or for lets that depend on s. The first
// cause of failure is kept.
type compiler struct {
	header *Header
	env    map[string]int
	cause  string
}

func (c *compiler) fail(cause string) term {
	if c.cause == "" {
		c.cause = cause
	}
	return term{}
}

// constant is argument i, which must not depend on s.
func (c *compiler) constant(args []term, i int) int {
	if args[i].f != nil {
		c.fail("argument " + strconv.Itoa(i) + " depends on s")
	}
	return args[i].value
}

func (c *compiler) term(tree ast.Expr) term {
	switch x := tree.(type) {
	case *ast.ParenExpr:
		return c.term(x.X)
	case *ast.Ident:
		return c.name(x.Name)
	case *ast.BinaryExpr:
		return c.binary(x)
	case *ast.CallExpr:
		return c.call(x)
	}
	v, cause := eval(tree, c.env)
	if cause != "" {
		return c.fail(cause)
	}
	return term{value: v}
}

func (c *compiler) name(name string) term {
	if v, ok := c.env[name]; ok {
		return term{value: v}
	}
	if name == "s" {
		return term{f: func(s int) int { return s }}
	}
	for _, l := range c.header.costs.lets {
		if l.Name == name {
			e, err := ParseExpr(l.Default)
			if err != nil {
				return c.fail(name + " is not an expression")
			}
			return c.term(e.tree)
		}
	}
	return c.fail("unknown name " + name)
}

func (c *compiler) binary(x *ast.BinaryExpr) term {
	a, b := c.term(x.X), c.term(x.Y)
	if c.cause != "" {
		return term{}
	}
	if _, cause := binary(x.Op, 1, b.value); b.f == nil && cause != "" || b.f != nil && divides(x.Op) {
		return c.fail("in " + x.Op.String() + ": " + cause)
	}
	if a.f == nil && b.f == nil {
		v, _ := binary(x.Op, a.value, b.value)
		return term{value: v}
	}
	k := b.value
	switch { // the usual cases without a detour
	case b.f == nil && x.Op == token.QUO:
		return term{f: func(s int) int { return a.f(s) / k }}
	case b.f == nil && x.Op == token.REM:
		return term{f: func(s int) int { return a.f(s) % k }}
	case b.f == nil && x.Op == token.MUL:
		return term{f: func(s int) int { return a.f(s) * k }}
	case b.f == nil && x.Op == token.ADD:
		return term{f: func(s int) int { return a.f(s) + k }}
	case b.f == nil && x.Op == token.SUB:
		return term{f: func(s int) int { return a.f(s) - k }}
	}
	return term{f: func(s int) int {
		v, _ := binary(x.Op, a.at(s), b.at(s))
		return v
	}}
}

// divides says that an operator takes no second operand of 0, or not of any size.
func divides(op token.Token) bool {
	return op == token.QUO || op == token.REM || op == token.SHL || op == token.SHR
}

func (c *compiler) call(x *ast.CallExpr) term {
	name, ok := x.Fun.(*ast.Ident)
	if !ok {
		return c.fail("unsupported call")
	}
	args := make([]term, len(x.Args))
	depends := false
	for i, a := range x.Args {
		args[i] = c.term(a)
		depends = depends || args[i].f != nil
	}
	switch {
	case c.cause != "":
		return term{}
	case !depends:
		v, cause := eval(x, c.env)
		if cause != "" {
			return c.fail(cause)
		}
		return term{value: v}
	case name.Name == "cond" && len(args) == 3:
		return term{f: func(s int) int {
			if args[0].at(s) != 0 {
				return args[1].at(s)
			}
			return args[2].at(s)
		}}
	case name.Name == "min" && len(args) == 2:
		return term{f: func(s int) int { return min(args[0].at(s), args[1].at(s)) }}
	case name.Name == "max" && len(args) == 2:
		return term{f: func(s int) int { return max(args[0].at(s), args[1].at(s)) }}
	}
	return c.fail(name.Name + " of s")
}
