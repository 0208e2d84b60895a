// SPDX-License-Identifier: Apache-2.0

// Package text prints programs in generic MLIR form. The text depends on nothing but the program.
package text

import (
	"fmt"
	"strings"

	"lathe/ir/hlo"
)

// Print is the text of a finished program, expanded.
func Print(p *hlo.Program) string { return PrintFor(p, 1) }

// PrintFor is Print for a number of devices, among which Shardy divides the program: inputs as they say (see
// hlo.Builder.Split), and each device gets whole results.
func PrintFor(p *hlo.Program, devices int) string {
	p = p.Expand()
	w := &printer{p: p, names: make([]string, len(p.Ops))}
	var args []hlo.Argument
	var names []string
	for i, in := range p.Inputs {
		names = append(names, fmt.Sprintf("%%arg%d", i))
		fmt.Fprintf(w, "// %s: %s\n", names[i], in.Name)
		args = append(args, in)
	}
	for i, weight := range p.Weights {
		names = append(names, fmt.Sprintf("%%w%d", i))
		args = append(args, weight)
	}
	types, decl := make([]hlo.Type, len(args)), make([]string, len(args))
	for i, a := range args {
		types[i], decl[i] = a.Type, names[i]+": "+a.Type.String()
	}
	results := typeList(w.types(p.Results))
	fmt.Fprintf(w, "\"builtin.module\"() <{sym_name = %s}> ({\n", quote(p.Name))
	shares := ""
	if devices > 1 {
		fmt.Fprintf(w, "  \"sdy.mesh\"() <{mesh = #sdy.mesh<[\"devices\"=%d]>, sym_name = \"mesh\"}> : () -> ()\n", devices)
		shares = wholeResults(w.types(p.Results))
	}
	fmt.Fprintf(w, "  \"func.func\"() <{%sfunction_type = (%s) -> (%s), %ssym_name = \"main\"}> ({\n",
		argumentAttributes(args, devices), typeList(types), results, shares)
	fmt.Fprintf(w, "  ^bb0(%s):\n", strings.Join(decl, ", "))
	w.ops(0, len(p.Ops))
	w.comments(len(p.Places))
	fmt.Fprintf(w, "    \"func.return\"(%s) : (%s) -> ()\n", w.nameList(p.Results), results)
	w.WriteString("  }) : () -> ()\n}) : () -> ()\n")
	return w.String()
}

// printer walks a program.
type printer struct {
	strings.Builder
	p     *hlo.Program
	names []string // of values, by number
	next  int      // of the names that count
	place int      // how many places are printed
}

// comments names the places up to a number of them.
func (w *printer) comments(to int) {
	for ; w.place < to; w.place++ {
		w.WriteString("    // " + w.p.Places[w.place] + "\n")
	}
}

// ops prints operations from..to-1.
func (w *printer) ops(from, to int) {
	for n := from; n < to; n++ {
		o := &w.p.Ops[n]
		switch o.Kind {
		case hlo.KindInput:
			w.names[n] = fmt.Sprintf("%%arg%d", o.Attrs.Index)
			continue
		case hlo.KindWeight:
			w.names[n] = fmt.Sprintf("%%w%d", o.Attrs.Index)
			continue
		case hlo.KindResult:
			of := w.names[o.Operands[0]]
			w.names[n] = fmt.Sprintf("%s#%d", strings.TrimSuffix(of, "#0"), o.Attrs.Index)
			continue
		}
		w.comments(o.Place)
		name := fmt.Sprintf("%%%d", w.next)
		w.next++
		w.names[n] = name
		switch o.Kind {
		case hlo.KindSort:
			w.names[n] = name + "#0"
			w.sort(name, o)
		case hlo.KindWhile:
			w.names[n] = name + "#0"
			w.loop(name, o)
			n = o.Regions[len(o.Regions)-1].To - 1
		default:
			w.simple(name, o)
		}
	}
}

// simple prints an operation of one result.
func (w *printer) simple(name string, o *hlo.Operation) {
	op := o.Kind.String()
	if !strings.Contains(op, ".") {
		op = "stablehlo." + op
	}
	fmt.Fprintf(w, "    %s = \"%s\"(%s)", name, op, w.nameList(o.Operands))
	operands := w.types(o.Operands)
	if attrs := attributes(o, operands); attrs != "" {
		w.WriteString(" <{" + attrs + "}>")
	}
	switch o.Kind {
	case hlo.KindReduce, hlo.KindReduceWindow, hlo.KindScatter:
		w.WriteString(" ({\n" + reducer(o.Attrs.Reducer, o.Type.DType) + "    })")
	}
	fmt.Fprintf(w, " : (%s) -> %s\n", typeList(operands), o.Type)
}

// loop prints a while, whose two regions call what they are entered with by the same names.
func (w *printer) loop(name string, o *hlo.Operation) {
	fmt.Fprintf(w, "    %s:%d = \"stablehlo.while\"(%s) (", name, len(o.Operands), w.nameList(o.Operands))
	for i, r := range o.Regions {
		from := r.From
		var decl []string
		for ; from < r.To && w.p.Ops[from].Kind == hlo.KindParam; from++ {
			param := &w.p.Ops[from]
			w.names[from] = fmt.Sprintf("%%r%s_%d", name[1:], param.Attrs.Index)
			decl = append(decl, w.names[from]+": "+param.Type.String())
		}
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(w, "{\n    ^bb0(%s):\n", strings.Join(decl, ", "))
		w.ops(from, r.To)
		fmt.Fprintf(w, "      \"stablehlo.return\"(%s) : (%s) -> ()\n    }", w.nameList(r.Results),
			typeList(w.types(r.Results)))
	}
	types := typeList(w.types(o.Operands))
	fmt.Fprintf(w, ") : (%s) -> (%s)\n", types, types)
}

func (w *printer) types(values []int) []hlo.Type {
	out := make([]hlo.Type, len(values))
	for i, v := range values {
		out[i] = w.p.Ops[v].Type
	}
	return out
}

func (w *printer) nameList(values []int) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = w.names[v]
	}
	return strings.Join(s, ", ")
}

func typeList(types []hlo.Type) string {
	s := make([]string, len(types))
	for i, t := range types {
		s[i] = t.String()
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
