// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/search/sampler"
)

// modelEpochs is for how many epochs presets train new models.
const modelEpochs = 5

// about are sizes of half, once and twice a size.
func about(n int) []int {
	list := []int{max(n/2, 1), n, 2 * n}
	return slices.Compact(list)
}

// Deepest is the number of layers of the largest model that presets make about some sizes.
func Deepest(n source.NewModel) int { return slices.Max(about(n.Layers)) }

// modelText is the table [model] about some sizes, with the objective.
func modelText(t *choose.Meter, n source.NewModel) string {
	list := func(n int) string { return strings.ReplaceAll(fmt.Sprint(about(n)), " ", ", ") }
	text := fmt.Sprintf("[study]\nobjectives = [\"accuracy max\"]\n\n[model]\nlayers = %s\nheads = %s\nhidden = %s\n"+
		"intermediate = %s\nepochs = %d\n", list(n.Layers), list(n.Heads), list(n.Hidden), list(n.Intermediate), modelEpochs)
	points := math.Pow(2, float64(Deepest(n)))
	for _, size := range []int{n.Layers, n.Heads, n.Hidden, n.Intermediate} {
		points *= float64(len(about(size)))
	}
	if last := lastSquare(t); last != "" && points <= sampler.MostPoints { // of a grid
		text += fmt.Sprintf("identity = [%q]\n", "*"+last)
	}
	return text
}

// lastSquare is how the names of those layers end that are the last of as many outputs as inputs in each block, such as
// the layer behind attention.
func lastSquare(t *choose.Meter) (end string) {
	for _, l := range t.Layers {
		if before, after, ok := strings.Cut(l.Node, ".0."); ok && l.Square && before != "" {
			end = "." + after
		}
	}
	return end
}

func architectures(t *choose.Meter, n source.NewModel) (out []Curve) {
	for _, s := range []string{"grid", "random", "tpe"} {
		out = append(out, Curve{Label: s, Name: s, Sampler: s, Text: modelText(t, n)})
	}
	return out
}

func compressedModels(t *choose.Meter, n source.NewModel) []Curve {
	const few = "\n[[quantize]]\nslot = [\"weight\"]\nformat = [\"fixed(2..4)\"]\n\n[prune]\nsparsity = \"0.3..0.7:0.1\"\n"
	return []Curve{{Label: "8 bits, nothing pruned", Name: "none", Text: modelText(t, n)},
		{Label: "compressed", Name: "compressed", Text: modelText(t, n) + few},
		{Label: "compressed and trained", Name: "trained", Text: modelText(t, n) + few + "\n[train]\nepochs = 2\n"}}
}
