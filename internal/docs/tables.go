// SPDX-License-Identifier: Apache-2.0

package docs

import (
	_ "embed" // the head of the page on formats
	"fmt"
	"strings"

	"lathe/emit/cuda"
	"lathe/ir/format"
	"lathe/ir/op"
)

//go:embed formats_head.md
var formatsHead string

// Formats is the page of number formats: definitions, then the families that ir/format knows.
func Formats() string {
	var b strings.Builder
	b.WriteString(formatsHead + "\n| text | example | codes and values | options | " +
		"bits, range and step of the example |\n|---|---|---|---|---|\n")
	for _, f := range format.All() {
		var options []string
		for _, o := range f.Options {
			options = append(options, "`"+o.Key+"=`")
		}
		doc := f.Doc
		if f.Alias != "" {
			doc += "; stands for `" + f.Alias + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", cell(f.Syntax), cell(f.Example), cell(doc),
			strings.Join(options, " "), facts(f.Example))
	}
	return b.String()
}

// facts are those of the format with the given text, which is one of ir/format.
func facts(text string) string {
	f, err := format.Parse(text)
	if err != nil {
		return err.Error()
	}
	d := format.Describe(f)
	out := []string{d.Bits, d.Range}
	for _, more := range []string{d.Step, d.Values} {
		if more != "" {
			out = append(out, more)
		}
	}
	return strings.Join(out, "; ")
}

// Ops is the support matrix.
func Ops() string {
	var b strings.Builder
	b.WriteString("# Operations\n\nWritten by `make gen` from `ir/op`; `lathe list ops` prints the same.\n\n" +
		"float: runs on real values. exact: has an integer meaning, which hardware must match bit for bit. pjrt: has a\n" +
		"StableHLO form. rtl: has hardware. cuda: has kernels. Not every op takes every number format: what cannot be\n" +
		"built in the formats of a plan is refused with the reason (L0308, L0310), never rounded otherwise.\n" +
		"`layer_norm` and `rms_norm` have an integer form that rounds once ([decisions](decisions/operations.md)).\n" +
		"Lowering makes other operations of some that have no unit of their own: `group_norm` becomes `layer_norm` of the\n" +
		"groups and a factor a channel, `where` with a constant condition products with 0 and 1, `attention`, also in\n" +
		"parts, becomes\n" +
		"`attend_scores`, `attend_weights` and `attend_sum`, a `gather` of rows of a constant table `embedding`;\n" +
		"[transformers.md](transformers.md) says when, and `lathe inspect` names what is left without hardware.\n" +
		"Functions of one number are tables up to 12 bits of argument; beyond, some are interpolated, and the others are\n" +
		"tables up to 16 bits ([decisions](decisions/operations.md)).\n\n" +
		"| op | float | exact | pjrt | rtl | cuda | meaning |\n|---|---|---|---|---|---|---|\n")
	for _, s := range op.Matrix(cuda.HasKernels) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", s.Name, mark(s.Float), mark(s.Exact), mark(s.HLO),
			mark(s.RTL), mark(s.CUDA), cell(s.Doc))
	}
	return b.String()
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return "-"
}

// cell is text that a table cell can hold.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}
