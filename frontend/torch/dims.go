// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// maxSize bounds sizes and what is computed of them.
const maxSize = 1 << 40

// dims gives values to sizes.
type dims struct {
	symbols map[string]int64 // s77: sizes of inputs, given or 1
	names   map[string]int64 // sym_size_int_1: results of operations on sizes
}

// size evaluates a size: as_int, as_expr or as_name.
func (d *dims) size(v *source.JSON) (int64, error) {
	r := reader{}
	switch kind, body := r.union(v); {
	case r.err != nil:
		return 0, r.err
	case kind == "as_int":
		n := r.int(body)
		return n, r.err
	case kind == "as_expr":
		text := r.str(r.need(body, "expr_str"))
		if r.err != nil {
			return 0, r.err
		}
		return d.expression(body, text)
	case kind == "as_name":
		name := r.str(body)
		if n, ok := d.names[name]; ok || r.err != nil {
			return n, r.err
		}
		return 0, body.Errorf(diag.UndefinedValue, "the size %s is computed by nothing", source.Quote(name))
	default:
		return 0, v.Errorf(diag.ProgramSchema, "a size of the kind %s is not known", source.Quote(kind))
	}
}

// expression evaluates the text of a SymPy expression, in the form of its constructors: FloorDiv(Symbol('s77',
// positive=True, integer=True), Integer(2)).
func (d *dims) expression(v *source.JSON, text string) (int64, error) {
	p := formula{dims: d, text: text}
	n := p.value(0)
	if p.msg == "" && p.at < len(p.text) {
		p.fail("stops at byte " + strconv.Itoa(p.at))
	}
	switch {
	case p.open != "":
		return 0, v.Errorf(diag.OpenDimension, "the size %s is open", source.Quote(p.open)).
			WithHint("--dim %s=SIZE", p.open)
	case p.msg != "":
		return 0, v.Errorf(diag.UnsupportedForm, "the size %s %s", source.Quote(text), p.msg)
	case n < -maxSize || n > maxSize:
		return 0, v.Errorf(diag.ModelLimit, "the size %s is %d; the limit is 2^40", source.Quote(text), n)
	}
	return n, nil
}

// symbolOf is the name of the symbol that a size is, "" if it is none or an expression of some.
func symbolOf(v *source.JSON) string {
	text, err := v.Get("as_expr").Get("expr_str").Str()
	rest, ok := strings.CutPrefix(text, "Symbol('")
	name, tail, quoted := strings.Cut(rest, "'")
	if err != nil || !ok || !quoted || strings.Count(tail, ")") != 1 || !strings.HasSuffix(tail, ")") {
		return ""
	}
	return name
}

// formula parses and evaluates an expression.
type formula struct {
	*dims
	text string
	at   int
	msg  string // what is wrong with it
	open string // a symbol without a value
}

func (p *formula) fail(msg string) int64 {
	if p.msg == "" {
		p.msg = msg
	}
	return 0
}

