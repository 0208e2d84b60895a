// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/unit"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/quantize"
)

// balanced schedules the classifier under a plan of the balance mode, with every pass verified.
func balanced(t *testing.T, plan string) (*ir.Graph, *Report, error) {
	t.Helper()
	p := lowertest.Plan(t, "[fold]\nmode = \"balance\"\n"+plan)
	q, _, err := quantize.Run(context.Background(), lowertest.Classifier(t), p, quantize.Calibration{},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), q, p, Options{Options: pass.Options{Verify: true}})
}

func TestBalanceRate(t *testing.T) {
	last := 0
	for _, fps := range []float64{2e4, 1e5, 3e5, 1e6} {
		_, r, err := balanced(t, fmt.Sprintf("fps = %g", fps))
		if err != nil {
			t.Fatal(err)
		}
		b := r.Balance
		if b.Cycles != r.Interval() || b.Reached < fps || b.Reached != 250e6/b.Cycles {
			t.Errorf("%g samples a second asked for: %g cycles, %g a second", fps, b.Cycles, b.Reached)
		}
		if b.Cost.LUT < last {
			t.Errorf("%g samples a second take %d LUT, less than the slower design", fps, b.Cost.LUT)
		}
		last = b.Cost.LUT
		if b.Bottleneck == "" || b.Proof == "" || b.Cost != r.Cost() {
			t.Errorf("incomplete: %+v", b)
		}
	}
}

// TestBalanceBudget demands that the design fits, that the proof speaks of the next step, and that more buys speed.
func TestBalanceBudget(t *testing.T) {
	last := 0.0
	for _, dsp := range []int{4, 12, 60} {
		_, r, err := balanced(t, fmt.Sprintf("max_dsp = %d", dsp))
		if err != nil {
			t.Fatal(err)
		}
		b := r.Balance
		if b.Cost.DSP > dsp || !strings.Contains(b.Proof, fmt.Sprint("DSP more than max_dsp = ", dsp)) {
			t.Errorf("%d DSP: %+v", dsp, b)
		}
		if last > 0 && b.Cycles >= last {
			t.Errorf("%d DSP: %g cycles, with fewer %g", dsp, b.Cycles, last)
		}
		last = b.Cycles
	}
	if _, r, err := balanced(t, "fps = 1e5"); err != nil || r.Balance.Budget != (unit.Budget{}) {
		t.Errorf("no part is named: %v, %+v", err, r)
	}
	if _, r, err := balanced(t, ""); err != nil {
		t.Error(err)
	} else if b := r.Balance; !strings.HasPrefix(b.Proof, "no folding is faster") || b.Budget.DSP != 1276 {
		t.Errorf("the whole device: %+v", b)
	}
}

// TestBalanceFlipFlops demands that flip-flops bound a design as well, and that more of them buy speed.
func TestBalanceFlipFlops(t *testing.T) {
	last := 0.0
	for _, ff := range []int{1500, 4000} {
		_, r, err := balanced(t, fmt.Sprintf("max_ff = %d", ff))
		if err != nil {
			t.Fatal(err)
		}
		b := r.Balance
		next := strings.Contains(b.Proof, fmt.Sprint("FF more than max_ff = ", ff))
		if b.Budget != (unit.Budget{FF: ff}) || b.Cost.FF > ff || !next {
			t.Errorf("%d FF: %+v", ff, b)
		}
		if last > 0 && b.Cycles >= last {
			t.Errorf("%d FF: %g cycles, with fewer %g", ff, b.Cycles, last)
		}
		last = b.Cycles
	}
}

