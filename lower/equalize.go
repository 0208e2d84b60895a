// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"math"
	"slices"

	"lathe/golden/ref"
	"lathe/ir"
	"lathe/lower/own"
	"lathe/lower/simplify"
)

const (
	// equalizeSamples bounds the samples from which channels are equalized.
	equalizeSamples = 256
	// mostShift bounds the power of two that moves between layers.
	mostShift = 6
)

// equalizeChannels moves powers of two between layers, channel by channel, so that the channels of the value between
// them have ranges alike and so do the weights that read them (Nagel et al., Data-Free Quantization, 2019, section 4.1;
// ranges are those of samples, without samples bounds by weights). One format then serves all channels of the value.
// The float graph computes the same bits, since powers of two are exact. It does nothing unless the plan asks for it.
func equalizeChannels(s *State, g *ir.Graph) error {
	if !s.Plan.Quantize.Equalize || slices.ContainsFunc(g.Nodes, own.Quantizes) {
		return nil
	}
	moved, channels := 0, 0
	for _, l := range simplify.Links(g) {
		columns, ranges, err := l.Columns()
		if err != nil {
			return err
		}
		if samples := s.Samples[:min(len(s.Samples), equalizeSamples)]; len(samples) > 0 {
			if ranges, err = reach(s, g, l, samples); err != nil {
				return err
			}
		}
		exps := evening(ranges, columns)
		n := len(exps) - countZeros(exps)
		if n == 0 {
			continue
		}
		if err := l.Move(g, exps); err != nil {
			return err
		}
		moved, channels = moved+1, channels+n
	}
	s.Report.note("equalized: %d channels behind %d layers are multiplied by powers of two, which the weights that read "+
		"them are divided by", channels, moved)
	return nil
}

func countZeros(exps []int) (n int) {
	for _, e := range exps {
		if e == 0 {
			n++
		}
	}
	return n
}

// evening are the exponents by which channels of these ranges are multiplied, and columns divided, for both to be
// as even as they can be: half of the distance of each. The channel of the greatest range keeps its own.
func evening(ranges, columns []float64) []int {
	half := func(c int) float64 { return (math.Log2(columns[c]) - math.Log2(ranges[c])) / 2 }
	loudest := -1
	for c := range ranges {
		if ranges[c] > 0 && columns[c] > 0 && (loudest < 0 || ranges[c] > ranges[loudest]) {
			loudest = c
		}
	}
	exps := make([]int, len(ranges))
	for c := range exps {
		if loudest >= 0 && ranges[c] > 0 && columns[c] > 0 {
			exps[c] = int(max(-mostShift, min(mostShift, math.Round(half(c)-half(loudest)))))
		}
	}
	return exps
}

// reach is the largest magnitude of each channel of what l.To reads, over samples.
func reach(s *State, g *ir.Graph, l simplify.Link, samples []ref.Sample) ([]float64, error) {
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	in := make([]ref.Sample, len(samples))
	for i, sample := range samples {
		in[i] = enter(g, sample)
	}
	parts := make([][]float64, len(in))
	channels := l.From.Args[1].Type.Shape[0]
	err = program.Each(s.runner.ctx, in, func(i, k int, v *ir.Tensor) error {
		if g.Nodes[k] == l.To.Args[0] {
			parts[i] = make([]float64, channels)
			for e, x := range v.Floats {
				parts[i][e%channels] = max(parts[i][e%channels], math.Abs(float64(x)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]float64, channels)
	for _, part := range parts {
		for c, v := range part {
			out[c] = max(out[c], v)
		}
	}
	return out, nil
}
