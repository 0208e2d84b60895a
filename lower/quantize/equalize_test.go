// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/lower/float"
	"lathe/lower/float/simplify"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// TestEqualize takes trained networks apart, by moving powers of two between their layers, and has the pass find them:
// the float graph stays the same bit for bit, and what the skew had cost in a format comes back.
func TestEqualize(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		model, keys string
		links       int
	}{{"digits-cnn", "equalize = true\n", 2}, {"jets-mlp", "equalize = true\n", 3},
		{"digits-resnet", "equalize = true\n", 2}, {"digits-cnn", "smooth = 0.5\n", 2}, {"digits-vit", "smooth = 0.5\n", 5}} {
		e := load(t, c.model, "model.onnx")
		skewed, err := float.Simplify(ctx, e.Graph, pass.Options{})
		if err != nil {
			t.Fatal(err)
		}
		links := simplify.Links(skewed, strings.HasPrefix(c.keys, "smooth"))
		if len(links) != c.links {
			t.Fatalf("%s: %d links, want %d", c.model, len(links), c.links)
		}
		for _, l := range links {
			exps := make([]int, l.Channels())
			for i := range exps {
				exps[i] = []int{0, -2, 3, -4}[i%4]
			}
			if err := l.Move(skewed, exps); err != nil {
				t.Fatal(err)
			}
		}
		even, apart, back := ratioOf(t, e.Graph, off, e.calib), ratioOf(t, skewed, off, e.calib),
			ratioOf(t, skewed, c.keys, e.calib)
		if apart > even-6 || back < even-5 {
			t.Errorf("%s: %.1f dB, skewed %.1f, equalized %.1f", c.model, even, apart, back)
		}
	}
}

// TestEqualizeLeavesChannels moves nothing through a value whose channels a rule gives formats, which are those of the
// model's own values.
func TestEqualizeLeavesChannels(t *testing.T) {
	for _, c := range []struct {
		rule  string
		moved bool
	}{{"", true}, {"[[quantize.rule]]\nname = \"relu\"\nchannels = [\"ufixed(6,4)\", \"ufixed(6,10)\"]", false}} {
		b := lowertest.New(t, 3)
		y := b.Add(sum.Linear, "y", nil, b.Input("x", 1, 2), b.Const([]int{2, 2}, 1, -1, 0x1p-6, 0x1p-7))
		g := b.Done(b.Add(sum.Linear, "z", nil, b.Add(pointwise.Relu, "relu", nil, y), b.Const([]int{1, 2}, 1, 64)))
		_, r, err := Run(context.Background(), g, lowertest.Plan(t, "[quantize]\nequalize = true\n"+c.rule),
			Calibration{},
			Options{})
		if err != nil {
			t.Fatal(err)
		}
		if moved := strings.Contains(strings.Join(r.Notes, "\n"), "equalized: 1 channel behind 1 layer"); moved != c.moved {
			t.Errorf("with %q: %q", c.rule, r.Notes)
		}
	}
}

// off moves nothing.
const off = "equalize = false\n"

// ratioOf is the SQNR of output 0 in 6 bits.
func ratioOf(t *testing.T, g *ir.Graph, keys string, c Calibration) float64 {
	t.Helper()
	text := "[quantize]\ndata = \"fixed(6)\"\nweight = \"fixed(6)\"\nunsigned = true\n" + keys
	plan, err := plan.Parse("plan.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, report, err := Run(context.Background(), g, plan, c,
		Options{Options: pass.Options{Verify: true}}) // which holds it to Exact
	if err != nil {
		t.Fatal(err)
	}
	var before, after float64
	for _, s := range report.Notes {
		if _, gain, ok := strings.Cut(s, " are divided by: "); ok {
			_, err = fmt.Sscanf(gain, "SQNR of the outputs %f dB before, %f dB after,", &before, &after)
		}
	}
	if err != nil || keys != off && after < before+5 || keys == off && before != 0 {
		t.Errorf("%s: %q", keys, report.Notes)
	}
	if keys != off && report.Loose == 0 {
		t.Error("the printed plan would need no calibration data")
	}
	return report.Outputs[0].SQNR
}

// TestEvening: distances are halved, dead channels stay, and the loudest channel keeps its range.
func TestEvening(t *testing.T) {
	got := evenly([]float64{8, 2, 0, 8, math.Ldexp(1, -60)}, []float64{1, 1, 5, 1.0 / 16, 1}, 0.5, mostShift)
	if want := []int{0, 1, 0, -2, mostShift}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestEqualizeWhereItHelps: channels that are far apart, by more than any format has bits, are made even without being
// asked, with samples and without; a plan that says no, or gives the value between a format, is obeyed.
func TestEqualizeWhereItHelps(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 5))
		b := lowertest.New(t, seed)
		x, convs := b.Input("x", 1, 3, 5, 5), seed%2 == 0
		layer := func(name string, x *ir.Node, out int) *ir.Node {
			if convs {
				return b.Conv(name, x, out, 3, 1, 1, 1, true)
			}
			return b.Linear(name, x, out, true)
		}
		if !convs {
			x = b.Add(move.Reshape, "flat", &move.ReshapeAttrs{Shape: []int{1, 75}}, x)
		}
		y := layer("first", x, 6)
		y = layer("second", b.Add(pointwise.Relu, "relu", nil, y), 4)
		g := b.Done(layer("last", b.Add(pointwise.Relu, "relu2", nil, y), 3))
		c, err := float.Simplify(context.Background(), g, pass.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.In[0].Attrs.(*ir.Input).Perm = nil // samples come as c takes them
		for _, l := range simplify.Links(c, false) {
			exps := make([]int, l.Channels())
			for i := range exps {
				exps[i] = r.IntN(24) - 12
			}
			if err := l.Move(c, exps); err != nil {
				t.Fatal(err)
			}
		}
		told := func(keys string, in Calibration) (float64, bool) {
			_, report := mustQuantize(t, c, keys, in)
			return report.Outputs[0].SQNR, strings.Contains(strings.Join(report.Notes, "\n"), "equalized: ")
		}
		in := samples(c, -1, 1, 40)
		def, yes := told("", in)
		blind, also := told("", Calibration{})
		off, no := told("[quantize]\nequalize = false\n", in)
		rule, ruled := told("[[quantize.rule]]\nname = \"first\"\ndata_out = \"fixed(8)\"\n[[quantize.rule]]\n"+
			"name = \"second\"\ndata_out = \"fixed(8)\"\n", in)
		if def < 29 || blind < off+2 || off > 0 || rule > 0 || !yes || !also || no || ruled {
			t.Errorf("seed %d: %.1f dB, without samples %.1f, equalize = false %.1f, by rules %.1f; told %v %v %v %v", seed, def,
				blind, off, rule, yes, also, no, ruled)
		}
	}
}
