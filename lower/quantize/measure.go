// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"slices"

	"lathe/ir"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/quantize/loss"
)

const (
	// measureSamples bounds the samples of the error report.
	measureSamples = 64
	// coarse is the SQNR in dB of an output below which a plan without calibration data is worth a warning.
	coarse = 20
	// noise is the SQNR in dB below which the outputs say next to nothing of the model.
	noise = 3
	// fine is the one from which on calibration data would gain nothing that matters.
	fine = 80
)

// measure reports the error of every node that both the float and the quantized graph have, and of the outputs.
func measure(s *stage, after *ir.Graph) error {
	if s.errors == Unmeasured {
		return nil
	}
	before, cut := s.float, s.Report.Wanting
	samples := s.Samples[:min(len(s.Samples), measureSamples)]
	if len(samples) == 0 {
		drawn := float.Affordable(before)
		if drawn == 0 {
			s.Report.Note("errors against the float model are not measured: the model is large; give calibration data")
			return nil
		}
		samples = pass.CallerLayout(before, float.Random(before, s.Plan, s.runner.Seed, drawn))
	}
	lostFeatures(s, before, after)
	s.Report.Samples = len(samples)
	meter, err := loss.New(before, after, loss.Nodes{Cut: cut, Of: s.Report.Rounded}, s.errors == Alone)
	if err != nil {
		return err
	}
	if err := meter.Add(s.runner.Context(), samples, pass.Enter); err != nil {
		return err
	}
	s.Report.Nodes, s.Report.Outputs = meter.Values()
	for i, o := range after.Out {
		out := &s.Report.Outputs[i]
		if _, out.Place = float.Places(o.Node); out.Place {
			continue
		}
		if text := loss.Coarse(o.Name, o.Node.Type.Format, out.Spread, out.Peak); text != "" {
			s.Report.Warn("%s", text)
		}
	}
	if r := s.Report; (len(s.Samples) == 0 || s.drawn) && (r.Loose > 0 || len(r.Chosen) > 0) {
		s.expect()
	}
	return nil
}

// expect says first of all what to expect without calibration data, and how to do better.
func (s *stage) expect() {
	least, other := math.Inf(1), false
	for _, o := range s.Report.Outputs {
		if !o.Place {
			least = min(least, o.SQNR)
		}
		other = other || o.Place && o.MaxErr > 0
	}
	are := "are exact"
	switch {
	case least < noise:
		are = fmt.Sprintf("are noise (SQNR %.0f dB)", max(least, 0))
	case !math.IsInf(least, 1):
		are = fmt.Sprintf("have an SQNR of %.0f dB against the float model", least)
	case other:
		are = "are not all the classes of the float model"
	}
	text := fmt.Sprintf("without calibration data the outputs of %d random samples %s", s.Report.Samples, are)
	if least < fine || other {
		text += "; pass some hundred real inputs: numpy.savez(\"calib.npz\", x), then --calibrate calib.npz"
	}
	if least < coarse {
		s.Report.Warnings = slices.Insert(s.Report.Warnings, 0, text)
		return
	}
	s.Report.Notes = slices.Insert(s.Report.Notes, 0, text)
}
