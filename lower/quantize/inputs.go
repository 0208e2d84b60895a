// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/float/simplify"
	"lathe/lower/own"
	"lathe/lower/plan"
)

const (
	// farFeatures is how many powers of two a feature of an input moves, at least, for inputs to be scaled unasked.
	farFeatures = 4
	// absorbed bounds the error of a layer that takes the scale in front of it.
	absorbed = 1e-4
)

// scaleInputs multiplies features of inputs by powers of two and divides the weights that read them by those: as the
// plan says, or where features of very different sizes would share one format and the outputs gain. Samples are
// multiplied before they are encoded, so the input port has other units, which its description gives.
func scaleInputs(s *stage, g *ir.Graph) error {
	for k, n := range g.In {
		in := s.Plan.Input(n.Name)
		if in != nil && in.Exponents != nil {
			if err := scaleAsked(g, k, in); err != nil {
				return err
			}
		} else if s.scalesUnasked(n, in) && !slices.ContainsFunc(g.Nodes, own.Quantizes) {
			if err := s.scaleIfItHelps(g, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// scaleAsked moves the exponents of the plan.
func scaleAsked(g *ir.Graph, k int, in *plan.Input) error {
	n := g.In[k]
	l, ok := simplify.InputLink(g, n)
	if !ok {
		return n.Errorf(diag.InputExponents, "features of input %q of shape %s cannot be multiplied: not only layers and "+
			"scales of its last axis read them", n.Name, ir.ShapeString(n.Type.Shape)).
			WithNote("exponents set by %s", in.From).WithHint("leave exponents out")
	}
	if len(in.Exponents) != l.Channels() {
		return n.Errorf(diag.InputExponents, "%d exponents for the %d features of input %q, of shape %s", len(in.Exponents),
			l.Channels(), n.Name, ir.ShapeString(n.Type.Shape)).WithNote("set by %s", in.From).
			WithHint("give %d", l.Channels())
	}
	return scaleFeatures(g, k, in.Exponents)
}

// scalesUnasked says that features of input n, of which the plan says in, may move: it chooses nothing about them.
func (s *stage) scalesUnasked(n *ir.Node, in *plan.Input) bool {
	q := &s.Plan.Quantize
	if q.Equalize != nil && !*q.Equalize || len(s.Samples) == 0 || s.drawn || s.Plan.ChannelsOf(n) != nil ||
		in != nil && (in.Format != nil || in.Range != nil) {
		return false
	}
	return !slices.ContainsFunc(q.Rules, func(r *plan.Rule) bool { return r.DataOut != nil && r.Covers(n) })
}

// scaleIfItHelps scales features of input k of g, if they lie far apart and the outputs gain.
func (s *stage) scaleIfItHelps(g *ir.Graph, k int) error {
	l, ok := simplify.InputLink(g, g.In[k])
	if !ok {
		return nil
	}
	exps, err := s.featureExponents(g, l)
	if err != nil || max(slices.Max(exps), -slices.Min(exps)) < farFeatures {
		return err
	}
	scaled := g.Clone()
	if err := scaleFeatures(scaled, k, exps); err != nil {
		return err
	}
	samples := s.Samples[:min(len(s.Samples), triedSamples)]
	before, after := s.trial(g, samples), s.trial(scaled, samples)
	if after == nil || before != nil && (after.worse(*before) || after.sqnr < before.sqnr+helps) {
		return nil
	}
	was := ""
	if before != nil {
		was = fmt.Sprintf("%.1f dB before, ", before.sqnr)
	}
	s.Report.Note("input %q has features of different sizes, which share one format: samples are multiplied by powers of "+
		"two before they are encoded (%s): SQNR of the outputs %s%.1f dB after, on %d calibration samples; "+
		"equalize = false in [quantize] leaves them", g.In[k].Name, powersText(exps), was, after.sqnr, len(samples))
	return scaleFeatures(g, k, exps)
}

// scaleFeatures moves exponents from the weights that read input k, and takes a scale that they make even out.
func scaleFeatures(g *ir.Graph, k int, exps []int) error {
	l, _ := simplify.InputLink(g, g.In[k])
	if err := l.Move(g, exps); err != nil {
		return err
	}
	return simplify.InputScales(g)
}

// featureExponents are those that bring features to sizes alike: behind a scale those that it makes alike, since that
// has a factor for each, else those that even the features and the weights that read them.
func (s *stage) featureExponents(g *ir.Graph, l simplify.Link) ([]int, error) {
	seen, err := reach(s, g, []simplify.Link{l}, s.learned())
	if err != nil {
		return nil, err
	}
	factors, err := l.Factors()
	if err != nil {
		return nil, err
	}
	if factors == nil {
		columns, _, err := l.Columns()
		if err != nil {
			return nil, err
		}
		return evenly(seen[0], columns, 0.5, plan.MaxExponent), nil
	}
	loudest, exps := -1, make([]int, len(factors))
	for c, size := range seen[0] {
		if size > 0 && factors[c] != 0 && (loudest < 0 || size > seen[0][loudest]) {
			loudest = c
		}
	}
	for c, f := range factors {
		if loudest >= 0 && seen[0][c] > 0 && f != 0 {
			e := math.Round(math.Log2(math.Abs(float64(f)))) - math.Round(math.Log2(math.Abs(float64(factors[loudest]))))
			exps[c] = int(max(-plan.MaxExponent, min(plan.MaxExponent, e)))
		}
	}
	return exps, nil
}

// powersText names the first features that move, with their powers of two.
func powersText(exps []int) string {
	var list []string
	for c, e := range exps {
		switch {
		case e != 0 && len(list) == named:
			return strings.Join(append(list, ".."), ", ")
		case e != 0:
			list = append(list, fmt.Sprintf("feature %d by 2^%d", c, e))
		}
	}
	return strings.Join(list, ", ")
}
