// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/pass"
)

// learnSamples bounds the calibration samples from which passes learn: each runs on them more than once.
const learnSamples = 256

// learned are the calibration samples that a pass reads.
func (s *stage) learned() []ref.Sample { return s.Samples[:min(len(s.Samples), learnSamples)] }

// gain measures what a pass that changes constants of a quantized graph does to its outputs on calibration samples.
type gain struct {
	state   *stage
	graph   *ir.Graph
	samples []ref.Sample
	want    []ref.Sample
	before  quality
}

// newGain measures the graph as it is; what names what is done from samples. It is nil without calibration data.
func newGain(s *stage, g *ir.Graph, what string) (*gain, error) {
	m := &gain{state: s, graph: g, samples: s.learned()}
	if len(m.samples) == 0 {
		s.Report.Warn("%s from samples, and there is no calibration data: they stay", what)
		return nil, nil
	}
	s.Report.Loose++ // no rule of a plan can state a constant
	var err error
	if m.want, err = pass.Outputs(s.runner.Context(), s.float, m.samples); err != nil {
		return nil, err
	}
	m.before, err = s.quality(m.want, g, m.samples)
	return m, err
}

// tell reports what was done and what the outputs gain, or lose.
func (m *gain) tell(done string, args ...any) error {
	after, err := m.state.quality(m.want, m.graph, m.samples)
	if err != nil {
		return err
	}
	m.state.Report.gained(fmt.Sprintf(done, args...), m.before, after, len(m.samples))
	return nil
}

// quality is what a quantized graph keeps: the SQNR of its outputs, and where labels are known the share of them that
// output 0 has.
type quality struct {
	sqnr  float64
	right *float64
}

// quality measures g against the outputs of the float graph.
func (s *stage) quality(want []ref.Sample, g *ir.Graph, samples []ref.Sample) (q quality, err error) {
	got, err := pass.Outputs(s.runner.Context(), g, samples)
	if err != nil {
		return q, err
	}
	diff, err := pass.Compare(want, got)
	if err != nil {
		return q, err
	}
	q.sqnr = diff.SQNR
	if _, place := float.Places(g.Out[0].Node); len(s.labels) > 0 && !place {
		hits, of := 0, 0
		err = eachLabel(got, s.labels, func(x []float64, label int) {
			if of++; slices.Index(x, slices.Max(x)) == label {
				hits++
			}
		})
		right := float64(hits) / float64(max(of, 1))
		q.right = &right
	}
	return q, err
}

// worse compares what counts: the accuracy where it is known and differs, else the SQNR.
func (q quality) worse(before quality) bool {
	if q.right != nil && before.right != nil && *q.right != *before.right {
		return *q.right < *before.right
	}
	return math.Round(10*q.sqnr) < math.Round(10*before.sqnr) // as the text shows them
}

// gained notes what something that was done makes of the outputs on calibration samples, or warns where it makes them
// worse.
func (r *Report) gained(done string, before, after quality, samples int) {
	text := gainText(done, before, after, samples)
	if after.worse(before) {
		r.Warn("%s: here it does harm", text)
		return
	}
	r.Note("%s", text)
}

// gainText is what something that was done makes of the outputs.
func gainText(done string, before, after quality, samples int) string {
	text := fmt.Sprintf("%s: SQNR of the outputs %.1f dB before, %.1f dB after, ", done, before.sqnr, after.sqnr)
	if before.right != nil && after.right != nil {
		text += fmt.Sprintf("accuracy %.4f before, %.4f after, ", *before.right, *after.right)
	}
	return text + fmt.Sprintf("on %d calibration samples", samples)
}
