// SPDX-License-Identifier: Apache-2.0

package training

import (
	"math"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
)

// measureValues makes what judges graphs whose loss compares values: the root of the mean squared error or, where
// targets are bits, the share of outputs on the right side of 0.
func (t *Task) measureValues(p *prepared) error {
	if t.Classes {
		return diag.New(diag.TrainLabels, t.Eval, "a sweep compares shares of right classes, of which loss = %q has none",
			p.plan.Train.Loss).WithHint("train one plan after the other with lathe train, whose --eval measures %s", rmse)
	}
	d, err := t.read(p, t.Eval, t.EvalLabels, true)
	if err != nil {
		return err
	}
	a, path, err := labelled(d, t.Eval, t.EvalLabels)
	if err != nil {
		return err
	}
	targets := a.Float32s()
	score := func(y, target float64) float64 { return (y - target) * (y - target) }
	if p.figure = rmse; p.plan.Train.Loss == "bce" {
		p.figure = accuracy
		score = func(y, target float64) float64 {
			if (y > 0) == (target > 0.5) {
				return 1
			}
			return 0
		}
	}
	known := driver.Known{Metric: &driver.Metric{Name: p.figure, Of: func(outputs []npz.Array, _ []int) (float64, error) {
		sum := 0.0
		for i, y := range outputs[0].Float64s() {
			sum += score(y, float64(targets[i]))
		}
		if sum /= float64(len(targets)); p.figure == rmse {
			return math.Sqrt(sum), nil
		}
		return sum, nil
	}}}
	n, err := p.judged(d.File, func(g *ir.Graph, out []ref.Sample) (float64, error) {
		v, err := known.Score(g, out)
		if err != nil {
			return 0, err
		}
		return *v, nil
	})
	if err != nil {
		return err
	}
	return fitting(a, path, n, p)
}

// fitting is an error where an array has not as many numbers as n outputs of the model.
func fitting(a *npz.Array, path string, n int, p *prepared) error {
	out := p.float.Out[0].Node.Type
	if len(a.Float32s()) == n*out.Elems() {
		return nil
	}
	return diag.New(diag.TrainLabels, path, "targets have shape %s, the output has %s of each of %d samples",
		ir.ShapeString(a.Shape), ir.ShapeString(out.Shape), n)
}
