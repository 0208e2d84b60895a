// SPDX-License-Identifier: Apache-2.0

//go:build long

package sweeps_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/training"
	"lathe/internal/training/sweeps"
	"lathe/lower/plan"
	"lathe/train"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// seeds is how many runs stand behind a mean: single seeds do not order what is close.
const seeds = 10

// digits sweeps digits-mlp, whose float models are trained anew for each seed.
func digits(t *testing.T, kind string, r sweeps.Ranges) *sweeps.Sweep {
	t.Helper()
	k, ok := sweeps.KindOf(kind)
	if !ok {
		t.Fatalf("no sweep %s", kind)
	}
	at := func(name string) string { return filepath.Join("../../../examples/digits-mlp", name) }
	epochs, rate := 20, 0.003
	engine := train.OnPJRT(pjrttest.Engine(t))
	s, err := sweeps.Measure(t.Context(), &sweeps.Options{Kind: k, Ranges: r, Seeds: seeds, Fresh: 40, NoCost: true,
		Watch: func(int, int) {}, Ended: func(r *sweeps.Run) { t.Logf("%s, seed %d: %.4f", r.Label, r.Seed, r.After) },
		Task: training.Task{Source: driver.Source{Model: at("model.onnx"), Settings: plan.Settings{Epochs: &epochs,
			LR: &rate}}, Data: at("train.npz"), Labels: at("train_labels.npy"), Eval: at("inputs.npz"),
			EvalLabels: at("labels.npy"), Engine: func(context.Context) (train.Engine, error) { return engine, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.Table() {
		t.Log(strings.Join(row, "  "))
	}
	return s
}

// TestQATGates demands of training in few bits what post-training quantization does not reach.
func TestQATGates(t *testing.T) {
	s := digits(t, "ptq-qat", sweeps.Ranges{Weight: true, Data: true, Formats: []string{"fixed(2)", "fixed(3)",
		"fixed(4)", "fixed(5)", "fixed(6)", "fixed(8)", "float(4,3)", "float(2,1)", "log(4)", "mxint(8,32)", "mxint(4,16)"}})
	for _, p := range s.Points {
		if p.After.Mean < p.Before.Mean-.003 {
			t.Errorf("%s: %.4f after training, %.4f before", p.Label, p.After.Mean, p.Before.Mean)
		}
		if p.X <= 3 && p.Series == "fixed" && p.After.Mean < p.Before.Mean+.03 {
			t.Errorf("%s: training gains %.4f", p.Label, p.After.Mean-p.Before.Mean)
		}
		if p.Label == "fixed(8)" && p.Before.Mean < s.Float.Mean-.003 {
			t.Errorf("8 bits: %.4f, float %.4f", p.Before.Mean, s.Float.Mean)
		}
	}
}

// below says that the mean of a is less than that of b by more than the standard error of their difference: at few
// zeros both methods end at the accuracy of the float model, and their order is chance.
func below(a, b sweeps.Spread) bool {
	return a.Mean < b.Mean-math.Sqrt((a.Deviation*a.Deviation+b.Deviation*b.Deviation)/seeds)
}

// TestPruneGates demands that magnitudes say more than chance, and that training regains what pruning lost.
func TestPruneGates(t *testing.T) {
	shares := []string{"0.3", "0.5", "0.7", "0.8", "0.9", "2:4"}
	s := digits(t, "prune", sweeps.Ranges{Methods: []string{"random", "l1"}, Shares: shares})
	for i, share := range shares {
		random, l1 := s.Points[i], s.Points[len(shares)+i]
		if below(*l1.Before, *random.Before) || below(l1.After, random.After) {
			t.Errorf("%s: l1 %.4f, %.4f; random %.4f, %.4f", share, l1.Before.Mean, l1.After.Mean, random.Before.Mean,
				random.After.Mean)
		}
		lost := s.Float.Mean - l1.Before.Mean
		if share == "0.5" && s.Float.Mean-l1.After.Mean > .1*lost {
			t.Errorf("half of the weights: %.4f before, %.4f after, float %.4f", l1.Before.Mean, l1.After.Mean, s.Float.Mean)
		}
		if share == "2:4" && l1.After.Mean < s.Float.Mean-.01 {
			t.Errorf("2:4: %.4f, float %.4f", l1.After.Mean, s.Float.Mean)
		}
	}
}
