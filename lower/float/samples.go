// SPDX-License-Identifier: Apache-2.0

package float

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/own"
	"lathe/lower/plan"
)

// wholeRange is the range of random values of an input of whole numbers: positions in what they pick from, else 0 and
// 1.
func wholeRange(g *ir.Graph, in *ir.Node) (lo, hi float64) {
	least := PositionsOf(g, in)
	if least == 0 {
		least = 2
	}
	return -0.49, float64(least) - 0.51
}

const (
	// drawnSamples is how many samples are drawn where there is no calibration data.
	DrawnSamples = 16
	// drawnWeights bounds samples times weights: beyond, weights of both graphs do not fit into memory beside the file.
	drawnWeights = 50_000_000
)

// Affordable is how many samples are drawn: fewer of large models, and none of very large ones.
func Affordable(g *ir.Graph) int {
	weights := 1
	for _, n := range g.Nodes {
		if n.IsConst() {
			weights += n.Type.Elems()
		}
	}
	return min(drawnWeights/weights, DrawnSamples)
}

// Random makes samples, uniform in the range of each input. The seed decides all.
func Random(g *ir.Graph, plan *plan.Plan, seed uint64, count int) []ref.Sample {
	r := rand.New(rand.NewPCG(seed, 0))
	samples := make([]ref.Sample, count)
	lo, hi, whole := make([]float64, len(g.In)), make([]float64, len(g.In)), make([]bool, len(g.In))
	model, err := own.Of(g)
	for i, n := range g.In {
		declared := false
		if lo[i], hi[i], declared = plan.RangeOf(n); declared {
			continue
		}
		if ir.IsWhole(n.Type.Format) || PositionsOf(g, n) > 0 {
			lo[i], hi[i] = wholeRange(g, n)
			whole[i] = true
		} else if f, ok := model.Format(n); err == nil && ok {
			lo[i], hi[i] = f.Limits()
		}
	}
	for i := range samples {
		for at, n := range g.In {
			t := ir.NewTensor(ir.Float(n.Type.Shape...))
			for k := range t.Floats {
				v := lo[at] + (hi[at]-lo[at])*r.Float64()
				if whole[at] { // between two positions there is none
					v = math.Round(v)
				}
				t.Floats[k] = float32(v)
			}
			samples[i] = append(samples[i], t)
		}
	}
	return samples
}
