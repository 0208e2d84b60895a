// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"math"
	"path/filepath"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
)

// TestMetrics holds each metric to values counted by hand.
func TestMetrics(t *testing.T) {
	ln := math.Log
	for _, c := range []struct {
		name, metric string
		labels       npz.Array
		outputs      npz.Array
		use          []int
		want         float64
	}{
		{"the last of six equal values is sixth", "top5", npz.Int64Array("y", []int{2}, []int64{5, 4}),
			npz.Float64Array("o", []int{2, 6}, make([]float64, 12)), []int{0, 1}, 0.5},
		{"labels of the samples that are used", "top5", npz.Int64Array("y", []int{3}, []int64{0, 5, 0}),
			npz.Float64Array("o", []int{2, 6}, []float64{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}), []int{1, 2}, 0.5},
		{"probabilities 1/2 and 1/8 of the labels", "perplexity", npz.Int64Array("y", []int{1, 2}, []int64{0, 1}),
			npz.Float64Array("o", []int{1, 2, 2}, []float64{1e3, 1e3, ln(7), ln(1)}), []int{0}, 4},
		{"a token that does not count", "perplexity", npz.Int64Array("y", []int{1, 3}, []int64{0, -100, 1}),
			npz.Float64Array("o", []int{1, 3, 2}, []float64{1e3, 1e3, 0, 9, ln(7), ln(1)}), []int{0}, 4},
		{"the same", "top5", npz.Int64Array("y", []int{1, 2}, []int64{-100, 5}),
			npz.Float64Array("o", []int{1, 2, 6}, make([]float64, 12)), []int{0}, 0},
		{"no overflow, and one class of a pixel each", "iou", npz.Int64Array("y", []int{1, 4}, []int64{0, 0, 1, 1}),
			npz.Float64Array("o", []int{1, 4}, []float64{0, 1, 1, 1}), []int{0}, (1.0/2 + 2.0/3) / 2},
		{"classes in front of the pixels, and a border", "iou", npz.Int64Array("y", []int{1, 2, 2}, []int64{0, 0, 1, 255}),
			npz.Float64Array("o", []int{1, 3, 2, 2}, []float64{9, 0, 0, 0, 1, 5, 5, 5, 0, 0, 0, 0}), []int{0},
			(1.0/2 + 1.0/2) / 2},
		{"classes behind the pixels", "iou", npz.Int64Array("y", []int{1, 3}, []int64{1, 1, 0}),
			npz.Float64Array("o", []int{1, 3, 2}, []float64{0, 1, 0, 1, 1, 0}), []int{0}, 1},
		{"the same pixels", "f1", npz.Int64Array("y", []int{1, 4}, []int64{0, 0, 1, 1}),
			npz.Float64Array("o", []int{1, 4}, []float64{0, 1, 1, 1}), []int{0}, (2.0/3 + 4.0/5) / 2},
		{"values", "rmse", npz.Float64Array("y", []int{3, 2}, []float64{9, 9, 1, 2, 3, 4}),
			npz.Float64Array("o", []int{2, 1, 2}, []float64{1, 2, 3, 8}), []int{1, 2}, 2},
	} {
		m, err := NewMetric(c.metric, labelsFile(t, c.labels))
		if err != nil {
			t.Fatal(c.name, err)
		}
		got, err := m.Of([]npz.Array{c.outputs}, c.use)
		if err != nil || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %s is %v, want %v (%v)", c.name, c.metric, got, c.want, err)
		}
		if m.Samples != c.labels.Shape[0] || m.Least != (c.metric == "rmse" || c.metric == "perplexity") {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

// TestMetricsRefuse: labels that do not fit the outputs.
func TestMetricsRefuse(t *testing.T) {
	outputs := npz.Float64Array("o", []int{2, 6}, make([]float64, 12))
	for _, c := range []struct {
		metric string
		labels npz.Array
	}{
		{"top5", npz.Int64Array("y", []int{2}, []int64{0, 6})},
		{"perplexity", npz.Int64Array("y", []int{2}, []int64{0, -1})},
		{"perplexity", npz.Int64Array("y", []int{2, 6}, make([]int64, 12))},
		{"top5", npz.Int64Array("y", []int{2, 1}, []int64{0, -100})},
		{"iou", npz.Int64Array("y", []int{2, 5}, make([]int64, 10))},
		{"iou", npz.Int64Array("y", []int{2}, []int64{255, 255})},
		{"rmse", npz.Float64Array("y", []int{2, 5}, make([]float64, 10))},
	} {
		m, err := NewMetric(c.metric, labelsFile(t, c.labels))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := m.Of([]npz.Array{outputs}, []int{0, 1}); diag.CodeOf(err) != diag.Labels {
			t.Errorf("%s of %v: %v, %v", c.metric, c.labels.Shape, v, err)
		}
	}
}

func labelsFile(t *testing.T, a npz.Array) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "labels.npz")
	if err := npz.Write(path, []npz.Array{a}); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLeast: where less is better, a plan that has less beats one that has more, and half a percent more is the goal.
func TestLeast(t *testing.T) {
	low, high := 1.0, 1.2
	for _, least := range []bool{true, false} {
		meter := &Meter{}
		meter.metric = &driver.Metric{Name: "figure", Least: least}
		meter.On.Score = &low
		a, b := &Point{Score: &low, metric: meter.metric}, &Point{Score: &high, metric: meter.metric}
		if a.beats(b) != least || b.beats(a) == least {
			t.Errorf("least %v: which beats which", least)
		}
		goal := meter.Keep(nil)
		want := map[bool]float64{true: 1.005, false: 0.995}[least]
		if math.Abs(*goal.Score-want) > 1e-12 || !goal.met(a) || goal.met(b) == least {
			t.Errorf("least %v: %s", least, goal)
		}
		if goal = meter.Keep(&high); goal.met(a) != least || !goal.met(b) {
			t.Errorf("least %v: %s", least, goal)
		}
	}
}
