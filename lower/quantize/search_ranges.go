// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
	"lathe/lower/quantize/loss"
)

// searchSteps bounds how many powers of two a range moves.
const searchSteps = 3

// searchRanges moves the ranges that calibration chose of values by powers of two, one value after the other from the
// inputs on, for as long as the cross-entropy of output 0 against labels becomes less. It does nothing unless the plan
// asks for it. Error L0404 without labels, or where output 0 has no values for classes.
func searchRanges(s *stage, g *ir.Graph) error {
	if s.Plan.Quantize.Calibrate != plan.CrossEntropy {
		return nil
	}
	if len(s.labels) == 0 {
		return diag.New(diag.CalibrationData, s.Plan.File,
			"calibrate = \"cross-entropy\" needs the classes of the calibration samples").
			WithHint("give --calibrate X.npz --calibrate-labels Y.npy, or calibrate = \"mse\"")
	}
	if _, place := float.Places(g.Out[0].Node); place {
		return g.Out[0].Node.Errorf(diag.CalibrationData,
			"calibrate = \"cross-entropy\" reads a value for each class, and output %q "+
				"is the number of one", g.Out[0].Name).WithHint("%s, or calibrate = \"mse\"",
			float.EndAt(s.imported, g, g.Out[0].Node))
	}
	r := ranger{state: s, graph: g, samples: s.learned(), known: map[string]float64{}}
	out, err := pass.Outputs(s.runner.Context(), g, r.samples)
	if err != nil {
		return err
	}
	if r.chances, err = chances(out, s.labels); err != nil {
		return err
	}
	first, err := r.loss()
	if err != nil || math.IsInf(first, 1) {
		return err // or none: quantize says why
	}
	best, moved := first, 0
	seen := map[*calib.Values]bool{}
	for _, n := range g.Nodes {
		v := s.values[n]
		if v == nil || len(v.Sample) == 0 || seen[v] {
			continue
		}
		seen[v] = true
		for _, way := range []int{1, -1} {
			for v.Finer*way < searchSteps {
				v.Finer += way
				now, err := r.loss()
				if err != nil {
					return err
				}
				if !(now < best) {
					v.Finer -= way
					break
				}
				best = now
			}
			if v.Finer != 0 {
				moved++
				break
			}
		}
	}
	s.Report.Note("ranges of %s are moved: cross-entropy of the outputs %.4f before, %.4f after, on %d "+
		"calibration samples", diag.Amount(moved, "value"), first, best, len(r.samples))
	return nil
}

// ranger measures choices of ranges.
type ranger struct {
	state   *stage
	graph   *ir.Graph
	samples []ref.Sample
	chances bool               // output 0 of the float graph has probabilities
	known   map[string]float64 // by the formats of all nodes
}

// loss is the mean cross-entropy of output 0 if the graph is quantized with the ranges as they are; infinite where that
// is refused.
func (r *ranger) loss() (float64, error) {
	c := r.graph.Clone()
	t := &stage{Report: &Report{}, given: r.state.on(r.samples), ranges: r.state.in(r.graph, c)}
	if chooseFormats(t, c) != nil {
		return math.Inf(1), r.state.runner.Context().Err()
	}
	var formats strings.Builder
	for _, n := range c.Nodes {
		formats.WriteString(n.Type.Format.String() + " ")
	}
	if v, ok := r.known[formats.String()]; ok {
		return v, nil
	}
	out, err := pass.Outputs(r.state.runner.Context(), c, r.samples)
	if err != nil {
		return 0, err
	}
	v, err := crossEntropy(out, r.state.labels, r.chances)
	r.known[formats.String()] = v
	return v, err
}

// chances says that output 0 has probabilities for all labels. Those of the float graph decide: few bits make logits
// 0 and 1, too.
func chances(out []ref.Sample, labels [][]int64) (all bool, err error) {
	all = true
	err = eachLabel(out, labels, func(x []float64, _ int) { all = all && loss.Probabilities(x) })
	return all, err
}

// crossEntropy is its mean of output 0, of probabilities or of logits, against labels.
func crossEntropy(out []ref.Sample, labels [][]int64, probabilities bool) (float64, error) {
	sum, rows := 0.0, 0
	err := eachLabel(out, labels, func(x []float64, label int) {
		sum, rows = sum+loss.CrossEntropy(x, label, probabilities), rows+1
	})
	return sum / float64(max(rows, 1)), err
}

// eachLabel calls f for each label with the values of output 0 for the classes: of each sample one, or one
// for each row, of which those with a label below 0 do not count.
func eachLabel(out []ref.Sample, labels [][]int64, f func(x []float64, label int)) error {
	for i, sample := range out {
		x, err := sample[0].Decode()
		if err != nil {
			return err
		}
		each := len(labels[i])
		if each == 0 || len(x)%each != 0 {
			return diag.New(diag.CalibrationData, "",
				"%d labels for a calibration sample of which the model computes %d values", each,
				len(x)).WithHint("give the number of a class, or one for each row of output 0")
		}
		n := len(x) / each
		for k, label := range labels[i] {
			if label < 0 && each > 1 {
				continue
			}
			if label < 0 || label >= int64(n) {
				return diag.New(diag.CalibrationData, "", "label %d of calibration sample %d is none of %d classes", label, i, n).
					WithHint("classes count from 0 to %d", n-1)
			}
			f(x[k*n:(k+1)*n], int(label))
		}
	}
	return nil
}
