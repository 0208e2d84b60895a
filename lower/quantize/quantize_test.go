// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/dot"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// formatsOf prints the operation and format of every node that computes, and of constants.
func formatsOf(g *ir.Graph) map[string]string {
	out := make(map[string]string)
	for _, n := range g.Nodes {
		out[n.Name] = n.Op.Name + " " + n.Type.Format.String()
	}
	return out
}

func mustQuantize(t *testing.T, g *ir.Graph, plan string, c Calibration) (*ir.Graph, *Report) {
	t.Helper()
	q, r, err := Run(context.Background(), g, lowertest.Plan(t, plan), c, Options{Options: pass.Options{Verify: true}})
	if err != nil {
		t.Fatal(err)
	}
	return q, r
}

// outputs are those of a graph on samples.
func outputs(t *testing.T, g *ir.Graph, samples []ref.Sample) []ref.Sample {
	t.Helper()
	out, err := pass.Outputs(t.Context(), g, samples)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// samples draws calibration data in [lo, hi].
func samples(g *ir.Graph, lo, hi float64, count int) Calibration {
	c := Calibration{Samples: map[string][]*ir.Tensor{}}
	r := rand.New(rand.NewPCG(7, 7))
	for range count {
		for _, n := range g.In {
			x := ir.NewTensor(n.Type)
			for i := range x.Floats {
				x.Floats[i] = float32(lo + (hi-lo)*r.Float64())
			}
			c.Samples[n.Name] = append(c.Samples[n.Name], x)
		}
	}
	return c
}

func TestDefaultFormats(t *testing.T) {
	q, r := mustQuantize(t, lowertest.Network(t), "[[input]]\nname = \"x\"\nrange = [-1.0, 1.0]", Calibration{})
	got := formatsOf(q)
	for name, want := range map[string]string{
		"x":    "input fixed(8,6)",
		"fc1":  "linear ufixed(8,6)", // and relu: it reaches 0.25+2.5, not the -8 of the other row
		"relu": "",
		"fc2":  "linear fixed(8,5)",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	fc1 := q.Find("fc1")
	w, b := fc1.Args[1].Type, fc1.Args[2].Type
	if w.Format.String() != "int(8)*[0]" || w.Scales[0] != 1.0/64 || w.Scales[1] != 1.0/4096 {
		t.Errorf("weights: %s", w)
	}
	if f := b.Format.(format.Fixed); f.W != 16 || f.F != 12 { // -8 is the code of the sign alone
		t.Errorf("bias: %s", b)
	}
	if f := q.Find("fc2").Args[1].Type.Format.String(); f != "fixed(8,6)" {
		t.Errorf("weights with one scale: %s", f)
	}
	const without = "without calibration data the outputs of 16 random samples have an SQNR of "
	if len(r.Notes) < 2 || !strings.HasPrefix(r.Notes[0], without) ||
		!strings.Contains(r.Notes[1], "interval analysis, input \"x\" in [-1, 1] by plan.toml:1") {
		t.Errorf("notes: %q", r.Notes)
	}
	if len(r.Nodes) != 3 || len(r.Outputs) != 1 || !(r.Outputs[0].SQNR > 25) || r.Samples != float.DrawnSamples {
		t.Errorf("report: %+v %+v", r.Nodes, r.Outputs)
	}
	if st := q.Find("fc1").Stats; !st.Known || st.Min != 0 || st.Max != 2.75 {
		t.Errorf("stats: %+v", st)
	}
}

const rulesPlan = `
[quantize]
overflow = "sym"
[[quantize.rule]]
op = "linear"
name = "fc1"
data_in = "fixed(6)"
data_out = "fixed(12,4)"
[[quantize.rule]]
op = "linear"
weight = "fixed(4)"
bias = "fixed(10,2,over=wrap)"
data_out = "fixed(9)"
[[quantize.rule]]
name = "nothing*"
weight = "fixed(4)"
[[quantize.rule]]
op = "maxpool"
data_out = "fixed(5)"
[[output]]
name = "y0"
format = "fixed(20,10)"
`

func TestRules(t *testing.T) {
	q, r := mustQuantize(t, lowertest.Network(t), rulesPlan, Calibration{})
	got := formatsOf(q)
	for name, want := range map[string]string{
		"x":      "input fixed(8,6,over=sym)",
		"x.cast": "cast fixed(6,4,over=sym)",
		"fc1":    "linear fixed(12,4,over=sym)",
		"relu":   "relu ufixed(8,6,over=sym)",
		"fc2":    "linear fixed(9,6,over=sym)",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	out := q.Out[0].Node
	if out.Op != pointwise.Cast || out.Type.Format.String() != "fixed(20,10,over=sym)" {
		t.Errorf("output: %s %s", out.Op.Name, out.Type)
	}
	if f := q.Find("fc1").Args[2].Type.Format.String(); f != "fixed(10,2,over=wrap)" {
		t.Errorf("bias: %s", f)
	}
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], `name = "nothing*" matches no node`) {
		t.Errorf("warnings: %q", r.Warnings)
	}
	missed := &plan.Match{Name: "rleu"}
	if said := missed.Unmatched(q); !strings.HasSuffix(said, `no node; did you mean "relu"?`) {
		t.Errorf("warning: %q", said)
	}
	from := map[string]string{}
	for _, s := range r.Slots {
		from[s.Node+" "+s.Slot] = s.From
	}
	for slot, want := range map[string]string{
		"fc1 data_in":   `plan.toml:7 [[quantize.rule]] op = "linear" name = "fc1"`,
		"fc1 data_out":  `plan.toml:8 [[quantize.rule]] op = "linear" name = "fc1"`,
		"fc1 weight":    `plan.toml:11 [[quantize.rule]] op = "linear"`,
		"fc2 data_out":  `plan.toml:13 [[quantize.rule]] op = "linear"`,
		"relu data_out": "the default for data, never negative", "x data_out": "the default for data",
		"fc2 output": `plan.toml:22 [[output]] name = "y0"`,
	} {
		if from[slot] != want {
			t.Errorf("%s decided by %q, want %q", slot, from[slot], want)
		}
	}
}

// TestOutputFormat gives the format of an output to the node that computes it, through operations that keep formats,
// unless somebody else reads it.
func TestOutputFormat(t *testing.T) {
	build := func(fork bool) *ir.Graph {
		b := lowertest.New(t, 4)
		fc := b.Linear("fc", b.Input("x", 1, 3), 4, true)
		y := b.Add(move.Reshape, "view", &move.ReshapeAttrs{Shape: []int{2, 2}}, fc)
		if fork {
			return b.Done(y, b.Add(pointwise.Relu, "relu", nil, fc))
		}
		return b.Done(y)
	}
	const plan = "[[output]]\nname = \"y0\"\nformat = \"fixed(16)\""
	q, _ := mustQuantize(t, build(false), plan, Calibration{})
	if f, ok := q.Find("fc").Type.Format.(format.Fixed); !ok || f.W != 16 || q.Out[0].Node.Op != move.Reshape {
		t.Errorf("alone: %v", formatsOf(q))
	}
	q, _ = mustQuantize(t, build(true), plan, Calibration{})
	if f, ok := q.Find("fc").Type.Format.(format.Fixed); !ok || f.W != 8 || q.Out[0].Node.Op != pointwise.Cast {
		t.Errorf("with another reader: %v", formatsOf(q))
	}
}

func TestOperations(t *testing.T) {
	b := lowertest.New(t, 5)
	x := b.Input("x", 1, 2, 4, 4)
	w := lowertest.Window(2, 2, 2, 0)
	conv := b.Conv("conv", x, 3, 3, 1, 1, 1, true)
	pool := b.Add(window.MaxPool, "pool", &w, conv)
	mean := b.Add(window.AvgPool, "mean", &window.AvgAttrs{Window: w}, conv)
	sum := b.Add(pointwise.Add, "sum", nil, b.Add(curve.Tanh, "tanh", nil, pool), mean)
	bump := b.Add(pointwise.Mul, "bump", nil, sum, b.Random(1, 1, 3, 2, 2))
	arg := b.Add(reduce.ArgMax, "arg", &reduce.ArgMaxAttrs{Axis: 1}, bump)
	g := b.Done(arg, pool)
	q, r := mustQuantize(t, g, "[[quantize.rule]]\nop = \"maxpool\"\ndata_out = \"fixed(5)\"", samples(g, -1, 1, 20))
	got := formatsOf(q)
	if got["arg"] != "argmax uint(2)" || !strings.HasPrefix(got["bump"], "mul fixed(8,") {
		t.Errorf("%v", got)
	}
	kept := q.Find("pool").Type.Format == q.Find("conv").Type.Format
	if !kept || q.Find("tanh").Args[0].Op != pointwise.Cast || q.Out[1].Node.Op != pointwise.Cast {
		t.Errorf("a rule on maxpool must cast behind it: %v", got)
	}
	if got["tanh"] != "tanh fixed(8,7)" {
		t.Errorf("tanh: %s", got["tanh"])
	}
	if len(r.Notes) != 0 || r.Samples != 20 {
		t.Errorf("%q, %d samples", r.Notes, r.Samples)
	}
}

// TestBlocksAround joins values that the plan wants in blocks on one fixed format, and gives an operation that takes no
// blocks fixed constants.
func TestBlocksAround(t *testing.T) {
	b := lowertest.New(t, 6)
	x := b.Input("x", 1, 4, 3, 3)
	scaled := b.Add(sum.Scale, "scaled", &column.ScaleAttrs{Axis: 1}, x, b.Random(1, 4), b.Random(1, 4))
	both := b.Add(move.Concat, "both", &move.ConcatAttrs{Axis: 1}, scaled, b.Conv("conv", x, 4, 3, 1, 1, 1, true))
	g := b.Done(b.Conv("last", both, 3, 3, 1, 1, 1, true))
	plan := "[quantize]\ndata = \"mxint(8,4)\"\nweight = \"mxint(8,4)\"\nbias = \"mxint(8,4)\""
	q, _ := mustQuantize(t, g, plan, samples(g, -1, 1, 9))
	n := q.Find("both")
	for _, a := range n.Args {
		if !a.Type.SameFormat(n.Type) || a.Op == pointwise.Cast && a.Args[0].Op == pointwise.Cast {
			t.Errorf("both joins %s of %s as %s", a.Type, a.Name, n.Type)
		}
	}
	if _, fixed := n.Type.Format.(format.Fixed); !fixed || !q.Find("last").Args[0].Type.InBlocks() {
		t.Errorf("%v", formatsOf(q))
	}
}

// TestProductStep counts scales of channels that are no powers of two: a bias is not rounded to the coarser products of
// the others.
func TestProductStep(t *testing.T) {
	b := lowertest.New(t, 7)
	n := b.Add(sum.Linear, "fc", nil, b.Input("x", 1, 4), b.Random(1, 2, 4))
	n.Args[0].Type.Format = format.Fixed{W: 8, F: 1, Signed: true}
	n.Args[1].Type.Format = format.Affine{W: 8, Signed: true}
	n.Args[1].Type.Scales = []float32{0.25, 0.003}
	if e, ok := dot.ProductStep(n); !ok || e != -10 {
		t.Errorf("2^%d, %v", e, ok)
	}
}

// TestSaturatedWeights warns where a format that the plan gives in full cannot hold the weights.
func TestSaturatedWeights(t *testing.T) {
	g := lowertest.Network(t)
	_, r := mustQuantize(t, g, "[[quantize.rule]]\nname = \"fc1\"\nweight = \"fixed(8,8)\"", samples(g, -1, 1, 9))
	all := strings.Join(r.Warnings, "\n")
	if len(r.Warnings) != 1 || !strings.Contains(all, "3 of 8 values") || !strings.Contains(all, "plan.toml:3") {
		t.Errorf("%q", r.Warnings)
	}
}

// TestSharedConstants quantizes two readers of one constant by different rules.
func TestSharedConstants(t *testing.T) {
	b := lowertest.New(t, 8)
	w := b.Random(1, 4, 4)
	x := b.Add(sum.Linear, "a", nil, b.Input("x", 1, 4), w)
	g := b.Done(b.Add(sum.Linear, "b", nil, x, w))
	q, _ := mustQuantize(t, g, "[[quantize.rule]]\nname = \"b\"\nweight = \"fixed(4,3)\"", Calibration{})
	u, v := q.Find("a").Args[1], q.Find("b").Args[1]
	if u == v || u.Type.Format.Width() != 8 || v.Type.Format.Width() != 4 {
		t.Errorf("%s and %s", u.Type, v.Type)
	}
	if !g.Find("a").Args[1].Type.IsFloat() {
		t.Error("the float graph was changed")
	}
}

// TestZeroChannels keeps accumulators narrow: channels of zeros, or almost, take no scale of their own.
func TestZeroChannels(t *testing.T) {
	b := lowertest.New(t, 9)
	w := b.Const([]int{3, 2}, 1, -1, 0, 0, 1e-9, 0)
	g := b.Done(b.Add(sum.Linear, "fc", nil, b.Input("x", 1, 2), w))
	q, _ := mustQuantize(t, g, "", Calibration{})
	if s := q.Find("fc").Args[1].Type.Scales; s[1] != s[0] || s[2] != s[0]/256 {
		t.Errorf("scales %v", s)
	}
}

// TestQuantizeSweep quantizes random networks under Verify with shuffled nodes, with and without calibration data; at
// 9 bits the outputs must be close to the float model.
func TestQuantizeSweep(t *testing.T) {
	plan := lowertest.Plan(t, "[quantize]\ndata = \"fixed(9)\"\nweight = \"fixed(10)\"\nbias = \"fixed(20)\"")
	for seed := range uint64(100) {
		g := lowertest.RandomCNN(t, seed)
		var c Calibration
		if seed%2 == 0 {
			c = samples(g, -1, 1, 12)
		}
		r := rand.New(rand.NewPCG(seed, 3))
		o := pass.Options{Verify: true, Seed: seed, Shuffle: lowertest.Shuffle(r)}
		_, report, err := Run(context.Background(), g, plan, c, Options{Options: o})
		if err != nil {
			if strings.Contains(err.Error(), "changes the order") {
				continue // a reshape of an image that a second branch reads
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, out := range report.Outputs {
			if !(out.SQNR > 12) && out.MaxErr > max(0.02, 0.01*out.Peak) { // some hardly vary: the ratio is that of noise
				t.Errorf("seed %d: %s has %.1f dB, error %g of %g", seed, out.Name, out.SQNR, out.MaxErr, out.Peak)
			}
		}
	}
}

// TestChosenSweep has passes that change constants layer by layer meet networks whose nodes are shuffled before each.
func TestChosenSweep(t *testing.T) {
	plan := lowertest.Plan(t, "[quantize]\ndata = \"fixed(6)\"\nweight = \"fixed(4)\"\nround_weights = \"gptq\"\n"+
		"correct_bias = true")
	rounded := 0
	for seed := range uint64(30) {
		g := lowertest.RandomCNN(t, seed)
		o := pass.Options{Verify: true, Seed: seed, Shuffle: lowertest.Shuffle(rand.New(rand.NewPCG(seed, 3)))}
		_, report, err := Run(context.Background(), g, plan, samples(g, -1, 1, 12), Options{Options: o})
		if err != nil {
			if strings.Contains(err.Error(), "changes the order") {
				continue // a reshape of an image that a second branch reads
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		if strings.Contains(fmt.Sprint(report.Notes, report.Warnings), "are rounded by gptq") {
			rounded++
		}
	}
	if rounded < 20 {
		t.Errorf("weights of %d networks are rounded", rounded)
	}
}

// TestRepeatable makes the same graph from the same model, bit for bit.
func TestRepeatable(t *testing.T) {
	var first string
	for range 5 {
		g := lowertest.RandomCNN(t, 11)
		q, r := mustQuantize(t, g, "", samples(g, -1, 1, 30))
		text := fmt.Sprint(formatsOf(q), r.Nodes, r.Slots)
		for _, n := range q.Nodes {
			if c, ok := n.Attrs.(*ir.Const); ok {
				text += n.Name + c.Data.Digest()
			}
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Fatal("another result")
		}
	}
}

// TestExactKeepsFormats meets a pass that leaves all codes and values as they are, in another format.
func TestExactKeepsFormats(t *testing.T) {
	wider := pass.New("wider", "", pass.Exact, 0, func(_ *pass.Report, g *ir.Graph) error {
		n := g.Out[0].Node
		f := n.Type.Format.(format.Fixed)
		f.W++
		n.Type.Format = f
		return nil
	})
	for _, effect := range []pass.Effect{pass.Exact, pass.Lossy} {
		wider.Effect = effect
		g, _ := mustQuantize(t, lowertest.Network(t), "", Calibration{})
		report := &pass.Report{}
		r := float.NewRunner(context.Background(), g, plan.Default(), nil, report, pass.Options{Verify: true})
		err := pass.Run(r, report, pass.Pipeline[*pass.Report]{wider}, g)
		want := `pass wider promises the same values, but changes the format of output "y0" from fixed(8,5) to fixed(9,5)`
		switch {
		case effect == pass.Lossy && (err != nil || report.Passes[0].Loss.Same || report.Passes[0].Loss.MaxErr != 0):
			t.Errorf("lossy: %v, %+v", err, report.Passes)
		case effect == pass.Exact && (diag.CodeOf(err) != "L0405" || !strings.Contains(err.Error(), want)):
			t.Errorf("%v, want %q", err, want)
		}
	}
}
