// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lathe/ir"
)

// zeros is how many weights of a layer are zero.
type zeros struct {
	Node    string `json:"node"`
	Zeros   int    `json:"zeros"`
	Weights int    `json:"weights"`
}

func (z zeros) share() float64 { return float64(z.Zeros) / float64(z.Weights) }

const (
	// mostCounted bounds how many weights are read: larger models are not pruned for FPGAs, and take long to read.
	mostCounted = 1 << 28
	// pruned is the share of zeros from which a layer is worth a word.
	pruned = 0.1
)

// zeroWeights counts the zeros of all layers with weights, nil if there are none; of models beyond mostCounted weights
// it says nothing.
func zeroWeights(g *ir.Graph) (list []zeros, err error) {
	all := 0
	for _, n := range g.Nodes {
		if !n.Op.Traits.Weighted || len(n.Args) < 2 || !n.Args[1].IsConst() {
			continue
		}
		if all += n.Args[1].Type.Elems(); all > mostCounted {
			return nil, nil
		}
		t, err := n.Args[1].Value()
		if err != nil {
			return nil, err
		}
		z := zeros{Node: n.Name, Weights: t.Type.Elems()}
		values, err := t.Decode()
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if v == 0 {
				z.Zeros++
			}
		}
		if z.Weights > 0 {
			list = append(list, z)
		}
	}
	if !slices.ContainsFunc(list, func(z zeros) bool { return z.Zeros > 0 }) {
		return nil, nil
	}
	return list, nil
}

// printZeros tells of layers with many zeros; nothing of models without such.
func (a *App) printZeros(list []zeros) {
	total := zeros{}
	var many []zeros
	for _, z := range list {
		total.Zeros, total.Weights = total.Zeros+z.Zeros, total.Weights+z.Weights
		if z.share() >= pruned {
			many = append(many, z)
		}
	}
	if len(many) == 0 {
		return
	}
	slices.SortStableFunc(many, func(x, y zeros) int { return cmp.Compare(y.share(), x.share()) })
	var names []string
	for i, z := range many {
		if i == 4 {
			names = append(names, fmt.Sprintf("%d more", len(many)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s %.1f %%", z.Node, 100*z.share()))
	}
	fmt.Fprintf(a.Out, "weights: %.1f %% are zero: %s\n", 100*total.share(), strings.Join(names, ", "))
}
