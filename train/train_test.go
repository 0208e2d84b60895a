// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/ref"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/model"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

const mlp = "../examples/digits-mlp"

// digits is the example under a plan, quantized where the plan does not say sft, with its training data.
type digits struct {
	model   *model.Model
	plan    *plan.Plan
	set     *train.Set
	samples []ref.Sample
	labels  [][]int64
}

func arrays(t testing.TB, name string) npz.Array {
	t.Helper()
	f, err := npz.Read(filepath.Join(mlp, name))
	if err != nil {
		t.Fatal(err)
	}
	return f.Arrays[0]
}

func load(t testing.TB, toml string) *digits {
	t.Helper()
	s := driver.Source{Model: filepath.Join(mlp, "model.onnx"), Calibrate: filepath.Join(mlp, "calib.npz")}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	d := &digits{}
	if d.plan, err = plan.ParseWith("plan.toml", []byte(toml), plan.Settings{}); err != nil {
		t.Fatal(err)
	}
	float := g
	if d.plan.Train.Method == "sft" {
		d.model, err = model.Float(g)
	} else {
		q, e := s.QuantizeUnder(context.Background(), g, d.plan)
		if e != nil {
			t.Fatal(e)
		}
		float = q.Float
		d.model, err = model.Quantized(q.Graph, q.Report.Lowered, q.Report.Grids)
		if err == nil && d.plan.Train.Scales == "lsq" {
			_, err = d.model.LearnScales(nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	x, y := arrays(t, "train.npz"), arrays(t, "train_labels.npy")
	classes, err := y.Int64s()
	if err != nil {
		t.Fatal(err)
	}
	n := x.Shape[0]
	d.set = &train.Set{Name: "train.npz", N: n, Inputs: []hlo.Array{hlo.FromFloat32s([]int{n, 1, 64}, x.Float32s())},
		Labels: hlo.FromInt64s(hlo.I32, []int{n}, classes)}
	file, err := npz.Read(filepath.Join(mlp, "inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	if d.samples, _, err = driver.Samples(float, file); err != nil {
		t.Fatal(err)
	}
	if d.labels, err = driver.Labels(filepath.Join(mlp, "labels.npy")); err != nil {
		t.Fatal(err)
	}
	return d
}

// accuracy is that of g on the test digits.
func (d *digits) accuracy(t testing.TB, g *ir.Graph) float64 {
	t.Helper()
	out, err := pass.Outputs(context.Background(), g, d.samples)
	if err != nil {
		t.Fatal(err)
	}
	right, err := driver.Accuracy(g, out, d.labels)
	if err != nil {
		t.Fatal(err)
	}
	return right
}

func (d *digits) options() *train.Options {
	return &train.Options{Train: d.plan.Train, Prune: d.plan.Prune, LoRA: d.plan.LoRA, Distill: d.plan.Distill,
		Bits: d.plan.Bits}
}

func (d *digits) run(t testing.TB, o *train.Options) *train.Result {
	t.Helper()
	r, err := d.train(context.Background(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (d *digits) train(ctx context.Context, t testing.TB, o *train.Options) (*train.Result, error) {
	t.Helper()
	trainer, err := train.New(d.model, d.set, o)
	if err != nil {
		t.Fatal(err)
	}
	return trainer.Run(ctx, train.OnPJRT(pjrttest.Engine(t)))
}

const threeBits = "[quantize]\ndata = \"fixed(3)\"\nunsigned = true\nweight = \"fixed(3)\"\n"

// TestQAT trains a network of 3 bits, which loses more than a tenth without training.
func TestQAT(t *testing.T) {
	d := load(t, threeBits)
	before := d.accuracy(t, d.model.Graph())
	r := d.run(t, d.options())
	after := d.accuracy(t, r.Graph)
	t.Logf("accuracy %.4f -> %.4f, loss %.3f -> %.3f", before, after, r.First, r.Last)
	if after < before+0.03 || !(r.Last < 0.75*r.First) {
		t.Errorf("training gains too little")
	}
	if r.Trained != r.Elements || r.Trained != 3466 {
		t.Errorf("%d of %d parameters are trained", r.Trained, r.Elements)
	}
}

// TestFloat trains in floats, with each optimizer.
func TestFloat(t *testing.T) {
	for _, text := range []string{"", "optimizer = \"sgd\"\nlr = 0.05\n",
		"optimizer = \"sgd\"\nlr = 0.02\nmomentum = 0.9\nnesterov = true\nschedule = \"linear\"\n"} {
		d := load(t, "[train]\nmethod = \"sft\"\nepochs = 3\nsmoothing = 0.1\n"+text)
		r := d.run(t, d.options())
		if after := d.accuracy(t, r.Graph); !(r.Last < 0.75*r.First) || after < 0.94 {
			t.Errorf("%s: loss %g -> %g, accuracy %g", text, r.First, r.Last, after)
		}
	}
}

// TestResume interrupts training at different steps: what comes out has the same bits.
func TestResume(t *testing.T) {
	const text = "[train]\nepochs = 4\ndropout = 0.2\n[prune]\nsparsity = 0.6\nschedule = \"cubic\"\n" + threeBits
	d := load(t, text)
	want := d.run(t, d.options())
	for _, at := range []int{1, 42, 60, 100, 167} {
		o := d.options()
		o.Folder = t.TempDir()
		for round := range 2 {
			ctx, cancel := context.WithCancel(context.Background())
			o.Watch = func(p train.Progress) {
				if round == 0 && p.Step >= at {
					cancel()
				}
			}
			r, err := d.train(ctx, t, o)
			cancel()
			if round == 0 {
				if err == nil && at < 160 {
					t.Fatalf("step %d: nothing was interrupted", at)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Resumed < at {
				t.Errorf("step %d: went on from %d", at, r.Resumed)
			}
			if r.First != want.First {
				t.Errorf("step %d: first loss %v, not %v", at, r.First, want.First)
			}
			for i := range want.Values {
				if !slices.EqualFunc(r.Values[i], want.Values[i], sameBits) {
					t.Errorf("step %d: parameter %d differs", at, i)
				}
			}
		}
	}
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// TestPruned counts zeros: of all weights together, of each matrix, of each group.
func TestPruned(t *testing.T) {
	zeros := func(x []float32) int {
		n := 0
		for _, v := range x {
			if v == 0 && !math.Signbit(float64(v)) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		text   string
		global int // zeros of all matrices; 0: half of each
	}{
		{"sparsity = 0.5\n", 1696},
		{"sparsity = 0.5\nmethod = \"random\"\n", 1696},
		{"sparsity = 0.7\nschedule = \"cubic\"\n", 2374},
		{"sparsity = 0.5\nscope = \"local\"\n", 0},
		{"nm = \"2:4\"\n", 0},
	} {
		d := load(t, "[train]\nepochs = 2\n[prune]\n"+c.text)
		r := d.run(t, d.options())
		all := 0
		for i, p := range d.model.Params {
			if len(p.Shape) < 2 {
				continue
			}
			n := zeros(r.Values[i])
			all += n
			if c.global == 0 && n != len(p.Start)/2 {
				t.Errorf("%s%s: %d zeros of %d", c.text, p.Name, n, len(p.Start))
			}
			for k := 0; c.text == "nm = \"2:4\"\n" && k < len(p.Start); k += 4 {
				if zeros(r.Values[i][k:k+4]) != 2 {
					t.Fatalf("%s: group %d is %v", p.Name, k/4, r.Values[i][k:k+4])
				}
			}
		}
		if c.global > 0 && all != c.global {
			t.Errorf("%s%d zeros, not %d", c.text, all, c.global)
		}
		for _, n := range r.Graph.Nodes {
			if n.Op.Traits.Weighted {
				w, err := n.Args[1].Value()
				if err != nil {
					t.Fatal(err)
				}
				codes := 0
				for _, k := range w.Codes {
					if k == 0 {
						codes++
					}
				}
				if c.global == 0 && codes < len(w.Codes)/2 {
					t.Errorf("%s: %d zero codes of %d", n.Name, codes, len(w.Codes))
				}
			}
		}
	}
}

// TestWidths trains widths: half of the bits go, and little of the accuracy; after an interruption, too.
func TestWidths(t *testing.T) {
	const text = "[quantize]\ndata = \"fixed(5)\"\nunsigned = true\nweight = \"fixed(6)\"\n" +
		"[train]\nepochs = 12\nlr = 0.003\n"
	bits := func(r *train.Result) (sum float64) {
		for _, n := range r.Graph.Nodes {
			if n.Op.Traits.Weighted {
				w, err := n.Args[1].Value()
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range w.Codes {
					for c = max(c, -c); c != 0 && c&1 == 0; c >>= 1 {
					}
					for ; c != 0; c >>= 1 {
						sum++
					}
				}
			}
		}
		return sum
	}
	d := load(t, text)
	dense := d.run(t, d.options())
	for _, per := range []string{"element", "channel", "tensor"} {
		d := load(t, text+"[bits]\nprice = 0.00003\nper = \""+per+"\"\n")
		r := d.run(t, d.options())
		right, share := d.accuracy(t, r.Graph), bits(r)/bits(dense)
		t.Logf("%s: %.0f %% of the bits, accuracy %.4f", per, 100*share, right)
		if r.Trained != dense.Trained {
			t.Errorf("%s: %d weights are trained", per, r.Trained)
		}
		if most := map[string]float64{"element": 0.5, "channel": 0.7, "tensor": 0.8}[per]; share > most || right < 0.9 {
			t.Errorf("%s: %.0f %% of the bits are left, accuracy %g", per, 100*share, right)
		}
	}
}

// TestLoRA trains adapters of all matrices, and a bias.
func TestLoRA(t *testing.T) {
	d := load(t, "[train]\nmethod = \"sft\"\nepochs = 0\n[lora]\nrank = 4\n")
	r := d.run(t, d.options())
	for i, p := range d.model.Params {
		if !slices.EqualFunc(r.Values[i], p.Start, sameBits) {
			t.Errorf("inserting adapters changes %s", p.Name)
		}
	}
	if want := 4 * (64 + 32 + 32 + 32 + 32 + 10); r.Trained != want {
		t.Errorf("%d elements are trained, not %d", r.Trained, want)
	}
	d = load(t, "[train]\nmethod = \"sft\"\nepochs = 2\nsmoothing = 0.1\n[lora]\nrank = 4\ntargets = [\"2\"]\n"+
		"train_also = [\"4.bias\"]\n")
	r = d.run(t, d.options())
	for i, p := range d.model.Params {
		moved := !slices.EqualFunc(r.Values[i], p.Start, sameBits)
		if want := p.Node == "2" && len(p.Shape) == 2 || p.Name == "4.bias"; moved != want {
			t.Errorf("%s: moved %v", p.Name, moved)
		}
	}
	if len(r.Adapters) != 2 || !(r.Last < r.First) {
		t.Errorf("%d arrays of adapters, loss %g -> %g", len(r.Adapters), r.First, r.Last)
	}
}

// TestFrozen leaves what is frozen as it is.
func TestFrozen(t *testing.T) {
	d := load(t, "[train]\nepochs = 1\nfreeze = [\"0\", \"*bias\"]\n")
	r := d.run(t, d.options())
	for i, p := range d.model.Params {
		still := slices.EqualFunc(r.Values[i], p.Start, sameBits)
		if want := p.Node == "0" || len(p.Shape) == 1; still != want {
			t.Errorf("%s: unchanged %v", p.Name, still)
		}
	}
}

// TestDistilled trains towards a teacher: random scores in place of its own make the network forget.
func TestDistilled(t *testing.T) {
	d := load(t, "[train]\nmethod = \"distill\"\nepochs = 3\n[distill]\nweight = 1.0\n"+threeBits)
	scores := make([]float32, d.set.N*10)
	for i := range scores {
		scores[i] = float32((i*7919)%13) - 6
	}
	teacher := hlo.FromFloat32s([]int{d.set.N, 1, 10}, scores)
	d.set.Teacher = &teacher
	r := d.run(t, d.options())
	if right := d.accuracy(t, r.Graph); right > 0.8 || !(r.Last < r.First) {
		t.Errorf("accuracy %g, loss %g -> %g", right, r.First, r.Last)
	}
}
