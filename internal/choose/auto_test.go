// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// brute is the least loss of any choice whose cost stays within a budget.
func brute(items [][]Option, budget float64) float64 {
	if len(items) == 0 {
		return 0
	}
	least := math.Inf(1)
	for _, o := range items[0] {
		if o.Cost <= budget && !math.IsInf(o.Loss, 1) {
			least = min(least, o.Loss+brute(items[1:], budget-o.Cost))
		}
	}
	return least
}

func total(items [][]Option, choice []int) (cost, loss float64) {
	for i, k := range choice {
		cost, loss = cost+items[i][k].Cost, loss+items[i][k].Loss
	}
	return cost, loss
}

// TestKnapsack holds all solutions against every choice there is, within what rounding costs up to buckets may lose.
func TestKnapsack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		items := make([][]Option, 1+r.IntN(5))
		spread := 0.0
		for i := range items {
			low, high := 0.0, 0.0
			for k := range 2 + r.IntN(4) {
				o := Option{Cost: float64(r.IntN(40)), Loss: float64(r.IntN(1000))}
				if k > 1 && r.IntN(6) == 0 {
					o.Loss = math.Inf(1)
				} else if k == 0 {
					low, high = o.Cost, o.Cost
				} else {
					low, high = min(low, o.Cost), max(high, o.Cost)
				}
				items[i] = append(items[i], o)
			}
			spread += high - low
		}
		choices := Knapsack(items)
		lastCost, lastLoss := math.Inf(-1), math.Inf(1)
		for _, c := range choices {
			cost, loss := total(items, c)
			if loss >= lastLoss || cost < lastCost {
				t.Fatalf("cost %g, loss %g after %g, %g", cost, loss, lastCost, lastLoss)
			}
			lastCost, lastLoss = cost, loss
			if slack := spread / (buckets - 10) * float64(len(items)); loss < brute(items, cost) ||
				loss > brute(items, cost-slack) {
				t.Fatalf("cost %g: loss %g, the least is %g", cost, loss, brute(items, cost))
			}
		}
		if want := brute(items, math.Inf(1)); lastLoss != want {
			t.Fatalf("with any budget the loss is %g, want %g", lastLoss, want)
		}
	}
	if Knapsack([][]Option{{{1, 1}}, {{1, math.Inf(1)}}}) != nil {
		t.Error("an item without an option has one")
	}
	if got := Knapsack([][]Option{{{5, 1}, {5, 2}}, {{3, 3}}}); len(got) != 1 || !slices.Equal(got[0], []int{0, 0}) {
		t.Errorf("%v", got)
	}
}

