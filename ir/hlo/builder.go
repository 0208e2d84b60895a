// SPDX-License-Identifier: Apache-2.0

// Package hlo writes StableHLO programs in generic MLIR form. A Builder infers every type, and its first mistake
// sticks (Err), so that callers chain calls and look once. The text depends on nothing but the calls made.
package hlo

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// CodeBuild is the diagnostic of a program that cannot be built: mismatched shapes or types, bad attributes.
const CodeBuild = "L0810"

// Value is the result of an operation or an argument; the zero Value stands for "failed" and is passed along silently.
type Value struct {
	b      *Builder
	name   string
	typ    Type
	number int
	scale  *Value // of codes in a block format, see WithScale
}

// Type is the type of the value; the zero Type for a failed one.
func (v Value) Type() Type { return v.typ }

// Builder collects one program, a function "main". It is not safe for concurrent use.
type Builder struct {
	// Samples is the length of the axis of samples that leads the values of the node that is printed; 0: they have
	// none. The builder itself reads it in Lead, Axis, Axes and Dims only.
	Samples int
	// Straight asks for operations without loops, for readers of Operations, to whom loops mean nothing.
	Straight bool

	name    string
	pos     string
	inputs  []Value
	labels  []string
	weights []Value
	data    []Array
	body    strings.Builder
	next    int
	ops     []Operation
	consts  map[string]Value
	outs    []Value
	done    bool
	err     *diag.Error
}

// New starts the program called name.
func New(name string) *Builder {
	return &Builder{name: name, consts: map[string]Value{}}
}

// Err is the first mistake, a *diag.Error with code L0810 at the position last given to At, or nil.
func (b *Builder) Err() error {
	if b.err == nil {
		return nil
	}
	return b.err
}

// At names the place in the model for which operations follow; it becomes a comment line and the position of errors.
func (b *Builder) At(pos string) {
	b.pos = strings.Map(printable, pos)
	b.body.WriteString("    // " + b.pos + "\n")
}

// printable keeps a comment on its line.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// Lead is the number of axes before those of the node: 1 where there are samples, else 0.
func (b *Builder) Lead() int { return min(b.Samples, 1) }

// Axis is the axis here of axis i of the node.
func (b *Builder) Axis(i int) int { return i + b.Lead() }

// Axes maps several axes of the node.
func (b *Builder) Axes(axes ...int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = b.Axis(a)
	}
	return out
}

// Dims is a shape of the node as it is here: behind the axis of samples, if there is one.
func (b *Builder) Dims(shape ...int) []int {
	if b.Samples == 0 {
		return slices.Clone(shape)
	}
	return append([]int{b.Samples}, shape...)
}

// Arg adds an input of the program; inputs are passed in the order of these calls, weights after them.
func (b *Builder) Arg(name string, t Type) Value {
	if msg := t.Check(); msg != "" {
		return b.failf("argument %q: %s", name, msg)
	}
	v := Value{b: b, name: fmt.Sprintf("%%arg%d", len(b.inputs)), typ: t, number: b.record(KindInput, t, nil)}
	v = v.with(Attrs{Index: len(b.inputs)})
	b.inputs = append(b.inputs, v)
	b.labels = append(b.labels, strings.Map(printable, name))
	return v
}

// Inputs returns the types of the inputs, weights not among them.
func (b *Builder) Inputs() []Type { return typesOf(b.inputs) }

// Outputs returns the types of the results that Return named.
func (b *Builder) Outputs() []Type { return typesOf(b.outs) }

// Weight adds data that travels as an argument of the program instead of its text: large constants, and divisors,
// which the compiler would otherwise replace by a multiplication with the reciprocal.
func (b *Builder) Weight(a Array) Value {
	if msg := a.Check(); msg != "" {
		return b.failf("weight: %s", msg)
	}
	v := Value{b: b, name: fmt.Sprintf("%%w%d", len(b.weights)), typ: a.Type, number: b.record(KindWeight, a.Type, nil)}
	v = v.with(Attrs{Index: len(b.weights)})
	b.weights = append(b.weights, v)
	b.data = append(b.data, a)
	return v
}

