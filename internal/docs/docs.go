// SPDX-License-Identifier: Apache-2.0

// Package docs writes the pages of docs/ that are generated. Its test demands that the pages in the tree are what it
// writes; `make gen` writes them anew.
package docs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Page is one generated page.
type Page struct {
	File string // name inside docs/
	Text string
}

// Pages are all generated pages. Adding one here is all that it takes. measurements is docs/measurements, where times
// on GPUs are kept. Error as Kernels.
func Pages(measurements fs.FS) ([]Page, error) {
	kernels, err := Kernels(measurements)
	refused, e := Refusals()
	return []Page{
		{"errors.md", Errors(diag.Catalogue())},
		{"formats.md", Formats()},
		{"kernels.md", kernels},
		{"models.md", Models()},
		{"ops.md", Ops()},
		{"ptx.md", PTX()},
		{"refusals.md", refused},
		{"torch.md", Torch()},
	}, errors.Join(err, e)
}

// ranges of codes, by their first three characters.
var ranges = []struct{ prefix, title string }{
	{"L01", "Command line"},
	{"L02", "Reading models"},
	{"L03", "Graph and text form"},
	{"L04", "Plan and lowering"},
	{"L05", "Number formats"},
	{"L06", "Emitting hardware"},
	{"L07", "Simulation and synthesis"},
	{"L08", "Reference engines and PJRT"},
	{"L09", "Files, and from L0930 on CUDA"},
	{"L10", "Training"},
	{"L11", "Searches"},
	{"L12", "Boards"},
}

// Errors is the page of error codes, in order, by range. A code of an unknown range is put under the last heading
// "Others", so that no code is lost.
func Errors(codes []diag.Entry) string {
	codes = slices.Clone(codes)
	slices.SortFunc(codes, func(a, b diag.Entry) int { return cmp.Compare(a.Code, b.Code) })
	var b strings.Builder
	b.WriteString("# Errors\n\nWritten by `make gen` from the catalogue in `internal/diag`; edit it there.\n\n" +
		"An error names its place, its code, the cause, related facts, and the nearest fix:\n\n" +
		"```\nmodel.onnx: features.0 (Conv): L0412: out_lanes 5 does not divide 16 output channels\n" +
		"  note: set by plan.toml:9 [[fold.rule]] name = \"features.0\"\n  hint: use 4 or 8\n```\n\n" +
		"Below the cause of each code stands what to do; a hint in the message is nearer to the case. An example provokes\n" +
		"the error: commands (`$`), the last of which fails, with the files they need; or Go, for errors that no command\n" +
		"can provoke on its own. `internal/clitest` makes the models and arrays that the examples name;\n" +
		"`internal/errortest` runs all examples.\n")
	left := codes
	for _, r := range ranges {
		var mine []diag.Entry
		mine, left = split(left, r.prefix)
		section(&b, r.prefix+"xx: "+r.title, mine)
	}
	if len(left) > 0 {
		section(&b, "Others", left)
	}
	return b.String()
}

// split parts the codes of a range from the others.
func split(codes []diag.Entry, prefix string) (in, out []diag.Entry) {
	for _, c := range codes {
		if strings.HasPrefix(string(c.Code), prefix) {
			in = append(in, c)
		} else {
			out = append(out, c)
		}
	}
	return in, out
}

func section(b *strings.Builder, title string, codes []diag.Entry) {
	fmt.Fprintf(b, "\n## %s\n", title)
	for _, c := range codes {
		fmt.Fprintf(b, "\n**%s** %s\n", c.Code, c.Cause)
		if c.Remedy != "" {
			fmt.Fprintf(b, "\n*What to do:* %s\n", c.Remedy)
		}
		if c.Example != "" {
			fence := "```"
			for strings.Contains(c.Example, fence) {
				fence += "`"
			}
			fmt.Fprintf(b, "\n%s\n%s\n%s\n", fence, strings.TrimRight(c.Example, "\n"), fence)
		}
	}
}