// TestAuto: the best plan meets the goal at a smaller share than the uniform ones that do, figures are those of the
// plan that is written, read back without calibration data, and a second search is the same.
func TestAuto(t *testing.T) {
	ctx := context.Background()
	meter := example(t, "jets-mlp", "", 200)
	goal := *meter.Accuracy - 0.01
	formats := []string{"fixed(3)", "fixed(6)"}
	a, err := meter.Auto(ctx, formats, false, Goal{Accuracy: &goal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Best < 0 {
		t.Fatal("nothing meets the goal")
	}
	best := a.Candidates[a.Best]
	for _, c := range a.Candidates {
		if c.Met != (*c.Accuracy >= goal) || c.Met && c.takes < best.takes {
			t.Errorf("%s: accuracy %g, share %g, met %v", c.Name, *c.Accuracy, c.takes, c.Met)
		}
	}
	if best.Uniform || *best.Accuracy < goal {
		t.Errorf("best is %+v", best)
	}
	plan, err := plan.Parse("best.toml", []byte(best.Text))
	if err != nil {
		t.Fatal(err)
	}
	blind := *meter.subject
	blind.Calibration = quantize.Calibration{}
	point, _, err := Measure(ctx, &blind, blind.Known, plan, true)
	if err != nil || point.Refused != "" {
		t.Fatalf("%+v, %v", point, err)
	}
	if *point.Accuracy != *best.Accuracy || *point.SQNR != *best.SQNR || *point.Cost != *best.Cost ||
		point.Size != best.Size {
		t.Errorf("the written plan gives %+v, the search %+v", point, best.Point)
	}
	again, err := meter.Auto(ctx, formats, false, Goal{Accuracy: &goal}, nil)
	same := func(x, y Candidate) bool { return x.Text == y.Text }
	if err != nil || !slices.EqualFunc(a.Candidates, again.Candidates, same) {
		t.Errorf("the second search differs: %v", err)
	}
}

// TestAutoBesideRefused: a format that no layer takes is no base for the costs of others.
func TestAutoBesideRefused(t *testing.T) {
	meter := example(t, "jets-mlp", "", 20)
	a, err := meter.Auto(t.Context(), []string{"fixed(8)", "float(8,3)", "fixed(4)"}, false, Goal{SQNR: new(10.0)}, nil)
	if err != nil || a.Best < 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, c := range a.Candidates {
		if refused := slices.Contains(c.Formats, "float(8,3)"); refused != (c.Refused != "") {
			t.Errorf("%v: %q", c.Formats, c.Refused)
		}
	}
}

// TestSeparate: formats for weights and values apart are never dearer than one for both, and samples that are held out
// are counted apart, and measured for what is offered.
func TestSeparate(t *testing.T) {
	ctx := context.Background()
	meter := exampleOn(t, "jets-mlp", "", driver.Data{Most: 100, HoldOut: 30})
	goal := *meter.Accuracy - 0.02
	formats := []string{"fixed(3)", "fixed(4)", "fixed(6)"}
	one, err := meter.Auto(ctx, formats, false, Goal{Accuracy: &goal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := meter.Auto(ctx, formats, true, Goal{Accuracy: &goal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if one.Best < 0 || two.Best < 0 || two.Candidates[two.Best].takes > one.Candidates[one.Best].takes {
		t.Errorf("best %d and %d of %+v", one.Best, two.Best, two.Candidates)
	}
	apart := func(c Candidate) bool { return strings.Contains(strings.Join(c.Formats, " "), "/") }
	if slices.ContainsFunc(one.Candidates, apart) || !slices.ContainsFunc(two.Candidates, apart) {
		t.Error("formats apart where they should be one, or the reverse")
	}
	if meter.On.Samples != 70 || meter.On.HeldOut != 30 {
		t.Errorf("%+v", meter.On)
	}
	for _, c := range two.Candidates {
		if offered := c.Front || c.Uniform || c.Text == two.Candidates[two.Best].Text; offered != (c.Held != nil) {
			t.Errorf("%s: held out %+v", c.Name, c.Held)
		} else if offered && math.Abs(*c.Held.Accuracy*30-math.Round(*c.Held.Accuracy*30)) > 1e-9 {
			t.Errorf("%s: accuracy %g of 30 samples", c.Name, *c.Held.Accuracy)
		}
	}
}

// TestGoal: without labels a goal is an SQNR; one out of reach leaves no best plan.
func TestGoal(t *testing.T) {
	path := func(file string) string { return filepath.Join("..", "..", "examples", "jets-mlp", file) }
	s := driver.Source{Model: path("model.onnx"), Calibrate: path("calib.npz")}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	meter, err := meterOf(s, g, driver.Data{Inputs: path("inputs.npz"), Most: 40})
	if err != nil {
		t.Fatal(err)
	}
	for sqnr, reached := range map[float64]bool{15: true, 90: false} {
		a, err := meter.Auto(context.Background(), []string{"fixed(4)", "fixed(6)"}, false, Goal{SQNR: &sqnr}, nil)
		if err != nil || a.Best >= 0 != reached {
			t.Errorf("%g dB: best %d, %v", sqnr, a.Best, err)
		}
		if n := a.Nearest(); n == nil || n.Accuracy != nil || *n.SQNR < 15 {
			t.Errorf("nearest %+v", n)
		}
	}
}

// TestTooLarge: what does not fit the part is never the best, however small its sum of shares, and the largest share is
// named.
func TestTooLarge(t *testing.T) {
	a := &Auto{Part: "chip", Goal: Goal{Accuracy: new(float64)}, Best: -1, Candidates: []Candidate{
		{Name: "dsp", Point: Point{Cost: &Cost{LUT: 10, DSP: 120}}, Share: 4. / 3, ShareOf: "DSP", Met: true, takes: 1.34},
		{Name: "lut", Point: Point{Cost: &Cost{LUT: 900, DSP: 60}}, Share: 0.9, ShareOf: "LUT", Met: true, takes: 1.57},
		{Name: "bad", Point: Point{Cost: &Cost{LUT: 1}}, Share: 0.1, ShareOf: "LUT", takes: 0.1}}}
	if a.judge(); a.Best != 1 {
		t.Errorf("best is %d", a.Best)
	}
	if got, want := a.Verdict(), "lut, the least hardware that keeps"; !strings.Contains(got, want) ||
		!strings.Contains(got, "90.0 % of the LUTs of chip") {
		t.Errorf("%q", got)
	}
	if got := a.TooLarge(); got != "dsp: 10 LUT, 120 DSP, 133.3 % of the DSPs of chip, so it does not fit" {
		t.Errorf("%q", got)
	}
}