// Weights returns the data of all weights, in the order in which a run passes them after the inputs.
func (b *Builder) Weights() []Array { return b.data }

// Return ends the program with its results.
func (b *Builder) Return(values ...Value) {
	if b.done {
		b.failf("program returns twice")
		return
	}
	if len(values) == 0 {
		b.failf("program returns nothing")
	}
	b.done = true
	if b.sound("return", values...) {
		b.outs = values
	}
}

// Text is the finished program, or "" after a mistake or without Return.
func (b *Builder) Text() string {
	if b.err == nil && !b.done {
		b.failf("program has no return")
	}
	if b.err != nil {
		return ""
	}
	args := append(append([]Value{}, b.inputs...), b.weights...)
	decl := make([]string, len(args))
	for i, v := range args {
		decl[i] = v.name + ": " + v.typ.String()
	}
	var s strings.Builder
	for i, v := range b.inputs {
		fmt.Fprintf(&s, "// %s: %s\n", v.name, b.labels[i])
	}
	fmt.Fprintf(&s, "\"builtin.module\"() <{sym_name = %s}> ({\n", quote(b.name))
	fmt.Fprintf(&s, "  \"func.func\"() <{function_type = (%s) -> (%s), sym_name = \"main\"}> ({\n",
		typeList(args), typeList(b.outs))
	fmt.Fprintf(&s, "  ^bb0(%s):\n", strings.Join(decl, ", "))
	s.WriteString(b.body.String())
	fmt.Fprintf(&s, "    \"func.return\"(%s) : (%s) -> ()\n", nameList(b.outs), typeList(b.outs))
	s.WriteString("  }) : () -> ()\n}) : () -> ()\n")
	return s.String()
}

// emit appends one operation with a single result. attrs is the text between the braces of its properties.
func (b *Builder) emit(op string, result Type, attrs string, operands ...Value) Value {
	return b.emitRegion(op, result, attrs, "", operands...)
}

// emitRegion is emit for an operation with a region, given as the text of its blocks.
func (b *Builder) emitRegion(op string, result Type, attrs, region string, operands ...Value) Value {
	if b.done {
		return b.failf("%s after return", op)
	}
	if msg := result.Check(); msg != "" {
		return b.failf("%s: %s", op, msg)
	}
	v := Value{b: b, name: fmt.Sprintf("%%%d", b.next), typ: result, number: b.record(Kind(op), result, operands)}
	b.next++
	if !strings.Contains(op, ".") {
		op = "stablehlo." + op
	}
	fmt.Fprintf(&b.body, "    %s = \"%s\"(%s)", v.name, op, nameList(operands))
	if attrs != "" {
		b.body.WriteString(" <{" + attrs + "}>")
	}
	if region != "" {
		b.body.WriteString(" ({\n" + region + "    })")
	}
	fmt.Fprintf(&b.body, " : (%s) -> %s\n", typeList(operands), result)
	return v
}

// sound reports that all operands are values of this program; the first that is not becomes the error.
func (b *Builder) sound(op string, operands ...Value) bool {
	if b.err != nil {
		return false
	}
	for i, v := range operands {
		if v.b != b {
			b.failf("%s: operand %d is not a value of this program", op, i)
			return false
		}
	}
	return true
}

// failf records the first mistake and returns the failed Value.
func (b *Builder) failf(format string, args ...any) Value {
	if b.err == nil {
		pos := b.pos
		if pos == "" {
			pos = b.name
		}
		b.err = diag.New(CodeBuild, pos, format, args...)
	}
	return Value{}
}

func typesOf(values []Value) []Type {
	out := make([]Type, len(values))
	for i, v := range values {
		out[i] = v.typ
	}
	return out
}

func nameList(values []Value) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = v.name
	}
	return strings.Join(s, ", ")
}

func typeList(values []Value) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = v.typ.String()
	}
	return strings.Join(s, ", ")
}

// quote makes an MLIR string literal; what is not plain ASCII is escaped as hexadecimal bytes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			fmt.Fprintf(&b, "\\%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
