// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/float/simplify"
	"lathe/lower/own"
	"lathe/lower/pass"
)

// mostShift bounds the power of two that moves between layers.
const mostShift = 6

// equalizeChannels moves powers of two from layers, channel by channel, to the weights that read them, so that the
// channels of the value between have ranges alike and so do those weights (Nagel et al., Data-Free Quantization, 2019,
// section 4.1; ranges are those of samples, without samples bounds by weights). One format then serves all channels of
// the value. To smooth does the same behind norms and scales too, with a share of the range of the value that the plan
// chooses (Xiao et al., SmoothQuant, 2022, equation 4). The float graph computes the same bits, since powers of two are
// exact. It does nothing unless the plan asks for it, and nothing to values whose channels a rule gives formats.
func equalizeChannels(s *stage, g *ir.Graph) error {
	q := &s.Plan.Quantize
	if !q.Equalize && q.Smooth == nil || slices.ContainsFunc(g.Nodes, own.Quantizes) {
		return nil
	}
	word, share := "equalized", 0.5
	if q.Smooth != nil {
		word, share = "smoothed", *q.Smooth
	}
	samples := s.learned()
	links := slices.DeleteFunc(simplify.Links(g, q.Smooth != nil), func(l simplify.Link) bool {
		return slices.ContainsFunc(l.Values, func(n *ir.Node) bool { return s.Plan.ChannelsOf(n) != nil })
	})
	seen, err := reach(s, g, links, samples)
	if err != nil {
		return err
	}
	before := s.trial(g, samples)
	moved, channels := 0, 0
	for i := range links {
		columns, ranges, err := links[i].Columns()
		if err != nil {
			return err
		}
		if seen != nil {
			ranges = seen[i]
		}
		exps := evening(ranges, columns, share)
		n := len(exps) - countZeros(exps)
		if n == 0 {
			continue
		}
		if err := links[i].Move(g, exps); err != nil {
			return err
		}
		moved, channels = moved+1, channels+n
	}
	switch {
	case len(links) == 0:
		s.Report.Note("nothing is %s: no factor can pass from one layer to the next", word)
		return nil
	case moved == 0:
		s.Report.Note("nothing is %s: between layers, no channel is a power of two away from the others", word)
		return nil
	}
	text := fmt.Sprintf("%s: %s behind %s are multiplied by powers of two, which the weights that read "+
		"them are divided by", word, diag.Amount(channels, "channel"), diag.Amount(moved, "layer"))
	after := s.trial(g, samples)
	if before == nil || after == nil {
		s.Report.Note("%s", text)
		return nil
	}
	s.Report.gained(text, *before, *after, len(samples))
	return nil
}

// trial is the quality of outputs on samples if g is quantized as it is, with nearest weights; nil without samples,
// where nobody asks for errors, and where that is refused, as it will be once more.
func (s *stage) trial(g *ir.Graph, samples []ref.Sample) *quality {
	if len(samples) == 0 || s.errors == Unmeasured {
		return nil
	}
	t := &stage{Report: &Report{}, given: s.on(samples)}
	c := g.Clone()
	if calibrate(t, c) != nil || chooseFormats(t, c) != nil {
		return nil
	}
	want, err := pass.Outputs(s.runner.Context(), t.float, samples)
	if err != nil {
		return nil
	}
	q, err := s.quality(want, c, samples)
	if err != nil {
		return nil
	}
	return &q
}

func countZeros(exps []int) (n int) {
	for _, e := range exps {
		if e == 0 {
			n++
		}
	}
	return n
}

// evening are the exponents by which channels of these ranges are multiplied, and columns divided, such that this share
// of the logarithm of the range goes to the weights, and the rest of theirs comes back: with half, both are as even as
// they can be. The channel of the greatest range keeps its own.
func evening(ranges, columns []float64, share float64) []int {
	half := func(c int) float64 { return (1-share)*math.Log2(columns[c]) - share*math.Log2(ranges[c]) }
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

// reach is, for each link, the largest magnitude of each channel of what its layers read, over samples; nil without.
func reach(s *stage, g *ir.Graph, links []simplify.Link, samples []ref.Sample) ([][]float64, error) {
	if len(samples) == 0 {
		return nil, nil
	}
	of := map[*ir.Node][]int{} // the links that a value is read of
	out := make([][]float64, len(links))
	for i := range links {
		out[i] = make([]float64, links[i].Channels())
		for _, to := range links[i].To {
			of[to.Args[0]] = append(of[to.Args[0]], i)
		}
	}
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	in := make([]ref.Sample, len(samples))
	for i, sample := range samples {
		in[i] = pass.Enter(g, sample)
	}
	var lock sync.Mutex // maxima do not depend on the order of samples
	return out, program.Each(s.runner.Context(), in, func(_, k int, v *ir.Tensor) error {
		lock.Lock()
		defer lock.Unlock()
		for _, i := range of[g.Nodes[k]] {
			for e, x := range v.Floats {
				c := e % len(out[i])
				out[i][c] = max(out[i][c], math.Abs(float64(x)))
			}
		}
		return nil
	})
}
