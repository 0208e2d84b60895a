// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// lanesOf prints in>stream>out lanes of every node in order, constants left out; plain nodes as one number.
func lanesOf(g *ir.Graph) string {
	var parts []string
	for _, n := range g.Nodes {
		h := n.HW
		switch {
		case n.IsConst():
			continue
		case h.InLanes == h.OutLanes && h.StreamIn == h.InLanes:
			parts = append(parts, fmt.Sprintf("%s %d", n.Op.Name, h.InLanes))
		case h.StreamIn == h.InLanes:
			parts = append(parts, fmt.Sprintf("%s %d>%d", n.Op.Name, h.InLanes, h.OutLanes))
		default:
			parts = append(parts, fmt.Sprintf("%s %d(%d)>%d", n.Op.Name, h.StreamIn, h.InLanes, h.OutLanes))
		}
	}
	return strings.Join(parts, ", ")
}

func classifier(t *testing.T) *ir.Graph { return lowertest.Classifier(t) }

// decided quantizes, chooses lanes and inserts adapters; module headers are not asked.
func decided(t *testing.T, g *ir.Graph, plan string) (*ir.Graph, *Report, error) {
	t.Helper()
	p := lowertest.Plan(t, plan)
	for _, n := range g.Nodes {
		if n.Op == pointwise.Relu || n.Op == pointwise.Clip { // with these bounds it keeps a unit
			n.Op, n.Attrs = pointwise.Clip, &pointwise.ClipAttrs{Min: -1, Max: 6}
		}
	}
	q, _, err := quantize.Run(context.Background(), g, p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		return nil, &Report{}, err
	}
	s := newStage(context.Background(), p, nil)
	return q, s.report, pass.Run(s.runner(q, pass.Options{Verify: true}), s, Pipeline.Upto("insert_adapters"), q)
}

