// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/bits"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Expr is an integer expression in a module's parameters: + - * / % << >> (division truncates), comparisons, && and
// || (1 or 0), a ? b : c, parentheses, clog2(x), min(...), max(...). It is what header comments state latencies with
// and what ports are as wide as; "$clog2" is read as "clog2". Cost lines add sum(i, from, to, expr), texts for
// comparison, and instance names (see Header.Cost). Flow lines add s and stages (see StageKind).
type Expr struct {
	text string
	tree ast.Expr
}

// ParseExpr reads an expression; error L0603 if it is none.
func ParseExpr(text string) (Expr, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "$", ""))
	tree, err := parser.ParseExpr(conditional(text))
	if err != nil {
		return Expr{}, diag.New(diag.ModuleTiming, "", "%q is not an expression in the parameters", text)
	}
	return Expr{text: text, tree: tree}, nil
}

// conditional writes every a ? b : c as cond(a, b, c), which Go's parser takes.
func conditional(text string) string {
	if i := outside(text, ",", 0); i >= 0 {
		return conditional(text[:i]) + "," + conditional(text[i+1:])
	}
	if question := outside(text, "?", 0); question >= 0 {
		for colon, inner := question, question; ; {
			colon = outside(text, ":", colon+1)
			inner = outside(text, "?", inner+1)
			if colon < 0 {
				return text
			}
			if inner < 0 || inner > colon {
				return "cond(" + conditional(text[:question]) + "," + conditional(text[question+1:colon]) + "," +
					conditional(text[colon+1:]) + ")"
			}
		}
	}
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return text
	}
	inside, after, ok := group(text[open+1:])
	if !ok {
		return text
	}
	return text[:open+1] + conditional(inside) + ")" + conditional(after)
}

// outside finds one of the characters outside parentheses, from the given index on; -1 if there is none.
func outside(text, chars string, from int) int {
	depth := 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && i >= from && strings.ContainsRune(chars, r):
			return i
		}
	}
	return -1
}

// String returns the text of the expression.
func (e Expr) String() string { return e.text }

// Eval computes the expression with the given parameter values. Error L0603 for an unknown name, a division by zero
// or a construct outside the language.
func (e Expr) Eval(params map[string]int) (int, error) {
	if e.tree == nil {
		return 0, diag.New(diag.ModuleTiming, "", "no expression given")
	}
	v, cause := eval(e.tree, params)
	if cause != "" {
		return 0, diag.New(diag.ModuleTiming, "", "cannot evaluate %q: %s", e.text, cause)
	}
	return v, nil
}

// eval returns the value, or the cause for which there is none.
func eval(tree ast.Expr, params map[string]int) (int, string) {
	switch x := tree.(type) {
	case *ast.BasicLit:
		v, err := strconv.Atoi(x.Value)
		if err != nil {
			return 0, x.Value + " is not a decimal integer"
		}
		return v, ""
	case *ast.Ident:
		v, ok := params[x.Name]
		if !ok {
			return 0, "unknown name " + x.Name
		}
		return v, ""
	case *ast.ParenExpr:
		return eval(x.X, params)
	case *ast.UnaryExpr:
		v, cause := eval(x.X, params)
		if x.Op != token.SUB {
			return 0, "unary " + x.Op.String()
		}
		return -v, cause
	case *ast.BinaryExpr:
		if text, ok := x.Y.(*ast.BasicLit); ok && text.Kind == token.STRING && x.Op == token.EQL {
			v, cause := eval(x.X, params)
			return map[bool]int{true: 1}[v == textCode(text.Value)], cause
		}
		a, cause := eval(x.X, params)
		if cause != "" {
			return 0, cause
		}
		b, cause := eval(x.Y, params)
		if cause != "" {
			return 0, cause
		}
		return binary(x.Op, a, b)
	case *ast.CallExpr:
		return call(x, params)
	}
	return 0, "unsupported construct"
}

func binary(op token.Token, a, b int) (int, string) {
	truth := map[bool]int{true: 1}
	switch op {
	case token.ADD:
		return a + b, ""
	case token.SUB:
		return a - b, ""
	case token.MUL:
		return a * b, ""
	case token.QUO, token.REM:
		if b == 0 {
			return 0, "division by zero"
		}
		if op == token.QUO {
			return a / b, ""
		}
		return a % b, ""
	case token.SHL, token.SHR:
		if b < 0 || b > 62 {
			return 0, "shift by " + strconv.Itoa(b)
		}
		if op == token.SHL {
			return a << b, ""
		}
		return a >> b, ""
	case token.LSS:
		return truth[a < b], ""
	case token.GTR:
		return truth[a > b], ""
	case token.LEQ:
		return truth[a <= b], ""
	case token.GEQ:
		return truth[a >= b], ""
	case token.EQL:
		return truth[a == b], ""
	case token.NEQ:
		return truth[a != b], ""
	case token.LAND:
		return truth[a != 0 && b != 0], ""
	case token.LOR:
		return truth[a != 0 || b != 0], ""
	}
	return 0, "operator " + op.String()
}

func call(x *ast.CallExpr, params map[string]int) (int, string) {
	name, ok := x.Fun.(*ast.Ident)
	if !ok || len(x.Args) == 0 {
		return 0, "unsupported call"
	}
	if name.Name == "sum" && len(x.Args) == 4 {
		return eachSum(x, params)
	}
	if name.Name == "cond" && len(x.Args) == 3 {
		c, cause := eval(x.Args[0], params)
		if cause != "" {
			return 0, cause
		}
		if c != 0 {
			return eval(x.Args[1], params)
		}
		return eval(x.Args[2], params)
	}
	args := make([]int, len(x.Args))
	for i, a := range x.Args {
		v, cause := eval(a, params)
		if cause != "" {
			return 0, cause
		}
		args[i] = v
	}
	switch name.Name {
	case "clog2":
		return Clog2(args[0]), ""
	case "min", "max":
		v := args[0]
		for _, a := range args[1:] {
			if (name.Name == "min") == (a < v) {
				v = a
			}
		}
		return v, ""
	}
	return 0, "unknown function " + name.Name
}

// Clog2 is the $clog2 of IEEE 1800-2017 section 20.8.1: the least k with 2^k >= n; 0 for n <= 1.
func Clog2(n int) int {
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}
