// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/window"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/quantize"
)

// eleven is a residual network of 11 and 22 channels on images of 8x8, for ten classes.
func eleven(t *testing.T) *ir.Graph {
	b := lowertest.New(t, 5)
	relu := func(name string, x *ir.Node) *ir.Node { return b.Add(pointwise.Relu, name, nil, x) }
	x := relu("relu1", b.Conv("stem", b.Input("x", 1, 1, 8, 8), 11, 3, 1, 1, 1, true))
	y := relu("relu2", b.Conv("first", x, 11, 3, 1, 1, 1, true))
	x = relu("relu3", b.Add(pointwise.Add, "sum", nil, b.Conv("second", y, 11, 3, 1, 1, 1, true), x))
	x = relu("relu4", b.Conv("third", x, 22, 3, 2, 1, 1, true))
	x = b.Add(window.GlobalAvgPool, "mean", &window.GlobalAttrs{}, x)
	return b.Done(b.Linear("last", b.Flatten("flat", x), 10, true))
}

// weighed is the design of a network at a rate: its cycles and what it weighs, with dead channels where they pay and
// without any.
func weighed(t *testing.T, g *ir.Graph, fps float64) (padded, plain *outcome, weight func(*outcome) float64) {
	t.Helper()
	p := lowertest.Plan(t, fmt.Sprintf("[fold]\nmode = \"balance\"\nfps = %g\n", fps))
	q, _, err := quantize.Run(context.Background(), g, p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluator{ctx: t.Context(), plan: p, graph: q}
	if padded, err = e.balanced(); err != nil {
		t.Fatal(err)
	}
	if plain, err = e.find(&balancing{balancer: newBalancer(e)}); err != nil {
		t.Fatal(err)
	}
	b := newBalancer(e)
	return padded, plain, func(o *outcome) float64 { return b.weights().Of(o.cost) }
}

// TestPaddedCurve walks the designs of 11 channels from one rate to the next higher one: no step is larger than 1.6x,
// in cycles or in what a design weighs, and none weighs more than with the channels as they are.
func TestPaddedCurve(t *testing.T) {
	const clock, most = 250e6, 1.6
	g := eleven(t)
	lastCycles, lastWeight, plainStep := 0.0, 0.0, 0.0
	for limit := 20736.0; limit >= 3168; {
		padded, plain, of := weighed(t, g, clock/limit)
		cycles, weight := padded.report.Interval(), of(padded)
		if weight > of(plain) || cycles > limit {
			t.Errorf("%g cycles: %g and weighs %g, with the channels as they are %g", limit, cycles, weight, of(plain))
		}
		if lastCycles > 0 && (lastCycles/cycles > most || weight/lastWeight > most) {
			t.Errorf("from %g to %g cycles, and from weight %g to %g", lastCycles, cycles, lastWeight, weight)
		}
		t.Logf("%6g cycles: %s, weight %.4f; %6g cycles, weight %.4f, as they are; %v", cycles,
			fmt.Sprintf("%+v", padded.cost), weight, plain.report.Interval(), of(plain), padded.report.Pads)
		plainStep = math.Max(plainStep, limit/plain.report.Interval())
		lastCycles, lastWeight, limit = cycles, weight, cycles-1
	}
	if plainStep < 2 {
		t.Errorf("without dead channels the steps are %gx at most: this network shows nothing", plainStep)
	}
}

// TestPadRules pads layers by rules, with every pass verified: joined with others, before a depthwise convolution, in
// front of a flattened linear, in formats with zero points and in floats of few bits.
func TestPadRules(t *testing.T) {
	b := lowertest.New(t, 5)
	x := b.Add(pointwise.Relu, "relu", nil, b.Conv("stem", b.Input("x", 1, 2, 5, 5), 5, 3, 1, 1, 1, true))
	y := b.Conv("depthwise", x, 5, 3, 1, 1, 5, true)
	y = b.Add(pointwise.Add, "sum", nil, b.Conv("pointwise", y, 5, 1, 1, 0, 1, false), x)
	halves := lowertest.Window(2, 2, 2, 0)
	y = b.Add(window.MaxPool, "pool", &halves, y)
	g := b.Done(b.Linear("last", b.Flatten("flat", y), 3, true))
	for _, formats := range []string{"", "[quantize]\ndata = \"int(8)\"\nweight = \"int(6)*[0]\"\n",
		"[quantize]\ndata = \"float(4,3)\"\nweight = \"float(3,2)\"\n"} {
		p := lowertest.Plan(t, formats+"[[fold.rule]]\nname = \"stem\"\npad_channels = 6\nout_lanes = 2\n")
		q, _, err := quantize.Run(t.Context(), g, p, quantize.Calibration{}, quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, r, err := Run(t.Context(), q, p, Options{Options: pass.Options{Verify: true}})
		if err != nil {
			t.Fatal(err)
		}
		stem, deep := c.Find("stem"), c.Find("depthwise")
		if stem.Type.Row() != 6 || stem.HW.OutLanes != 2 || deep.Type.Row() != 6 || c.Find("last").Type.Row() != 3 ||
			r.Pads["stem"] != 6 {
			t.Errorf("%s%v: %v and %v", formats, r.Pads, stem.Type, deep.Type)
		}
	}
}

// TestPadRefused names layers that cannot have dead channels.
func TestPadRefused(t *testing.T) {
	for _, c := range []struct{ fold, rule, want string }{
		{"", "name = \"last\"\npad_channels = 12", "L0445: pad_channels = 12: its 10 channels stay: they are"},
		{"", "name = \"first\"\npad_channels = 9", "L0412: pad_channels = 9: it computes 11 channels already"},
		{"", "name = \"first\"\npad_channels = 23", "L0445: pad_channels = 23: words of memories would hold more dead"},
		{"", "name = \"sum\"\npad_channels = 12", "L0445: pad_channels: add computes no channels of its own"},
		{"", "name = \"stem\"\npad_channels = 12\n[[fold.rule]]\nname = \"second\"\npad_channels = 14",
			"L0445: pad_channels = 14: its channels are those of stem, which gets 1 dead ones"},
		{"[fold]\nlayers = \"loop\"\n", "name = \"first\"\npad_channels = 12", "L04"},
	} {
		p := lowertest.Plan(t, c.fold+"[[fold.rule]]\n"+c.rule+"\n")
		q, _, err := quantize.Run(t.Context(), eleven(t), p, quantize.Calibration{}, quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = Run(t.Context(), q, p, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}

// TestPaddedBudget has dead channels buy speed within a budget.
func TestPaddedBudget(t *testing.T) {
	p := lowertest.Plan(t, "[fold]\nmode = \"balance\"\nmax_dsp = 30\n")
	q, _, err := quantize.Run(t.Context(), eleven(t), p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := Run(t.Context(), q, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Balance
	if b.Cycles > 5000 || b.Cost.DSP > 30 || r.Pads["stem"] != 12 || len(r.Notes) == 0 { // 17,424 as they are
		t.Errorf("%+v, %v, %v", b, r.Pads, r.Notes)
	}
}
