// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize/fit"
	"lathe/rtl/cmvm"
)

// roundedPlan is a plan with weights in a format, rounded in a way.
func roundedPlan(t *testing.T, weight string, way plan.Rounding) *plan.Plan {
	t.Helper()
	plan, err := plan.Parse("plan.toml", fmt.Appendf(nil, "[quantize]\ndata = \"fixed(10)\"\nunsigned = true\n"+
		"weight = %q\nround_weights = %q\n", weight, way))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestRoundWeights: outputs gain, nothing but codes of weights changes, and those are ones that encoding could have
// made: of integers, of a format that sums read as integers, of scales fitted to channels, and of blocks.
func TestRoundWeights(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ model, weight string }{{"digits-cnn", "fixed(3)"}, {"digits-dscnn", "fixed(4)"},
		{"jets-mlp", "float(2,1)"}, {"jets-mlp", "ternary*[0]"}, {"jets-mlp", "mxint(3,8)"}} {
		e := load(t, c.model, "model.onnx")
		plain, _, err := Run(ctx, e.Graph, roundedPlan(t, c.weight, plan.RoundNearest), e.calib, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range []plan.Rounding{plan.RoundGPTQ, plan.RoundAdaRound} {
			if way == plan.RoundAdaRound && c.model != "jets-mlp" {
				continue // which takes a while
			}
			g, report, err := Run(ctx, e.Graph, roundedPlan(t, c.weight, way), e.calib, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var layers, samples int
			var before, after float64
			for _, s := range report.Notes {
				_, _ = fmt.Sscanf(s, "weights of %d layers are rounded by "+way.String()+": SQNR of the outputs %f dB before, "+
					"%f dB after, on %d calibration samples", &layers, &before, &after, &samples)
			}
			if layers < 3 || after < before+1 || report.Loose == 0 {
				t.Errorf("%v %s: %q", c, way, report.Notes)
			}
			onlyWeights(t, plain, g, c.weight)
		}
	}
}

// onlyWeights: g differs from plain in codes of weights, each of which plain has somewhere in the same layer.
func onlyWeights(t *testing.T, plain, g *ir.Graph, weight string) {
	t.Helper()
	f, err := format.Parse(weight)
	if err != nil {
		f = format.Fixed{W: 1} // an open format, of which all codes occur
	}
	for _, n := range g.Nodes {
		m := plain.Find(n.Name)
		if m == nil || !m.Type.SameFormat(n.Type) || !slices.Equal(m.Type.Scales, n.Type.Scales) {
			t.Fatalf("%s has changed", n.Name)
		}
		if !n.IsConst() {
			continue
		}
		a, err := m.Value()
		if err != nil {
			t.Fatal(err)
		}
		b, err := n.Value()
		if err != nil {
			t.Fatal(err)
		}
		if is := strings.HasSuffix(n.Name, ".weight"); slices.Equal(a.Codes, b.Codes) == is {
			t.Errorf("%s: same codes %v", n.Name, is)
		}
		codes := map[int64]bool{}
		for _, c := range a.Codes {
			codes[c] = true
		}
		values, err := b.Decode()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range b.Codes {
			v := format.FromFloat64(values[i])
			if !codes[c] && len(a.Codes) > 1000 && f.Decode(f.Encode(v)).Cmp(v) != 0 {
				t.Errorf("%s, %s: encoding makes no code %d", n.Name, weight, c)
			}
		}
	}
}

// TestWindows: weights times windows are what convolutions compute, with strides, pads and groups.
func TestWindows(t *testing.T) {
	for _, model := range []string{"digits-cnn", "digits-dscnn", "digits-resnet"} {
		e := load(t, model, "model.onnx")
		g, err := float.Simplify(context.Background(), e.Graph, pass.Options{})
		if err != nil {
			t.Fatal(err)
		}
		samples, err := e.calib.arrange(e.Graph)
		if err != nil {
			t.Fatal(err)
		}
		w := newWalk(t.Context(), g, samples[:2])
		seen := 0
		for _, m := range g.Nodes {
			if !multiplies(m) {
				continue
			}
			seen++
			in, err := w.read(m)
			if err != nil {
				t.Fatal(err)
			}
			x, err := in[1].Decode()
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.through(m)
			if err != nil {
				t.Fatal(err)
			}
			matches(t, m, x, want[1].Floats)
		}
		if seen < 3 {
			t.Errorf("%s: %d layers", model, seen)
		}
	}
}

// matches computes m, whose input has values x, by its windows.
func matches(t *testing.T, m *ir.Node, x []float64, want []float32) {
	t.Helper()
	weights, err := m.Args[1].Value()
	if err != nil {
		t.Fatal(err)
	}
	bias, err := m.Args[2].Value()
	if err != nil {
		t.Fatal(err)
	}
	shape := m.Args[1].Type.Shape
	columns := m.Args[1].Type.Elems() / shape[0]
	in := m.Args[0].Type.Shape
	groups := in[len(in)-1] / shape[len(shape)-1]
	layers := make([]*fit.Layer, groups)
	for i := range layers {
		layers[i] = &fit.Layer{Rows: shape[0] / groups, Cols: columns}
	}
	windows, err := windowsOf(m, layers)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		place, c := i/shape[0], i%shape[0]
		window := windows[(place*groups+c/(shape[0]/groups))*columns:][:columns]
		sum := float64(bias.Floats[c*len(bias.Floats)/shape[0]])
		for k, at := range window {
			if at > 0 {
				sum += x[at-1] * float64(weights.Floats[c*columns+k])
			}
		}
		if math.Abs(sum-float64(v)) > 1e-4*(1+math.Abs(sum)) {
			t.Fatalf("%s: element %d is %g, by windows %g", m.Name, i, v, sum)
		}
	}
}

// TestRoundWeightsLeft: weights of many bits stay nearest, and the report says so.
func TestRoundWeightsLeft(t *testing.T) {
	e := load(t, "jets-mlp", "model.onnx")
	_, report, err := Run(t.Context(), e.Graph, roundedPlan(t, "fixed(14)", plan.RoundGPTQ), e.calib, Options{})
	if err != nil || !slices.ContainsFunc(report.Notes, func(s string) bool {
		return strings.HasPrefix(s, "weights stay nearest of ")
	}) {
		t.Errorf("%q, %v", report.Notes, err)
	}
	if _, ok := format.GridOf(format.Fixed{W: 12}, format.Fixed{W: 12}); !ok {
		t.Error("12 bits have no grid")
	}
}

// TestRoundDigits: weights of an unrolled model have less than half of their digits at the price that is found, with
// codes that encoding could have made and biases that keep the means; nothing else changes.
func TestRoundDigits(t *testing.T) {
	e := load(t, "jets-mlp", "model.onnx")
	run := func(text string) (*ir.Graph, *Report, error) {
		p, err := plan.Parse("plan.toml", []byte("[fold]\nmode = \"unroll\"\n[quantize]\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		return Run(t.Context(), e.Graph, p, e.calib, Options{})
	}
	plain, _, err := run("")
	if err != nil {
		t.Fatal(err)
	}
	g, report, err := run("round_weights = \"digits\"\n")
	if err != nil {
		t.Fatal(err)
	}
	var price, digits, before, sqnr, kept float64
	for _, s := range report.Notes {
		_, _ = fmt.Sscanf(s, "weights of 4 layers are rounded by digits, at a price of %f: %f digits in place of %f: "+
			"SQNR of the outputs %f dB before, %f dB after", &price, &digits, &before, &sqnr, &kept)
	}
	if price == 0 || digits > before/2 || kept < keptDecibels {
		t.Errorf("price %g, %g digits of %g, %g dB: %q", price, digits, before, kept, report.Notes)
	}
	counted := 0
	for _, n := range g.Nodes {
		m := plain.Find(n.Name)
		if m == nil || !m.Type.SameFormat(n.Type) || !slices.Equal(m.Type.Scales, n.Type.Scales) {
			t.Fatalf("%s has changed", n.Name)
		}
		if !n.IsConst() || !strings.HasSuffix(n.Name, ".weight") {
			continue
		}
		v, err := n.Value()
		if err != nil {
			t.Fatal(err)
		}
		counted += cmvm.Digits([][]int64{v.Codes})
		grid, ok := format.GridOf(report.Grids[n], n.Type.Format)
		for _, c := range v.Codes {
			if !ok || !slices.Contains(grid.Codes, c) {
				t.Fatalf("%s: encoding makes no code %d", n.Name, c)
			}
		}
	}
	if counted != int(digits) {
		t.Errorf("the weights have %d digits, the note says %g", counted, digits)
	}
	_, _, err = run("round_weights = \"digits\"\ndigit_price = 1\n")
	if diag.CodeOf(err) != diag.DigitPrice || !strings.Contains(err.Error(), "0.0003: ") ||
		!strings.Contains(err.Error(), "digit_price = 0.0003 keeps enough") {
		t.Errorf("a price that leaves nothing: %v", err)
	}
	if _, _, err = run("round_weights = \"digits\"\ndigit_price = 0.0003\n"); err != nil {
		t.Error(err)
	}
}
