// SPDX-License-Identifier: Apache-2.0

package docs

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/hf"
)

//go:embed models_head.md
var modelsHead string

// Models is the page of model formats and of the architectures of Hugging Face folders.
func Models() string {
	var b strings.Builder
	b.WriteString(modelsHead)
	b.WriteString("| architecture | classes | tasks | inputs (**without a choice**) | caches | tested with | limits |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, s := range hf.Supported() {
		inputs := slices.Clone(s.Inputs)
		for i := range inputs[:s.Default] {
			inputs[i] = "**" + inputs[i] + "**"
		}
		caches, tested := "", slices.Clone(s.Tested)
		if s.Caches {
			caches = "yes"
		}
		if s.Example != "" {
			tested = append(tested, "[the example](../examples/"+s.Example+"/README.md)")
		}
		fmt.Fprintf(&b, "| %s | %s... | %s | %s | %s | %s | %s |\n", s.Name, s.Class, strings.Join(s.Tasks, ", "),
			strings.Join(inputs, ", "), caches, strings.Join(tested, ", "), s.Limits)
	}
	b.WriteString("\nTested with: folders of [frontend/hf/testdata](../frontend/hf/testdata/README.md), " +
		"whose\noutputs are those of transformers 5.23.0 within 2e-6 of the largest value. Functions that `hidden_act` and " +
		"the like may name: " +
		strings.Join(hf.Activations(), ", ") + ".\n")
	return b.String()
}
