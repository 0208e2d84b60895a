// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// value is the text of a parameter, read once: a number, a quoted text, or an expression in other parameters. What is
// none of these, such as a literal of many bits, is unknown wherever a number is asked for.
type value struct {
	kind valueKind
	n    int // of a number, or the code of a text
	expr Expr
}

type valueKind uint8

const (
	unknownValue valueKind = iota
	numberValue
	textValue
	exprValue
)

var basedLiteral = regexp.MustCompile(`^\d*'s?([hdb])([0-9a-fA-F_]+)$`)

// readValue reads a parameter's text; based literals have up to 63 bits.
func readValue(text string) value {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "-0123456789") == "" {
		if n, err := strconv.Atoi(text); err == nil {
			return value{kind: numberValue, n: n}
		}
	}
	if len(text) > 1 && text[0] == '"' && strings.IndexByte(text[1:], '"') == len(text)-2 {
		return value{kind: textValue, n: textCode(text)}
	}
	if strings.IndexByte(text, '\'') >= 0 {
		m := basedLiteral.FindStringSubmatch(text)
		if m == nil {
			return value{}
		}
		base := map[string]int{"h": 16, "d": 10, "b": 2}[m[1]]
		n, err := strconv.ParseInt(strings.ReplaceAll(m[2], "_", ""), base, 64)
		if err != nil {
			return value{}
		}
		return value{kind: numberValue, n: int(n)}
	}
	if known, ok := exprValues.Load(text); ok {
		return known.(value)
	}
	e, err := ParseExpr(text)
	if err != nil {
		return value{}
	}
	v := value{kind: exprValue, expr: e}
	exprValues.Store(text, v)
	return v
}

// exprValues holds what the texts of expressions mean, which are those of the library: units set numbers and texts.
var exprValues sync.Map

// integer is the number that the text of a parameter stands for, if it does.
func integer(text string, values map[string]int) (int, bool) {
	return readValue(text).integer(values)
}

func (v value) integer(values map[string]int) (int, bool) {
	switch v.kind {
	case numberValue:
		return v.n, true
	case exprValue:
		n, cause := eval(v.expr.tree, values)
		return n, cause == ""
	}
	return 0, false
}

// scalar is integer, or the code of a text.
func scalar(text string, env map[string]int) (int, bool) {
	v := readValue(text)
	if v.kind == textValue {
		return v.n, true
	}
	return v.integer(env)
}
