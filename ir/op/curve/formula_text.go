// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
)

// term is a formula as a tree.
type term struct {
	part   *part
	number float64
	args   []*term
}

// formulaWords says what formulas consist of, for errors.
const formulaWords = "a formula of x is made of numbers, + - * /, comparisons, &&, ||, where(c, a, b), not, max, " +
	"min, pow, abs, sign, exp, log, sqrt, tanh, erf, sigmoid, floor, ceil, round and trigonometric functions"

// parseFormula reads a formula of x. Its syntax is that of expressions in Go. Errors say what is wrong and what
// formulas are made of.
func parseFormula(text string) (*term, error) {
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("formula %q cannot be read: %s", text, formulaWords)
	}
	r := formulaReader{}
	t, isTruth, err := r.read(tree)
	switch {
	case err != nil:
		return nil, fmt.Errorf("formula %q: %w; %s", text, err, formulaWords)
	case isTruth:
		return nil, fmt.Errorf("formula %q is a truth value: where(%s, 1, 0) is a number", text, text)
	case !r.named:
		return nil, fmt.Errorf("formula %q does not name x", text)
	}
	return t, nil
}

// CheckFormula says what is wrong with the text of a formula.
func CheckFormula(text string) error {
	_, err := parseFormula(text)
	return err
}

type formulaReader struct {
	named bool // x was found
}

// read makes the tree of an expression, and says whether it is a truth value.
func (r *formulaReader) read(e ast.Expr) (t *term, isTruth bool, err error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.read(e.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		if err != nil || e.Kind != token.INT && e.Kind != token.FLOAT {
			return nil, false, fmt.Errorf("%s is no number", e.Value)
		}
		return &term{part: &parts[1], number: v}, false, nil
	case *ast.Ident:
		switch e.Name {
		case "x":
			r.named = true
			return &term{part: &parts[0]}, false, nil
		case "inf":
			return &term{part: &parts[1], number: math.Inf(1)}, false, nil
		}
		return nil, false, fmt.Errorf("it names %s", e.Name)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			return r.apply("not", e.X)
		case token.SUB:
			t, isTruth, err := r.read(e.X)
			if err == nil && t.part == &parts[1] {
				t.number = -t.number
				return t, false, nil
			}
			if err != nil || isTruth {
				return nil, false, fmt.Errorf("- takes a number (%v)", err)
			}
			return &term{part: partNamed("*"), args: []*term{{part: &parts[1], number: -1}, t}}, false, nil
		}
	case *ast.BinaryExpr:
		return r.apply(e.Op.String(), e.X, e.Y)
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok {
			return r.apply(name.Name, e.Args...)
		}
	}
	return nil, false, fmt.Errorf("it has another form")
}

// apply makes the tree of a function or an operator.
func (r *formulaReader) apply(name string, from ...ast.Expr) (*term, bool, error) {
	p := partNamed(name)
	if p == nil || p.arity == 0 {
		return nil, false, fmt.Errorf("%s is unknown", name)
	}
	if len(from) != p.arity {
		return nil, false, fmt.Errorf("%s takes %d values, not %d", name, p.arity, len(from))
	}
	t := &term{part: p}
	for i, e := range from {
		a, isTruth, err := r.read(e)
		if err != nil {
			return nil, false, err
		}
		if isTruth != (p.asks && (i == 0 || p.all)) {
			return nil, false, fmt.Errorf("value %d of %s: is it a truth value: %v", i, name, isTruth)
		}
		t.args = append(t.args, a)
	}
	return t, p.truth, nil
}

func partNamed(name string) *part {
	for i := range parts {
		if parts[i].name == name {
			return &parts[i]
		}
	}
	return nil
}