// TestBalanceSharing demands that layers share DSPs where these are scarce, that this buys speed, and that a plan can
// refuse it.
func TestBalanceSharing(t *testing.T) {
	cycles := map[string]float64{}
	for _, dsp := range []string{"one", "auto", ""} {
		plan := "max_dsp = 12\n"
		if dsp != "" {
			plan += fmt.Sprintf("dsp = %q\n", dsp)
		}
		g, r, err := balanced(t, plan)
		if err != nil {
			t.Fatal(err)
		}
		shared := 0
		for _, n := range g.Nodes {
			if n.HW.DSP == "pack" {
				shared++
			}
		}
		if (shared > 0) == (dsp == "one") || r.Balance.Cost.DSP > 12 {
			t.Errorf("dsp = %q: %d layers share DSPs, %+v", dsp, shared, r.Balance)
		}
		cycles[dsp] = r.Balance.Cycles
	}
	if cycles["auto"] >= cycles["one"] || cycles[""] != cycles["auto"] {
		t.Errorf("cycles with 12 DSPs: %v", cycles)
	}
}

// TestBalanceBlocks meets rates over blocks, where units compute more results at once than leave in a cycle.
func TestBalanceBlocks(t *testing.T) {
	for _, fps := range []float64{1e5, 4e5} {
		plan := fmt.Sprintf("fps = %g\n[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"", fps)
		g, r, err := balanced(t, plan)
		if err != nil {
			t.Fatal(err)
		}
		if b := r.Balance; b.Reached < fps || b.Cycles != r.Interval() {
			t.Errorf("%g samples a second asked for: %g cycles, %g a second", fps, b.Cycles, b.Reached)
		}
		side := false
		for _, n := range g.Nodes {
			side = side || n.HW.Rows > n.HW.OutLanes
		}
		if fps == 4e5 && !side {
			t.Error("no unit computes more results at once than leave in a cycle: this tests nothing")
		}
	}
}

// TestBalanceRules keeps what rules pin.
func TestBalanceRules(t *testing.T) {
	g, _, err := balanced(t, "fps = 1e5\n[[fold.rule]]\nname = \"conv2\"\nin_lanes = 18\nout_lanes = 5")
	if err != nil {
		t.Fatal(err)
	}
	if h := g.Find("conv2").HW; h.InLanes != 18 || h.OutLanes != 5 {
		t.Errorf("conv2 has %d and %d lanes", h.InLanes, h.OutLanes)
	}
	_, _, err = balanced(t, "fps = 3e5\n[[fold.rule]]\nname = \"conv2\"\nin_lanes = 1\nout_lanes = 1")
	wantError(t, err, "L0455", "conv", "in_lanes 1, out_lanes 1")
}

func TestBalanceErrors(t *testing.T) {
	_, _, err := balanced(t, "fps = 1e9")
	wantError(t, err, "L0455", "needs more than one sample per cycle", "ask for at most fps = ")
	_, _, err = balanced(t, "fps = 1e6\nmax_dsp = 3")
	wantError(t, err, "L0456", "DSP more than max_dsp = 3", "ask for at most fps = ")
	_, _, err = balanced(t, "fps = 1e6\nmax_lut = 10")
	wantError(t, err, "L0456", "LUT more than max_lut = 10", "at any rate")
	_, _, err = balanced(t, "fps = 1e6\nmax_ff = 10")
	wantError(t, err, "L0456", "FF more than max_ff = 10", "raise the bound")
	_, _, err = balanced(t, "max_lut = 10")
	wantError(t, err, "L0457", "LUT more than max_lut = 10")
}

// wantError demands an error's code and parts of its text.
func wantError(t *testing.T, err error, code diag.Code, parts ...string) {
	t.Helper()
	if diag.CodeOf(err) != code {
		t.Errorf("%v, want %s", err, code)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v: no %q", err, p)
		}
	}
}

