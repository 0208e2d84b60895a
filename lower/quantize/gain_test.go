// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"strings"
	"testing"

	"lathe/lower/quantize/loss"
)

// TestGained: a loss of accuracy is harm, a loss of decibels only where accuracy is not known or stays.
func TestGained(t *testing.T) {
	low, high := 0.5, 0.6
	for _, c := range []struct {
		before, after quality
		harm          bool
	}{
		{quality{10, nil}, quality{9, nil}, true}, {quality{10, nil}, quality{10, nil}, false},
		{quality{10, &low}, quality{9, &high}, false}, {quality{9, &high}, quality{10, &low}, true},
		{quality{10, &low}, quality{9, &low}, true}, {quality{10, &low}, quality{9, nil}, true},
	} {
		var r Report
		r.gained("it is done", c.before, c.after, 7)
		text := strings.Join(append(r.Notes, r.Warnings...), "")
		if len(r.Warnings) > 0 != c.harm || !strings.HasPrefix(text, "it is done: SQNR of the outputs ") ||
			strings.Contains(text, "does harm") != c.harm {
			t.Errorf("%+v: %q, %q", c, r.Notes, r.Warnings)
		}
	}
}

// TestExpect says what outputs are worth without calibration data: noise, decibels, or nothing lost.
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		out     loss.Value
		warning bool
		want    string
	}{
		{loss.Value{SQNR: -0.2}, true, "16 random samples are noise (SQNR 0 dB); pass some hundred real inputs: "},
		{loss.Value{SQNR: 12}, true, "16 random samples have an SQNR of 12 dB against the float model; pass some "},
		{loss.Value{SQNR: 90}, false, "16 random samples have an SQNR of 90 dB against the float model"},
		{loss.Value{SQNR: math.Inf(1)}, false, "16 random samples are exact"},
		{loss.Value{Place: true, MaxErr: 1}, false, "16 random samples are not all the classes of the float model; pass "},
	} {
		s := &stage{Report: &Report{Outputs: []loss.Value{c.out}, Samples: 16}}
		s.expect()
		text := strings.Join(append(s.Report.Notes, s.Report.Warnings...), "")
		if !strings.HasPrefix(text, "without calibration data the outputs of "+c.want) ||
			strings.Contains(text, "calib.npz") != strings.Contains(c.want, "; pass ") ||
			len(s.Report.Warnings) > 0 != c.warning {
			t.Errorf("%+v: notes %q, warnings %q", c.out, s.Report.Notes, s.Report.Warnings)
		}
	}
}