func (p *formula) take(c byte) bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word takes letters, digits and the signs of names and numbers.
func (p *formula) word() string {
	p.take(' ')
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z') {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

// value evaluates one expression.
func (p *formula) value(depth int) int64 {
	const deepest = 64
	if depth > deepest {
		return p.fail("is nested too deep")
	}
	word := p.word()
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && n >= -maxSize && n <= maxSize {
		return n
	}
	if word == "" || !p.take('(') {
		return p.fail("cannot be read")
	}
	if word == "Symbol" {
		return p.symbol()
	}
	var args []int64
	for p.msg == "" && !p.take(')') {
		if len(args) > 0 && !p.take(',') {
			return p.fail("cannot be read")
		}
		args = append(args, p.value(depth+1))
	}
	if p.msg != "" || p.open != "" {
		return 0
	}
	return p.apply(word[strings.LastIndexByte(word, '.')+1:], args)
}

// symbol takes what follows Symbol(.
func (p *formula) symbol() int64 {
	if !p.take('\'') {
		return p.fail("cannot be read")
	}
	name := p.word()
	end := strings.IndexByte(p.text[p.at:], ')')
	if !p.take('\'') || end < 0 {
		return p.fail("cannot be read")
	}
	p.at += end
	n, ok := p.symbols[name]
	if !ok && p.open == "" {
		p.open = name
	}
	return n
}

// apply evaluates a function of sizes.
func (p *formula) apply(name string, args []int64) int64 {
	two := map[string]string{"FloorDiv": "floordiv", "CleanDiv": "floordiv", "Mod": "mod", "PythonMod": "mod",
		"Pow": "pow", "PowByNatural": "pow"}
	switch name {
	case "Integer":
		if len(args) == 1 {
			return args[0]
		}
	case "Add", "Mul", "Max", "Min":
		if len(args) == 0 {
			break
		}
		n, ok := args[0], true
		for _, a := range args[1:] {
			if n, ok = onSizes(strings.ToLower(name), n, a); !ok {
				return p.fail("exceeds 2^40")
			}
		}
		return n
	}
	if f := two[name]; f != "" && len(args) == 2 {
		if n, ok := onSizes(f, args[0], args[1]); ok {
			return n
		}
		return p.fail("has no value")
	}
	return p.fail("uses " + name + ", which is not known")
}

// onSizes computes a function of two sizes; ok is false where it has no value within the limit. Divisions round down.
func onSizes(f string, a, b int64) (n int64, ok bool) {
	switch f {
	case "add":
		n = a + b
	case "sub":
		n = a - b
	case "mul":
		if b != 0 && (a > maxSize/abs(b) || a < -maxSize/abs(b)) {
			return 0, false
		}
		n = a * b
	case "floordiv", "mod":
		if b == 0 {
			return 0, false
		}
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		if n = q; f == "mod" {
			n = a - q*b
		}
	case "pow":
		n, ok = 1, b >= 0 && b <= 64
		for i := int64(0); ok && i < b; i++ {
			n, ok = onSizes("mul", n, a)
		}
		return n, ok
	case "max":
		n = max(a, b)
	case "min":
		n = min(a, b)
	default:
		return 0, false
	}
	return n, n <= maxSize && n >= -maxSize
}

func abs(a int64) int64 { return max(a, -a) }

// bind gives values to the symbols of the inputs: from the options, or 1 where a symbol is a first axis.
func (im *importer) bind(inputs []string, binding *build.Binding) error {
	im.dims = dims{symbols: map[string]int64{}, names: map[string]int64{}}
	symbols, names := map[string]bool{}, map[string]bool{}
	for name := range im.program.ranges {
		symbols[name] = true
	}
	for _, name := range inputs {
		names[name] = true
		for _, v := range im.graph.tensors[name].sizes {
			if s := symbolOf(v); s != "" {
				symbols[s] = true
			}
		}
	}
	given := slices.Sorted(maps.Keys(im.opts.Dims))
	if err := source.Known("dimension", given, slices.Sorted(maps.Keys(symbols))); err != nil {
		return err
	}
	for _, name := range given {
		if err := im.set(name, im.opts.Dims[name]); err != nil {
			return err
		}
	}
	given = slices.Sorted(maps.Keys(im.opts.Shapes))
	if err := source.Known("input", given, slices.Sorted(maps.Keys(names))); err != nil {
		return err
	}
	for _, name := range given {
		if err := im.given(name, im.opts.Shapes[name]); err != nil {
			return err
		}
	}
	for _, name := range inputs {
		if shape, ok := binding.Shape(name); ok {
			if err := im.given(name, shape); err != nil {
				return binding.Explain(name, err, func(turned []int) bool { return im.given(name, turned) == nil })
			}
		}
	}
	for _, name := range inputs {
		if sizes := im.graph.tensors[name].sizes; len(sizes) > 0 {
			if s := symbolOf(sizes[0]); s != "" && im.dims.symbols[s] == 0 {
				im.dims.symbols[s] = 1
			}
		}
	}
	return nil
}

// set gives a value to a symbol. Exporters state a least size of 2 where 1 was not tried; 1 is taken all the same.
func (im *importer) set(name string, size int) error {
	bounds, ranged := im.program.ranges[name]
	have, bound := im.dims.symbols[name]
	switch {
	case size < 1:
		return diag.New(diag.BadBinding, "", "dimension %s cannot be %d", source.Quote(name), size)
	case bound && have != int64(size):
		return diag.New(diag.BadBinding, "", "dimension %s is %d and also %d", source.Quote(name), have, size)
	case ranged && (int64(size) < bounds[0] && (size != 1 || bounds[0] > 2) || int64(size) > bounds[1]):
		return diag.New(diag.BadBinding, "", "dimension %s is %d; the model was exported for %d to %d",
			source.Quote(name), size, bounds[0], bounds[1])
	}
	im.dims.symbols[name] = int64(size)
	return nil
}

// given checks the shape that the options give to an input, and takes its symbols from it.
func (im *importer) given(name string, shape []int) error {
	sizes := im.graph.tensors[name].sizes
	if len(shape) != len(sizes) {
		return diag.New(diag.BadBinding, "", "input %s has %d dimensions, the given shape %s has %d", source.Quote(name),
			len(sizes), ir.ShapeString(shape), len(shape))
	}
	for i, v := range sizes {
		if s := symbolOf(v); s != "" {
			if err := im.set(s, shape[i]); err != nil {
				return err
			}
			continue
		}
		if n, err := v.Get("as_int").Int(); err == nil && n != int64(shape[i]) {
			return diag.New(diag.BadBinding, "", "dimension %d of input %s is %d, not %d as in the given shape %s", i,
				source.Quote(name), n, shape[i], ir.ShapeString(shape))
		}
	}
	return nil
}
