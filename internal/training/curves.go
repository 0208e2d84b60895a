// SPDX-License-Identifier: Apache-2.0

package training

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"lathe/emit/plot"
	"lathe/emit/report"
	"lathe/internal/diag"
	"lathe/internal/training/events"
	"lathe/train"
)

// Line is what training came to at a step: a line of its log.
type Line struct {
	Step     int      `json:"step"`
	Epoch    int      `json:"epoch"`
	Loss     float64  `json:"loss"`
	Rate     float64  `json:"lr"`
	Norm     float64  `json:"grad_norm"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
	Sparsity float64  `json:"sparsity,omitempty"`
}

// LineOf is the line of a call.
func LineOf(p train.Progress) Line {
	l := Line{Step: p.Step, Epoch: p.Epoch, Loss: p.Loss, Rate: p.Rate, Norm: p.Norm, Sparsity: p.Sparsity}
	if p.Figure == rmse {
		l.RMSE = p.Metric
	} else {
		l.Accuracy = p.Metric
	}
	return l
}

// Scalars are the figures of a line, named as its keys.
func (l *Line) Scalars() []events.Scalar {
	out := []events.Scalar{{Tag: "loss", Value: l.Loss}, {Tag: "lr", Value: l.Rate}, {Tag: "grad_norm", Value: l.Norm}}
	if l.Accuracy != nil {
		out = append(out, events.Scalar{Tag: "accuracy", Value: *l.Accuracy})
	}
	if l.RMSE != nil {
		out = append(out, events.Scalar{Tag: rmse, Value: *l.RMSE})
	}
	if l.Sparsity > 0 {
		out = append(out, events.Scalar{Tag: "sparsity", Value: l.Sparsity})
	}
	return out
}

// Curves is a log.
type Curves []Line

// ReadCurves reads a log. Where training went on from a checkpoint, what an interrupted run did behind it was done
// again: the later lines count. What is no line, since a run was killed within it, is left out.
func ReadCurves(r io.Reader) (Curves, error) {
	var out Curves
	s := bufio.NewScanner(r)
	for s.Scan() {
		var l Line
		if json.Unmarshal(s.Bytes(), &l) != nil {
			continue
		}
		for len(out) > 0 && out[len(out)-1].Step >= l.Step {
			out = out[:len(out)-1]
		}
		out = append(out, l)
	}
	return out, s.Err()
}

// dots is the most that a curve is drawn of: more would hide each other.
const dots = 150

// curve draws one figure over the steps; at says which, and whether a line has it. Of many lines, several in a row are
// one dot at their mean.
func (c Curves) curve(title, y string, at func(*Line) (float64, bool)) []byte {
	var all []plot.Point
	for i := range c {
		if v, ok := at(&c[i]); ok {
			all = append(all, plot.Point{X: float64(c[i].Step), Y: v})
		}
	}
	each := (len(all) + dots - 1) / dots
	s := plot.Series{Name: y}
	for i := 0; i < len(all); i += each {
		some := all[i:min(i+each, len(all))]
		p := plot.Point{X: some[len(some)-1].X}
		for _, one := range some {
			p.Y += one.Y / float64(len(some))
		}
		p.Label = fmt.Sprintf("step %d: %s %s", int(p.X), y, diag.Number(p.Y, 4))
		s.Points = append(s.Points, p)
	}
	chart := plot.Chart{Title: title, X: "step", Y: y, Series: []plot.Series{s}}
	return chart.SVG()
}

// Plots are the loss, the accuracy and the sparsity, where they are known, the rate, and the norm of the gradient.
func (c Curves) Plots() [][]byte {
	out := [][]byte{c.curve("Loss", "loss", func(l *Line) (float64, bool) { return l.Loss, true })}
	known := func(title, y string, at func(*Line) (float64, bool)) {
		for i := range c {
			if _, ok := at(&c[i]); ok {
				out = append(out, c.curve(title, y, at))
				return
			}
		}
	}
	known("Accuracy", "accuracy, %", func(l *Line) (float64, bool) {
		if l.Accuracy == nil {
			return 0, false
		}
		return 100 * *l.Accuracy, true
	})
	known("Error", "rmse", func(l *Line) (float64, bool) {
		if l.RMSE == nil {
			return 0, false
		}
		return *l.RMSE, true
	})
	known("Sparsity", "pruned weights, %", func(l *Line) (float64, bool) { return 100 * l.Sparsity, l.Sparsity > 0 })
	known("Rate", "learning rate", func(l *Line) (float64, bool) { return l.Rate, true })
	known("Gradient", "norm of the gradient", func(l *Line) (float64, bool) { return l.Norm, true })
	return out
}

// SVG is all plots below each other.
func (c Curves) SVG() []byte { return plot.Stack(c.Plots()...) }

// Page is all plots, and a table of the epochs.
func (c Curves) Page(title, version string) *report.Measurements {
	p := &report.Measurements{Title: title, Version: version}
	table := [][]string{{"epoch", "step", "loss", accuracy, "rate", "sparsity"}}
	for i := range c {
		l := &c[i]
		if i+1 < len(c) && c[i+1].Epoch == l.Epoch {
			continue // the last line of an epoch stands for it
		}
		row := []string{fmt.Sprint(l.Epoch), fmt.Sprint(l.Step), diag.Number(l.Loss, 4), "", diag.Number(l.Rate, 4), ""}
		if l.Accuracy != nil {
			row[3] = fmt.Sprintf("%.4f", *l.Accuracy)
		}
		if l.RMSE != nil {
			table[0][3], row[3] = rmse, diag.Number(*l.RMSE, 4)
		}
		if l.Sparsity > 0 {
			row[5] = fmt.Sprintf("%.4f", l.Sparsity)
		}
		table = append(table, row)
	}
	if n := len(c); n > 0 {
		p.Lead = []string{fmt.Sprintf("%d steps", c[n-1].Step), fmt.Sprintf("%d epochs", c[n-1].Epoch)}
	}
	p.Sections = []report.Section{{Title: "Curves", Plots: c.Plots()}, {Title: "Epochs", Table: table, Text: []string{
		"Loss, rate and sparsity at the last steps of each epoch; " + table[0][3] + " is that of the graph that would ship " +
			"then."}}}
	return p
}
