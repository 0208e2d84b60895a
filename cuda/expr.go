// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Expr is an integer expression in the parameters of a template, as C++ writes it: + - * / % << >>, comparisons, &&,
// ||, !, a ? b : c, parentheses, min(a, b), max(a, b), sizeof(TYPE). A type parameter may be compared with a type:
// T == bf16. SM is the number of the architecture: 80, 86, 89, 90, 100, 120.
type Expr struct {
	text   string
	tokens []string
}

var (
	token  = regexp.MustCompile(`^\s*(\d+|[A-Za-z_]\w*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>?:!,])`)
	levels = [][]string{{"||"}, {"&&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}
)

// ParseExpr reads an expression. Error L0931 if it is none.
func ParseExpr(text string) (Expr, error) {
	e := Expr{text: strings.TrimSpace(text)}
	rest := e.text
	for rest != "" {
		m := token.FindStringSubmatch(rest)
		if m == nil {
			return Expr{}, e.broken("unexpected character")
		}
		e.tokens = append(e.tokens, m[1])
		rest = strings.TrimSpace(rest[len(m[0]):])
	}
	p := &evaluation{tokens: e.tokens, dry: true}
	if p.ternary(); p.cause != "" || p.at != len(p.tokens) {
		return Expr{}, e.broken(p.cause)
	}
	return e, nil
}

func (e Expr) broken(cause string) error {
	if cause == "" {
		cause = "something follows its end"
	}
	return diag.New(diag.KernelHeader, "", "%q is not an expression: %s", e.text, cause)
}

// String returns the text.
func (e Expr) String() string { return e.text }

// binding is the value of a name: an integer, or a type.
type binding struct {
	name, value string
}

// eval computes the expression. Error L0931 for an unknown name or a division by zero.
func (e Expr) eval(bound []binding) (int, error) {
	p := &evaluation{tokens: e.tokens, bound: bound}
	v := p.ternary()
	if p.cause != "" {
		return 0, e.broken(p.cause)
	}
	return v, nil
}

// evaluation reads and computes in one go; dry, nothing is looked up.
type evaluation struct {
	tokens []string
	at     int
	bound  []binding
	dry    bool
	cause  string // of the first failure
}

func (p *evaluation) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *evaluation) take(want string) {
	if p.peek() != want {
		p.fail("missing " + want)
		return
	}
	p.at++
}

func (p *evaluation) fail(cause string) int {
	if p.cause == "" {
		p.cause = cause
	}
	p.at = len(p.tokens)
	return 0
}

func (p *evaluation) ternary() int {
	v := p.binary(0)
	if p.peek() != "?" {
		return v
	}
	p.at++
	a := p.ternary()
	p.take(":")
	b := p.ternary()
	if v != 0 {
		return a
	}
	return b
}

func (p *evaluation) binary(level int) int {
	if level == len(levels) {
		return p.unary()
	}
	v := p.binary(level + 1)
	for slices.Contains(levels[level], p.peek()) {
		op := p.peek()
		p.at++
		v = p.apply(op, v, p.binary(level+1))
	}
	return v
}

func (p *evaluation) apply(op string, a, b int) int {
	truth := func(v bool) int {
		if v {
			return 1
		}
		return 0
	}
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/", "%":
		if b == 0 {
			if p.dry {
				return 0
			}
			return p.fail("division by zero")
		}
		if op == "/" {
			return a / b
		}
		return a % b
	case "<<", ">>":
		if b < 0 || b > 62 {
			return p.fail("a shift by " + strconv.Itoa(b))
		}
		if op == "<<" {
			return a << b
		}
		return a >> b
	}
	return truth(op == "==" && a == b || op == "!=" && a != b || op == "<" && a < b || op == "<=" && a <= b ||
		op == ">" && a > b || op == ">=" && a >= b || op == "&&" && a != 0 && b != 0 || op == "||" && (a != 0 || b != 0))
}

func (p *evaluation) unary() int {
	tok := p.peek()
	p.at++
	switch {
	case tok == "-":
		return -p.unary()
	case tok == "!":
		return p.apply("==", p.unary(), 0)
	case tok == "(":
		v := p.ternary()
		p.take(")")
		return v
	case tok == "min" || tok == "max":
		p.take("(")
		a := p.ternary()
		p.take(",")
		b := p.ternary()
		p.take(")")
		if tok == "min" {
			return min(a, b)
		}
		return max(a, b)
	case tok == "sizeof":
		p.take("(")
		code := p.unary()
		p.take(")")
		if p.dry {
			return 1
		}
		if code < typeCodes || code >= typeCodes+len(words) {
			return p.fail("sizeof of what is not a type")
		}
		return words[code-typeCodes].size
	case tok != "" && tok[0] >= '0' && tok[0] <= '9':
		v, err := strconv.Atoi(tok)
		if err != nil {
			return p.fail(tok + " is too large")
		}
		return v
	case isName(tok):
		return p.lookup(tok)
	}
	return p.fail("a value is missing")
}

// words are the scalar types of intrinsics.cuh; in expressions a type is its index beyond typeCodes.
var words = []struct {
	name string
	size int
}{
	{"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}, {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8},
	{"f32", 4}, {"bf16", 2}, {"f16", 2}, {"int", 4}, {"float", 4}, {"double", 8}, {"unsigned", 4}, {"f64", 8},
}

const typeCodes = 1 << 40

func (p *evaluation) lookup(name string) int {
	if p.dry {
		return 1
	}
	for _, b := range p.bound {
		if b.name == name {
			if v, err := strconv.Atoi(b.value); err == nil {
				return v
			}
			name = b.value
		}
	}
	for i, w := range words {
		if w.name == name {
			return typeCodes + i
		}
	}
	return p.fail("unknown name " + name)
}
