// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lathe/internal/refusals"
)

// refusalsHead begins the page, with the number of rows.
const refusalsHead = "# What to do when Lathe refuses\n\nWritten by `make gen` from `internal/refusals`. These are " +
	"the %d errors that users of PyTorch, ONNX,\nStableHLO and FPGA tools are most likely to meet first, each with its " +
	"message and what to do next.\n`internal/errortest` runs each row: the command is refused with this message, " +
	"and the next one succeeds.\n[errors.md](errors.md) has all codes; `internal/clitest` makes the models and arrays " +
	"that are named here.\n\n| what happened | error | next |\n|---|---|---|\n"

// anchor is the name that GitHub gives a heading.
func anchor(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || unicode.IsLetter(c) || unicode.IsDigit(c):
			return unicode.ToLower(c)
		}
		return -1
	}, heading)
}

// Refusals is the page of the errors that users meet first, with what they do next.
func Refusals() (string, error) {
	all, err := refusals.All()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, refusalsHead, len(all))
	for _, r := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", cell(r.Title), anchor(r.Title), r.Code(), cell(next(&r)))
	}
	for _, r := range all {
		fmt.Fprintf(&b, "\n## %s\n\n", r.Title)
		var lines []string
		for _, c := range append(r.Before, r.Command) {
			lines = append(lines, "$ "+c)
		}
		fenced(&b, append(lines, r.Message)...)
		for _, f := range r.Files {
			if !strings.HasPrefix(f.Name, refusals.Then) {
				fmt.Fprintf(&b, "\nwith `%s`:\n\n", f.Name)
				fenced(&b, string(f.Data))
			}
		}
		fmt.Fprintf(&b, "\nNext: %s\n", next(&r))
		for _, f := range r.Files {
			if name, changed := strings.CutPrefix(f.Name, refusals.Then); changed {
				fmt.Fprintf(&b, "\nwith `%s`:\n\n", name)
				fenced(&b, string(f.Data))
			}
		}
	}
	return b.String(), nil
}

// next is what a user does, in one line.
func next(r *refusals.Refusal) string {
	steps := slices.Clone(r.Done)
	for _, c := range r.Next {
		steps = append(steps, "`"+c+"`")
	}
	return strings.Join(steps, "; ")
}

// fenced writes lines as they are.
func fenced(b *strings.Builder, lines ...string) {
	b.WriteString("```\n")
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l, "\n") + "\n")
	}
	b.WriteString("```\n")
}