// TestBalancePixelACycle reaches that rate where forks and depthwise convolutions lie in the way: a fork has the lanes
// that arrive and bounds nothing, and the stream into a unit may be wider than the first guess. What sets the pace has
// hardware. A part that is too small is refused with what it lacks, a rate that fits it does; bounds of the plan stand
// above the part, which is then warned of.
func TestBalancePixelACycle(t *testing.T) {
	for _, c := range []struct{ dir, first string }{{"digits-resnet", "stem.0"}, {"digits-dscnn", "body.0"}} {
		e := lowertest.Load(t, c.dir, "model.onnx")
		run := func(part string, fps int, keys string) (*Report, error) {
			p := lowertest.Plan(t, fmt.Sprintf("[target]\npart = %q\n[fold]\nmode = \"balance\"\nfps = %d\n%s", part, fps, keys))
			q, _, err := quantize.Run(context.Background(), e.Graph, p, quantize.Calibration{Samples: e.Samples},
				quantize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, r, err := Run(context.Background(), q, p, Options{})
			return r, err
		}
		const small = "xc7a35tcpg236-1"
		_, err := run(small, 3900000, "")
		wantError(t, err, "L0456", "DSP more than "+small+" has", "ask for at most fps = ", "fps = ")
		slower, err := run(small, fitting(t, err), "")
		if err != nil {
			t.Errorf("%s: the rate of the hint: %v", c.dir, err)
		} else if b, whole := slower.Balance, (unit.Budget{LUT: 20800, FF: 41600, DSP: 90, BRAM: 50}); b.Cost.DSP > 90 ||
			b.Budget != whole {
			t.Errorf("%s: within %s: %+v", c.dir, small, b)
		}
		r, err := run("xc7z020clg400-1", 3900000, "max_dsp = 10000\nmax_lut = 100000")
		if err != nil {
			t.Errorf("%s: %v", c.dir, err)
			continue
		}
		if b := r.Balance; b.Cycles != 64 || b.Bottleneck != c.first {
			t.Errorf("%s: %g cycles, of %s; want 64, of %s", c.dir, b.Cycles, b.Bottleneck, c.first)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "xc7z020 has 220 DSP, and ") {
			t.Errorf("%s: warnings: %q", c.dir, r.Warnings)
		}
		_, err = run(small, 4000000, "")
		wantError(t, err, "L0455", "fps = 4000000 leaves 62 cycles per sample", "takes at least 64 cycles")
	}
}

// fitting is the rate that the hint of an error names.
func fitting(t *testing.T, err error) (fps int) {
	t.Helper()
	_, rate, _ := strings.Cut(err.Error(), "fps = ")
	if _, err := fmt.Sscan(rate, &fps); err != nil {
		t.Fatal(err)
	}
	return fps
}

// TestBalanceUnrolls demands that layers are unrolled where that costs less: all at a vector a cycle, none where there
// is time for few multipliers or a rule says how, and none unless the plan lets the mode do so.
func TestBalanceUnrolls(t *testing.T) {
	for _, c := range []struct {
		about, plan string
		unrolled    int
	}{
		{"a vector a cycle", "fps = 250e6\n[unroll]\nauto = true\nstage_levels = 8.0", 2},
		{"much time", "fps = 1e6\n[unroll]\nauto = true", 0},
		{"a rule", "fps = 250e6\n[unroll]\nauto = true\n[[fold.rule]]\nname = \"fc2\"\nin_lanes = 12\nout_lanes = 5", 1},
		{"not allowed", "fps = 250e6", 0},
	} {
		b := lowertest.New(t, 2)
		y := b.Add(pointwise.Relu, "relu", nil, b.Linear("fc1", b.Input("x", 1, 16), 12, true))
		p := lowertest.Plan(t, "[fold]\nmode = \"balance\"\n"+c.plan)
		q, _, err := quantize.Run(context.Background(), b.Done(b.Linear("fc2", y, 5, true)), p, quantize.Calibration{},
			quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, r, err := Run(context.Background(), q, p, Options{Options: pass.Options{Verify: true}})
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		unrolled := 0
		for _, n := range g.Nodes {
			if n.HW.Style == ir.StyleUnroll {
				unrolled++
			}
		}
		if unrolled != c.unrolled || unrolled == 2 && r.Balance.Cost.DSP > 0 {
			t.Errorf("%s: %d layers are unrolled, want %d; %+v", c.about, unrolled, c.unrolled, r.Balance.Cost)
		}
	}
}
