// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/float/simplify"
	"lathe/lower/own"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

const (
	// mostShift bounds the power of two that moves between layers.
	mostShift = 24
	// farApart is how many powers of two a channel moves, at least, for equalizing to be tried unasked.
	farApart = 3
	// helps is the gain in dB from which on it is done unasked, triedSamples how many samples tell.
	helps, triedSamples = 1, 32
)

// equalizeChannels moves powers of two from layers, channel by channel, to the weights that read them, so that the
// channels of the value between have ranges alike and so do those weights (Nagel et al., Data-Free Quantization, 2019,
// section 4.1; ranges are those of samples, without samples bounds by weights). One format then serves all channels of
// the value. To smooth does the same behind norms and scales too, with a share of the range of the value that the plan
// chooses (Xiao et al., SmoothQuant, 2022, equation 4). The float graph computes the same bits, since powers of two are
// exact. Where the plan says nothing it is done where it helps; nothing happens to values whose channels a rule gives
// formats.
func equalizeChannels(s *stage, g *ir.Graph) error {
	q := &s.Plan.Quantize
	if slices.ContainsFunc(g.Nodes, own.Quantizes) {
		return nil
	}
	switch {
	case q.Smooth != nil:
		return s.even(g, "smoothed", evening{affine: true, share: *q.Smooth})
	case q.Equalize == nil:
		return s.evenIfItHelps(g)
	case *q.Equalize:
		return s.even(g, "equalized", evening{share: 0.5})
	}
	return nil
}

// evening says between which values powers of two move, and how ranges are shared.
type evening struct {
	// affine asks for links behind norms and scales too, open for those alone whose formats no rule chooses.
	affine, open bool
	// share is that of the weights, of the logarithm of the range of a value.
	share float64
	// seen are the ranges of channels, by link; nil: bounds by weights.
	seen [][]float64
}

// links are those of g between which powers of two may move.
func (e *evening) links(s *stage, g *ir.Graph) []simplify.Link {
	return slices.DeleteFunc(simplify.Links(g, e.affine), func(l simplify.Link) bool {
		return slices.ContainsFunc(l.Values, func(n *ir.Node) bool {
			return s.Plan.ChannelsOf(n) != nil || e.open && slices.ContainsFunc(s.Plan.Quantize.Rules, func(r *plan.Rule) bool {
				return r.DataOut != nil && r.Covers(n)
			})
		})
	})
}

// moved counts what has moved: layers and their channels, and the largest power of two.
type moved struct{ layers, channels, most int }

// move moves powers of two along links of g.
func (e *evening) move(g *ir.Graph, links []simplify.Link) (m moved, err error) {
	for i := range links {
		columns, ranges, err := links[i].Columns()
		if err != nil {
			return m, err
		}
		if e.seen != nil {
			ranges = e.seen[i]
		}
		exps := evenly(ranges, columns, e.share, mostShift)
		n := len(exps) - countZeros(exps)
		if n == 0 {
			continue
		}
		if err := links[i].Move(g, exps); err != nil {
			return m, err
		}
		m.layers, m.channels = m.layers+1, m.channels+n
		m.most = max(m.most, slices.Max(exps), -slices.Min(exps))
	}
	return m, nil
}

// even moves what the plan asks for, and tells what the outputs gain.
func (s *stage) even(g *ir.Graph, word string, e evening) error {
	samples := s.learned()
	links := e.links(s, g)
	var err error
	if e.seen, err = reach(s, g, links, samples); err != nil {
		return err
	}
	var before, after *quality
	if len(samples) > 0 && s.errors != Unmeasured {
		before = s.trial(g, samples)
	}
	m, err := e.move(g, links)
	switch {
	case err != nil:
		return err
	case len(links) == 0:
		s.Report.Note("nothing is %s: no factor can pass from one layer to the next", word)
		return nil
	case m.layers == 0:
		s.Report.Note("nothing is %s: between layers, no channel is a power of two away from the others", word)
		return nil
	}
	s.Report.Moved = true
	if before != nil {
		after = s.trial(g, samples)
	}
	if before == nil || after == nil {
		s.Report.Note("%s", m.text(word))
		return nil
	}
	s.Report.gained(m.text(word), *before, *after, len(samples))
	return nil
}

func (m moved) text(word string) string {
	return fmt.Sprintf("%s: %s behind %s are multiplied by powers of two, which the weights that read them are "+
		"divided by", word, diag.Amount(m.channels, "channel"), diag.Amount(m.layers, "layer"))
}

// evenIfItHelps equalizes a graph of which channels are far apart, if its outputs gain by that: on calibration samples,
// without them on random ones.
func (s *stage) evenIfItHelps(g *ir.Graph) error {
	samples := s.Samples[:min(len(s.Samples), triedSamples)]
	e := evening{share: 0.5, open: true}
	links := e.links(s, g)
	drawn := float.Affordable(g)
	if len(links) == 0 || drawn == 0 {
		return nil
	}
	if len(samples) == 0 {
		samples = pass.CallerLayout(g, float.Random(g, s.Plan, s.runner.Seed, drawn))
	}
	var err error
	if e.seen, err = reach(s, g, links, s.learned()); err != nil {
		return err
	}
	c := g.Clone()
	if m, err := e.move(c, e.links(s, c)); err != nil || m.most < farApart {
		return err
	}
	before, after := s.trial(g, samples), s.trial(c, samples)
	if before == nil || after == nil || after.worse(*before) || after.sqnr < before.sqnr+helps {
		return nil
	}
	m, err := e.move(g, links)
	if err != nil {
		return err
	}
	s.Report.Moved = true
	kind := "calibration"
	if len(s.Samples) == 0 {
		kind = "random"
	}
	s.Report.Note("%s: SQNR of the outputs %.1f dB before, %.1f dB after, on %d %s samples; equalize = false in "+
		"[quantize] leaves them", m.text("equalized"), before.sqnr, after.sqnr, len(samples), kind)
	return nil
}

// trial is the quality of outputs on samples if g is quantized as it is, with nearest weights; nil where that is
// refused, as it will be once more.
func (s *stage) trial(g *ir.Graph, samples []ref.Sample) *quality {
	t := &stage{Report: &Report{}, given: s.given}
	if len(s.Samples) > 0 {
		t.Samples = samples
	}
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

// evenly are the exponents by which channels of these ranges are multiplied, and columns divided, such that this share
// of the logarithm of the range goes to the weights, and the rest of theirs comes back: with half, both are as even as
// they can be, up to most. The channel of the greatest range keeps its own.
func evenly(ranges, columns []float64, share float64, most int) []int {
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
			exps[c] = max(-most, min(most, int(math.Round(half(c)-half(loudest)))))
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