func TestLanes(t *testing.T) {
	mlp := func(t *testing.T) *ir.Graph {
		b := lowertest.New(t, 2)
		x := b.Add(pointwise.Relu, "relu", nil, b.Linear("fc1", b.Input("x", 1, 16), 12, true))
		return b.Done(b.Linear("fc2", x, 5, true))
	}
	for _, c := range []struct {
		name, plan string
		g          func(*testing.T) *ir.Graph
		want       string
	}{
		{"mlp, folded", "", mlp, "input 8, linear 8>4, clip 4, widen 4>12, narrow 12>6, fifo 6, linear 6>1"},
		{"mlp, unrolled", "[fold]\nmode = \"unroll\"", mlp, "input 16, linear 16>12, clip 12, linear 12>5"},
		{"one layer unrolled", "[[fold.rule]]\nname = \"fc2\"\nstyle = \"unroll\"", mlp,
			"input 8, linear 8>4, clip 4, widen 4>12, linear 12>5"},
		{"one layer folded", "[fold]\nmode = \"unroll\"\n[[fold.rule]]\nname = \"fc1\"\nin_lanes = 2\nout_lanes = 3", mlp,
			"input 2, linear 2>3, clip 3, widen 3>12, linear 12>5"},
		{"lanes of a map", "[[fold.rule]]\nop = \"clip\"\nin_lanes = 2", mlp,
			"input 8, linear 8>4, narrow 4>2, clip 2, widen 2>6, fifo 6, linear 6>1"},
		{"lanes of the input", "[[fold.rule]]\nop = \"input\"\nout_lanes = 1", mlp,
			"input 1, widen 1>8, fifo 8, linear 8>4, clip 4, widen 4>12, narrow 12>6, fifo 6, linear 6>1"},
		{"cnn, folded", "", classifier,
			"input 3, conv 3, clip 3, maxpool 3, conv 3(6)>2, clip 2, reshape 2, widen 2>8, fifo 8, linear 8>1"},
		{"cnn, unrolled", "[fold]\nmode = \"unroll\"", classifier,
			"input 3, conv 3(27)>6, clip 6, maxpool 6, conv 6(54)>10, clip 10, reshape 10, widen 10>40, linear 40>7"},
		{"depthwise", "", func(t *testing.T) *ir.Graph {
			b := lowertest.New(t, 3)
			x := b.Conv("point", b.Input("x", 1, 3, 6, 6), 8, 1, 1, 0, 1, true)
			return b.Done(b.Conv("depth", x, 8, 3, 1, 1, 8, true))
		}, "input 3, conv 3>4, conv 4"},
		{"forks", "", func(t *testing.T) *ir.Graph {
			b := lowertest.New(t, 3)
			x := b.Add(pointwise.Relu, "relu", nil, b.Input("x", 1, 12))
			flat := b.Add(move.Reshape, "flat", &move.ReshapeAttrs{Shape: []int{12}}, x)
			return b.Done(b.Linear("a", x, 4, true), x, b.Linear("b", flat, 4, true), flat)
		}, "input 6, clip 6, fork 6, reshape 6, fork 6, linear 6>4, linear 6>4"},
		{"pixels in parallel", "[[fold.rule]]\nname = \"conv1\"\nin_lanes = 9\nout_lanes = 6\n" +
			"[[fold.rule]]\nop = \"linear\"\nout_lanes = 7", classifier,
			"input 3, conv 3(9)>6, clip 6, maxpool 6, conv 6>2, clip 2, reshape 2, widen 2>8, linear 8>7"},
	} {
		g, report, err := decided(t, c.g(t), c.plan)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := lanesOf(g)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if len(report.Warnings) > 0 {
			t.Errorf("%s: %q", c.name, report.Warnings)
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, c := range []struct {
		name, plan string
		g          func(*testing.T) *ir.Graph
		codes      string
		text       string
	}{
		{"out_lanes", "[[fold.rule]]\nname = \"conv2\"\nout_lanes = 4", classifier, "L0412",
			"m.onnx: conv2: L0412: out_lanes 4 does not divide 10 output channels\n" +
				"  note: set by plan.toml:1 [[fold.rule]] name = \"conv2\"\n  hint: use 2 or 5"},
		{"in_lanes of the first linear", "[[fold.rule]]\nop = \"linear\"\nin_lanes = 50", classifier, "L0412", "use 40"},
		{"half pixels", "[[fold.rule]]\nname = \"conv1\"\nin_lanes = 2", classifier, "L0412", "use 1 or 3"},
		{"too many", "[[fold.rule]]\nname = \"conv1\"\nin_lanes = 100", classifier, "L0412", "hint: use 27"},
		{"odd lanes", "[[fold.rule]]\nname = \"conv1\"\nout_lanes = 3\ndsp = \"pack\"", classifier, "L0418",
			"conv1: L0418: dsp = \"pack\": out_lanes 3 are no multiple of 2, so many share a DSP\n" +
				"  note: set by plan.toml:1 [[fold.rule]] name = \"conv1\"\n  hint: choose a multiple of 2 as out_lanes"},
		{"no weights", "[[fold.rule]]\nname = \"relu1\"\nweights = \"hold\"", classifier, "L0419",
			"relu1: L0419: weights = \"hold\": clip has no weights that a memory holds\n" +
				"  note: set by plan.toml:1 [[fold.rule]] name = \"relu1\"\n  hint: leave weights out of the rule"},
		{"weights of logic", "[[fold.rule]]\nname = \"fc\"\nstyle = \"unroll\"\nweights = \"stream\"", classifier, "L0419",
			"its weights are constants in the logic of an unrolled unit"},
		{"pool", "[[fold.rule]]\nname = \"pool\"\nin_lanes = 4", classifier, "L0412",
			"in_lanes 4 does not divide 6 channels"},
		{"map", "[[fold.rule]]\nname = \"relu1\"\nin_lanes = 4\nout_lanes = 2", classifier, "L0412",
			"as many lanes in as out"},
		{"no hardware", "", func(t *testing.T) *ir.Graph {
			b := lowertest.New(t, 4)
			soft := *pointwise.Relu
			soft.RTL = nil
			return b.Done(b.Add(&soft, "arg", nil, b.Input("x", 1, 4)))
		}, "L0414", `leave "arg" out of the model, or run it with --engine ref`},
	} {
		_, _, err := decided(t, c.g(t), c.plan)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if got := strings.Join(codes(err), " "); got != c.codes || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: want %s with %q, got\n%v", c.name, c.codes, c.text, err)
		}
	}
	_, r, err := decided(t, lowertest.Classifier(t), "[[fold.rule]]\nname = \"none\"\nin_lanes = 1")
	if err != nil || len(r.Warnings) != 1 {
		t.Errorf("a rule that matches nothing: %v, %q", err, r.Warnings)
	}
	b := lowertest.New(t, 5)
	b.Input("unused", 1, 4)
	_, r, err = decided(t, b.Done(b.Add(pointwise.Relu, "r", nil, b.Input("x", 1, 4))), "")
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `"unused" is read by nothing`) {
		t.Errorf("an input that nobody reads: %v, %q", err, r.Warnings)
	}
	if _, _, err := Run(context.Background(), lowertest.Network(t), plan.Default(),
		Options{}); codes(err)[0] != "L0411" {
		t.Errorf("float graph: %v", err)
	}
}

