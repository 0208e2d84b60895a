// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"math/rand/v2"

	"lathe/emit/cuda/host"
	"lathe/golden/ref"
	"lathe/ir"
)

// demoSamples is how many samples an emitted folder of kernels holds unless something else is asked for.
const demoSamples = 8

// partOfFloats is the part of the largest value of a sample by which float kernels may differ from the reference, as
// they add in another order.
const partOfFloats = 1e-5

// allowedPart is partOfFloats, or four steps of the 16 bits to which a graph rounds values after each operation.
func allowedPart(g *ir.Graph) float64 {
	part := partOfFloats
	for _, n := range g.Nodes {
		if h, ok := n.Type.Half(); ok {
			step := float64(h.Value(h.Bits(1)+1)) - 1
			part = max(part, 4*step)
		}
	}
	return part
}

// DemoSamples are what the demo of an emitted folder of kernels runs: the first of those given, else random ones of
// seed 0. Their outputs are those of the reference, where it does not compute for long.
func DemoSamples(ctx context.Context, g *ir.Graph, given []ref.Sample) (s host.Samples, err error) {
	s = host.Samples{Inputs: given[:min(len(given), demoSamples)], Part: allowedPart(g)}
	affordable := min(demoSamples, vectorWork/multiplications(g))
	switch {
	case len(given) > 0:
	case g.Stage == ir.StageFloat:
		s.Inputs = randomFloats(g, max(affordable, 1))
	default:
		if s.Inputs, err = RandomSamples(g, max(affordable, 1), 0); err != nil {
			return s, err
		}
	}
	if affordable >= len(s.Inputs) {
		s.Outputs, err = evaluate(ctx, g, s.Inputs)
	}
	return s, err
}

// randomFloats draws samples of a float graph: values from -1 to 1, and whole numbers that it takes.
func randomFloats(g *ir.Graph, n int) []ref.Sample {
	samples := make([]ref.Sample, n)
	for k, in := range g.In {
		if isWhole(g, in.Type) {
			appendRandom(samples, g, in, uint64(k)<<32)
			continue
		}
		for s := range samples {
			r, t := rand.New(rand.NewPCG(uint64(k)<<32, uint64(s))), ir.NewTensor(ir.Float(in.Type.Shape...))
			for i := range t.Floats {
				t.Floats[i] = 2*r.Float32() - 1
			}
			samples[s] = append(samples[s], t.Entered(in.Type))
		}
	}
	return samples
}
