// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"lathe/internal/diag"
	"lathe/ir"
)

// A field is one member of a struct of attributes, hardware facts or statistics. Embedded structs are flattened.
type fieldOf struct {
	name string // in_lanes for InLanes
	val  reflect.Value
}

// fields lists the members of the struct v in order.
func fields(v reflect.Value) []fieldOf {
	var out []fieldOf
	for i := range v.NumField() {
		t := v.Type().Field(i)
		switch {
		case t.Anonymous && t.Type.Kind() == reflect.Struct:
			out = append(out, fields(v.Field(i))...)
		case t.IsExported():
			out = append(out, fieldOf{snake(t.Name), v.Field(i)})
		}
	}
	return out
}

// snake turns InLanes into in_lanes and II into ii.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// styles are the words of ir.Style.
var styles = [...]ir.Style{ir.StyleUndecided, ir.StyleFold, ir.StyleUnroll}

// value prints a member.
func value(v reflect.Value) string {
	if s, ok := v.Interface().(ir.Style); ok {
		return s.String()
	}
	if g, ok := v.Interface().(*ir.Graph); ok {
		return strconv.Quote(Print(g))
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return float(v.Float(), v.Type().Bits())
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = value(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("?%s", v.Type())
}

// float prints the shortest text that reads back as the same number.
func float(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// braces prints the members of the struct v that are not zero, or "".
func braces(v reflect.Value) string {
	var parts []string
	for _, f := range fields(v) {
		if !f.val.IsZero() {
			parts = append(parts, f.name+" = "+value(f.val))
		}
	}
	if parts == nil {
		return ""
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// set reads the value of a member. It fails at the position of the token in the way.
func (p *parser) set(v reflect.Value) error {
	at := p.lex.peek()
	if v.Kind() == reflect.Slice {
		return p.setSlice(v)
	}
	if v.Type() == reflect.TypeFor[*ir.Graph]() {
		return p.setGraph(v)
	}
	if v.Kind() == reflect.String {
		t, err := p.lex.expect(tokString, "a text in quotes")
		v.SetString(t.text)
		return err
	}
	t, err := p.lex.expect(tokWord, "a value")
	if err != nil {
		return err
	}
	if v.Type() == reflect.TypeFor[ir.Style]() {
		for _, s := range styles {
			if s.String() == t.text {
				v.SetUint(uint64(s))
				return nil
			}
		}
		return p.lex.fail(at, diag.GraphValue, "%q is not a style; it is fold or unroll", t.text)
	}
	if setWord(v, t.text) {
		return nil
	}
	return p.lex.fail(at, diag.GraphValue, "%q is not a value of type %s", t.text, v.Type())
}

// setWord reads a number or a truth value.
func setWord(v reflect.Value, text string) bool {
	switch v.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err == nil && len(text) > 1
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		return err == nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(n)
		return err == nil
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(text, v.Type().Bits())
		v.SetFloat(x)
		return err == nil
	}
	return false
}

// setSlice reads [a, b, ...].
func (p *parser) setSlice(v reflect.Value) error {
	if _, err := p.lex.want("["); err != nil {
		return err
	}
	list := reflect.MakeSlice(v.Type(), 0, 4)
	for !p.lex.take("]") {
		if list.Len() > 0 {
			if _, err := p.lex.want(","); err != nil {
				return err
			}
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if item.Kind() == reflect.Slice {
			return p.lex.fail(p.lex.peek(), diag.GraphValue, "lists of lists have no text form")
		}
		if err := p.set(item); err != nil {
			return err
		}
		list = reflect.Append(list, item)
	}
	v.Set(list)
	return nil
}

// Attrs lists the attributes of a node, each as its name and its value in text form. A constant has none: its elements
// are its value.
func Attrs(n *ir.Node) (list [][2]string) {
	if n.Attrs == nil || n.IsConst() {
		return nil
	}
	for _, f := range fields(reflect.ValueOf(n.Attrs).Elem()) {
		list = append(list, [2]string{f.name, value(f.val)})
	}
	return list
}

// setGraph reads a graph that is an attribute: its text in quotes.
func (p *parser) setGraph(v reflect.Value) error {
	t, err := p.lex.expect(tokString, "a graph in quotes")
	if err != nil {
		return err
	}
	g, err := Parse(p.lex.name, t.text, p.data)
	if err == nil {
		err = g.Check()
	}
	if err != nil {
		return p.lex.fail(t, diag.GraphValue, "the graph in quotes: %s", diag.Message(err))
	}
	v.Set(reflect.ValueOf(g))
	return nil
}