// TestUnits schedules a network of modules that exist and reads their headers.
func TestUnits(t *testing.T) {
	p := plan.Default()
	q, _, err := quantize.Run(context.Background(), lowertest.Network(t), p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, r, err := Run(context.Background(), q, p, Options{Options: pass.Options{Verify: true}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Stage != ir.StageScheduled || q.Stage != ir.StageQuantized {
		t.Errorf("stages %s, %s", s.Stage, q.Stage)
	}
	var got []string
	for _, u := range r.Units {
		got = append(got, u.Node+" "+u.Module)
		n := s.Find(u.Node)
		if u.II < 1 || n.HW.II != u.II || n.HW.Latency != u.Latency || u.Module != "" && u.Latency < 1 {
			t.Errorf("%+v", u)
		}
	}
	if want := "x , fc1 op_linear, fc2 op_linear"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	if r.II() != 1 {
		t.Errorf("initiation interval %d", r.II())
	}
}

// TestLanesSweep gives random networks random lanes: wherever the plan is accepted, neighbours agree on the beat, and
// beats divide the frame.
func TestLanesSweep(t *testing.T) {
	accepted := 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 5))
		plan := fmt.Sprintf("[fold]\nmode = %q\n", []string{"fold", "unroll"}[r.IntN(2)])
		for _, o := range []string{"conv", "linear", "maxpool", "clip", "scale"} {
			if r.IntN(3) == 0 {
				plan += fmt.Sprintf("[[fold.rule]]\nop = %q\n%s_lanes = %d\n", o, []string{"in", "out"}[r.IntN(2)], 1+r.IntN(4))
			}
		}
		g, _, err := decided(t, lowertest.RandomCNN(t, seed), plan)
		if err != nil {
			if c := codes(err)[0]; c != "L0412" && c != "L0414" && c != "L0415" && c != "L0407" {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		accepted++
		for _, n := range g.Nodes {
			if n.IsConst() {
				continue
			}
			if n.Type.Elems()%n.HW.OutLanes != 0 {
				t.Errorf("seed %d: %s: %d lanes for %d elements", seed, n.Name, n.HW.OutLanes, n.Type.Elems())
			}
			for _, a := range n.Args {
				if !a.IsConst() && a.HW.OutLanes != n.HW.StreamIn {
					t.Errorf("seed %d: %s gives %d lanes, %s takes %d", seed, a.Name, a.HW.OutLanes, n.Name, n.HW.StreamIn)
				}
			}
		}
	}
	if accepted < 15 {
		t.Errorf("only %d networks were accepted", accepted)
	}
}

// codes are those of the errors in err.
func codes(err error) []string {
	var l diag.List
	if errors.As(err, &l) {
		var out []string
		for _, e := range l {
			out = append(out, string(e.Code))
		}
		return out
	}
	return []string{string(diag.CodeOf(err))}
}
