// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"errors"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/norm"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/own"
	"lathe/lower/pass"
	"lathe/lower/quantize/calib"
)

// maxAlike bounds the nodes of one operation that get an error each.
const maxAlike = 3

// refuseFloat lists the nodes whose operations have no exact integer meaning. Error L0410 for each; from four nodes of
// one operation on, the first stands for all.
func refuseFloat(s *stage, g *ir.Graph) error {
	var errs diag.List
	var lost []*ir.Node
	alike := map[*ir.Op]int{}
	for _, n := range g.Nodes {
		if n.Op.Traits.FloatOnly {
			lost = append(lost, n)
			alike[n.Op]++
		}
	}
	said := map[*ir.Op]bool{}
	for _, n := range lost {
		if said[n.Op] && alike[n.Op] > maxAlike {
			continue
		}
		e := n.Errorf(diag.NoIntegerForm, "%s (node %q) has no integer form in this version", n.Op.Name, n.Name)
		if why := n.Op.Legal; why != nil {
			if err := why(n); err != nil && !errors.Is(err, column.ErrNoInteger) {
				e = e.WithNote("%s", diag.Message(err))
			}
		}
		if alike[n.Op] > maxAlike {
			e = e.WithNote("the same holds for %d more nodes", alike[n.Op]-1)
		}
		said[n.Op], errs = true, append(errs, e)
	}
	if len(errs) > 0 { // one way out, for all
		errs[0] = errs[0].WithHint("%s, or stay in float: run and emit-cuda do, without --plan and --calibrate",
			float.EndAt(s.imported, g, lost...))
	}
	return errs.Err()
}

// bound finds out which values are possible behind the formats of a quantized model, whatever the samples.
func (s *stage) bound(g *ir.Graph) error {
	model, err := own.Of(g)
	if err != nil || !model.Quantized || s.Plan.Quantize.Data.Given {
		return err
	}
	bounds, err := calib.Intervals(g, func(n *ir.Node) (lo, hi float64) {
		if f, ok := model.Format(n); ok {
			return f.Limits()
		}
		return s.values[n].Min, s.values[n].Max
	})
	if err == nil { // else there are operations whose values nothing bounds, and samples have to do
		s.bounds = bounds
	}
	return nil
}

// draw makes random samples where there are none, of a model that normalizes rows and for which the plan declares no
// range: bounds by intervals grow from layer to layer, and norms undo in samples what they cannot bound. Random ids
// give embeddings as they occur.
func (s *stage) draw(g *ir.Graph) {
	declared := slices.ContainsFunc(g.In, func(n *ir.Node) bool {
		_, _, given := s.Plan.RangeOf(n)
		return given
	})
	drawn := float.Affordable(g)
	if len(s.Samples) > 0 || declared || drawn == 0 || slices.ContainsFunc(g.Nodes, own.Quantizes) ||
		!slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return norm.HasGains(n.Op) }) {
		return
	}
	s.Samples, s.drawn = pass.CallerLayout(g, float.Random(g, s.Plan, s.runner.Seed, drawn)), true
	s.Report.Note("no calibration data: formats come from %s, ids from all that there are, other inputs from [-1, 1]; "+
		"--calibrate takes real ones", diag.Amount(drawn, "random sample"))
}

// calibrate finds out which values each node takes: from samples, or from the declared ranges of the inputs.
func calibrate(s *stage, g *ir.Graph) error {
	err := calib.RefuseInfinite(g)
	if err != nil {
		return err
	}
	if len(s.Samples) > 0 {
		in := make([]ref.Sample, len(s.Samples))
		for i, sample := range s.Samples {
			in[i] = pass.Enter(g, sample)
		}
		if s.values, err = calib.Observe(s.runner.Context(), g, in); err != nil {
			return err
		}
		err = s.bound(g)
	} else {
		var model *own.Model
		if model, err = own.Of(g); err != nil {
			return err
		}
		s.values, err = calib.Intervals(g, func(n *ir.Node) (lo, hi float64) {
			lo, hi, declared := s.Plan.RangeOf(n)
			if f, ok := model.Format(n); ok && !declared && n.IsInput() {
				return f.Limits() // the model quantizes it: nothing lies beyond
			}
			if n.IsInput() && !declared { // Cut looks at the whole graph
				if f, ok := model.Cut(g, n); ok {
					return own.Format{Format: f}.Limits() // nothing beyond makes a difference
				}
			}
			if size := float.PositionsOf(g, n); !declared && size > 0 && n.IsInput() {
				return 0, float64(size - 1) // what it looks up
			}
			if declared {
				s.Report.Note("no calibration data: formats come from interval analysis, input %q in [%s, %s] by %s", n.Name,
					diag.Number(lo, -1), diag.Number(hi, -1), s.Plan.Input(n.Name).From)
			} else {
				s.Report.Note("no calibration data: formats come from interval analysis, input %q taken as [-1, 1]; "+
					"declare its range in the plan, or give samples", n.Name)
			}
			return lo, hi
		})
	}
	if err != nil {
		return err
	}
	for _, n := range g.Nodes {
		if v := s.values[n]; v != nil {
			n.Stats = ir.Stats{Known: true, Min: v.Min, Max: v.Max, Samples: len(s.Samples)}
		}
	}
	return nil
}
