// SPDX-License-Identifier: Apache-2.0

package docs

import (
	_ "embed" // the head of the page on the interpreter
	"fmt"
	"slices"
	"strings"

	"lathe/cuda/ptx"
)

//go:embed ptx_head.md
var ptxHead string

// PTX is the page of the interpreter: what it does, then the opcodes that it knows, by name.
func PTX() string {
	forms := ptx.Forms()
	slices.SortStableFunc(forms, func(a, b ptx.Form) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	b.WriteString(ptxHead)
	for i := 0; i < len(forms); {
		name := forms[i].Name
		var texts []string
		for ; i < len(forms) && forms[i].Name == name; i++ {
			if forms[i].Forms != "" {
				texts = append(texts, strings.ReplaceAll(forms[i].Forms, "|", "\\|"))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.Join(texts, "; "))
	}
	return b.String()
}
