// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"

	"lathe/golden/ref"
	"lathe/ir"
)

// gain measures what a pass that changes constants of a quantized graph does to its outputs on calibration samples.
type gain struct {
	state   *State
	graph   *ir.Graph
	samples []ref.Sample
	want    []ref.Sample
	before  float64
}

// newGain measures the graph as it is; what names what is done from samples. It is nil without calibration data.
func newGain(s *State, g *ir.Graph, most int, what string) (*gain, error) {
	m := &gain{state: s, graph: g, samples: s.Samples[:min(len(s.Samples), most)]}
	if len(m.samples) == 0 {
		s.Report.warn("%s from samples, and there is no calibration data: they stay", what)
		return nil, nil
	}
	s.Report.Loose++ // no rule of a plan can state a constant
	var err error
	if m.want, err = outputs(s.runner.ctx, s.float, m.samples); err != nil {
		return nil, err
	}
	m.before, err = m.ratio()
	return m, err
}

// ratio is the SQNR of the outputs against those of the float graph.
func (m *gain) ratio() (float64, error) {
	got, err := outputs(m.state.runner.ctx, m.graph, m.samples)
	if err != nil {
		return 0, err
	}
	diff, err := compareRuns(m.want, got)
	return diff.SQNR, err
}

// tell reports what was done and what the outputs gain, or lose.
func (m *gain) tell(done string, args ...any) error {
	after, err := m.ratio()
	if err != nil {
		return err
	}
	m.state.Report.gained(fmt.Sprintf(done, args...), m.before, after, len(m.samples))
	return nil
}

// gained notes what something that was done makes of the SQNR of the outputs on calibration samples, or warns where it
// makes it worse.
func (r *Report) gained(done string, before, after float64, samples int) {
	text := fmt.Sprintf("%s: SQNR of the outputs %.1f dB before, %.1f dB after, on %d calibration samples", done, before,
		after, samples)
	if after < before {
		r.warn("%s: here it does harm", text)
		return
	}
	r.note("%s", text)
}
