// SPDX-License-Identifier: Apache-2.0

package docs

import (
	_ "embed" // the head of the page on PyTorch
	"strings"

	"lathe/frontend/torch"
)

//go:embed torch_head.md
var torchHead string

// Torch is the page of PyTorch programs: what is read and refused, then the operations with their overloads.
func Torch() string {
	var b strings.Builder
	b.WriteString(torchHead)
	b.WriteString("| operation | overloads |\n|---|---|\n")
	last := ""
	for _, target := range torch.Operations() {
		name, overload, _ := strings.Cut(target, ".")
		switch library, ok := strings.CutPrefix(target, "torch.ops."); {
		case ok:
			at := strings.LastIndexByte(library, '.')
			name, overload = library[:at], library[at+1:]
		case strings.HasPrefix(target, "_operator.") || strings.HasPrefix(target, "torch."):
			name, overload = target, "on sizes"
		}
		if name == last {
			b.WriteString(", " + overload)
			continue
		}
		if last != "" {
			b.WriteString(" |\n")
		}
		last = name
		b.WriteString("| `" + name + "` | " + overload)
	}
	b.WriteString(" |\n")
	return b.String()
}
