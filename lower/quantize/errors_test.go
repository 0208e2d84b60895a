// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/text"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// long is an axis whose running sums have no hardware.
const long = 200

// TestRefuseSums: the error of an operation without an integer form says where the model may end.
func TestRefuseSums(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Add(pointwise.Relu, "r", nil, b.Input("x", 1, long))
	g := b.Done(b.Add(whole.CumSum, "n", &whole.CumSumAttrs{Axis: 1}, x))
	_, _, err := Run(t.Context(), g, plan.Default(), Calibration{}, Options{})
	want := `cumsum (node "n") has no integer form in this version` + "\n  hint: end the model at what stands in front: " +
		"--outputs r, or stay in float"
	if diag.CodeOf(err) != "L0410" || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// TestRefuseMany: many nodes of one operation share an error, and the hint is no page of names.
func TestRefuseMany(t *testing.T) {
	b := lowertest.New(t, 1)
	y := b.Input("x", 1, long)
	for i := range 20 {
		y = b.Add(whole.CumSum, fmt.Sprintf("n%d", i), &whole.CumSumAttrs{Axis: 1}, y)
	}
	_, _, err := Run(t.Context(), b.Done(y), plan.Default(), Calibration{}, Options{})
	if text := fmt.Sprint(err); strings.Count(text, "L0410") != 1 ||
		!strings.Contains(text, "the same holds for 19 more nodes\n  hint: leave these 20 nodes out of the model, or") {
		t.Error(err)
	}
}

// TestRefuseValues: weights that are inputs, or computed from them, have no place in hardware.
func TestRefuseValues(t *testing.T) {
	b := lowertest.New(t, 1)
	w := b.Input("w", 3, 4)
	y := b.Add(sum.Linear, "fc", nil, b.Input("x", 1, 4), b.Add(pointwise.Relu, "positive", nil, w))
	_, _, err := Run(t.Context(), b.Done(y), plan.Default(), Calibration{}, Options{})
	want := `argument 1 of linear (node "fc") is computed from inputs ("positive"); in hardware it is a constant` +
		"\n  hint: --bind F.npz makes constants of inputs"
	if diag.CodeOf(err) != "L0315" || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

func TestQuantizeErrors(t *testing.T) {
	relu := func(b *lowertest.Builder, x *ir.Node) *ir.Node { return b.Add(pointwise.Relu, "r", nil, x) }
	fc := func(b *lowertest.Builder, x *ir.Node) *ir.Node { return b.Linear("fc", x, 2, true) }
	rule := func(keys string) string { return "[[quantize.rule]]\nname = \"*\"\n" + keys }
	for _, c := range []struct {
		name              string
		build             func(b *lowertest.Builder, x *ir.Node) *ir.Node
		plan, codes, part string
	}{
		{"sorting", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			a := whole.TopKAttrs{Axis: 1, K: 4, Largest: true}
			return b.Add(whole.TopKValues, "s2", &a, b.Add(whole.TopKValues, "s1", &a, x))
		}, "", "L0410 L0410", `hint: leave "s1", "s2" out of the model, or stay in float: run and emit-cuda do`},
		{"attention", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			y := b.Add(move.Reshape, "heads", &move.ReshapeAttrs{Shape: []int{1, 1, 2, 2}}, x)
			return b.Add(sequence.Attention, "a", &sequence.AttentionAttrs{Softcap: 3}, y, y, y)
		}, "", "L0410", `attention (node "a") has no integer form`},
		{"skip", relu, rule("skip = true"), "L0409 L0409", "set by plan.toml:1"},
		{"skip behind a rule for formats", relu, rule("data_out = \"fixed(8)\"") + "\n" + rule("skip = true"),
			"L0409 L0409", "set by plan.toml:4"},
		{"skip of all but one", relu, "[[quantize.rule]]\nname = \"r\"\nskip = false\n" + rule("skip = true"), "L0409",
			"x (input): L0409"},
		{"wide blocks of data", relu, rule("data_out = \"mxint(20,32)\""), "L0406",
			"elements of blocks have 2 to 16 bits here, not 20\n" +
				"  note: set by plan.toml:3 [[quantize.rule]] name = \"*\"\n  note: the same holds for one more node\n" +
				"  hint: formats that work: fixed(8), ufixed(8)"},
		{"a wide float", fc, rule("data_in = \"float(8,3)\""), "L0406", "take 259 bits, counted in its smallest step"},
		{"wide blocks of weights", fc, rule("weight = \"mxint(20,32)\""), "L0406",
			"hint: formats that work: fixed(8), int(8), int(8)*[0], fixed(8,4)"},
		{"fp32", fc, rule("data_in = \"fp32\""), "L0406", "stay float"},
		{"scales on data", relu, "[quantize]\ndata = \"int(8)*[0]\"", "L0406", "for weights"},
		{"scales along inputs", fc, rule("weight = \"int(8)*[1]\""), "L0406", "output channel"},
		{"wide table", wideArgument, "[quantize]\ndata = \"fixed(20)\"", "L0407", "up to 16 bits"},
		{"wide argument", wideArgument, "[[quantize.rule]]\nname = \"s\"\ndata_in = \"fixed(20)\"", "L0407",
			"note: data_in (\"r\") fixed(20,"},
		{"argmax of fractions", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(reduce.ArgMax, "a", &reduce.ArgMaxAttrs{Axis: 1}, x)
		}, "[[quantize.rule]]\nop = \"argmax\"\ndata_out = \"fixed(8,4)\"", "L0407", "plan.toml:3"},
		{"a pad of -inf", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(move.Pad, "p", &move.PadAttrs{Axis: 1, Before: 1, Value: float32(math.Inf(-1))}, x)
		}, "", "L0408", "pads with -Inf"},
		{"infinite weight", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			w := b.Const([]int{4}, 1, 2, float32(math.Inf(1)), 1)
			return b.Add(sum.Scale, "s", &column.ScaleAttrs{Axis: 1}, x, w, b.Random(1, 4))
		}, "", "L0408", "of shape 4, holds +Inf at flat index 2"},
		{"unknown input", relu, "[[input]]\nname = \"X\"\nrange = [0, 1]", "L0403", `did you mean "x"`},
		{"unknown output", relu, "[[output]]\nname = \"z9\"", "L0403", `it has "y0"`},
	} {
		b := lowertest.New(t, 6)
		g := b.Done(c.build(b, b.Input("x", 1, 4)))
		_, _, err := Run(context.Background(), g, lowertest.Plan(t, c.plan), samples(g, -1, 1, 3), Options{})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if got := strings.Join(codes(err), " "); got != c.codes || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: want %s with %q, got\n%v", c.name, c.codes, c.part, err)
		}
	}
}

func wideArgument(b *lowertest.Builder, x *ir.Node) *ir.Node {
	return b.Add(curve.Exp, "s", nil, b.Add(pointwise.Relu, "r", nil, x))
}

// Codes lists the codes of an error.
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

func TestCalibrationErrors(t *testing.T) {
	g := lowertest.Network(t)
	for _, c := range []struct {
		name   string
		change func(c *Calibration)
		code   diag.Code
		part   string
	}{
		{"shape", func(c *Calibration) { c.Samples["x"][1] = ir.NewTensor(ir.Float(1, 5)) }, "L0404",
			"1x5, the model takes 1x4"},
		{"NaN", func(c *Calibration) { c.Samples["x"][2].Floats[3] = float32(math.NaN()) }, "L0404",
			`sample 2 of input "x" holds NaN at element 3`},
		{"name", func(c *Calibration) { c.Samples["X"] = c.Samples["x"]; delete(c.Samples, "x") }, "L0403",
			`did you mean "x"`},
	} {
		calib := samples(g, -1, 1, 4)
		c.change(&calib)
		_, _, err := Run(context.Background(), g, plan.Default(), calib, Options{})
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	done := &ir.Graph{Stage: ir.StageQuantized}
	if _, _, err := Run(context.Background(), done, plan.Default(), Calibration{},
		Options{}); diag.CodeOf(err) != "L0411" {
		t.Errorf("quantized twice: %v", err)
	}
}

// TestBlocksOfScalar: a plan with blocks for all data names the value that has no axis.
func TestBlocksOfScalar(t *testing.T) {
	b := lowertest.New(t, 6)
	x := b.Add(reduce.Sum, "s", &reduce.Attrs{Axes: []int{0, 1}}, b.Input("x", 1, 4))
	g := b.Done(b.Add(pointwise.Relu, "r", nil, b.Add(move.Reshape, "one", &move.ReshapeAttrs{Shape: []int{}}, x)))
	plan := lowertest.Plan(t, "[quantize]\ndata = \"mxint8\"")
	_, _, err := Run(context.Background(), g, plan, samples(g, -1, 1, 3), Options{})
	if diag.CodeOf(err) != "L0406" || !strings.Contains(err.Error(), "a scalar has no axis for blocks") {
		t.Error(err)
	}
}

// TestBlockAxes: blocks of weights along the axis before the last are tiles, and other axes are refused by name.
func TestBlockAxes(t *testing.T) {
	quantized := func(plan string) (*ir.Graph, error) {
		b := lowertest.New(t, 6)
		g := b.Done(b.Linear("fc", b.Input("x", 1, 4), 6, true))
		q, _, err := Run(context.Background(), g, lowertest.Plan(t, "[quantize]\n"+plan), samples(g, -1, 1, 3),
			Options{})
		return q, err
	}
	axis, err := quantized("weight = \"mxint(6,3,axis=0)\"")
	tiles, tilesErr := quantized("weight = \"mxint(6,3x1)\"")
	if err != nil || tilesErr != nil || text.Print(axis) != text.Print(tiles) {
		t.Errorf("%v, %v", err, tilesErr)
	}
	for plan, want := range map[string]string{
		"weight = \"bfp(6,3,8,axis=2)\"": "blocks of weights lie along one of the last two axes of 6x4",
		"data = \"mxint(6,2,axis=0)\"":   "blocks of data lie along the last axis, 1",
	} {
		if _, err := quantized(plan); diag.CodeOf(err) != "L0406" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", plan, err)
		}
	}
}

// TestErrorsAsked measures no more errors than the caller asks for.
func TestErrorsAsked(t *testing.T) {
	for _, asked := range []Errors{Accumulated, Alone, Unmeasured} {
		_, r, err := Run(t.Context(), lowertest.Network(t), plan.Default(), Calibration{}, Options{Errors: asked})
		if err != nil {
			t.Fatal(err)
		}
		if measured := len(r.Nodes) > 0 && len(r.Outputs) > 0; measured != (asked != Unmeasured) {
			t.Errorf("asked %d: %d nodes and %d outputs", asked, len(r.Nodes), len(r.Outputs))
		}
		for _, v := range r.Nodes {
			if (v.Alone != nil) != (asked == Alone) {
				t.Errorf("asked %d: %s alone: %v", asked, v.Name, v.Alone)
			}
		}
	}
}
