// SPDX-License-Identifier: Apache-2.0

package hf_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend"
	"lathe/frontend/source"
	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
)

// testCase is a graph of a folder in testdata, and the arrays of its case.npz. rename names the array of an
// output that is called otherwise: "logits=typed".
type testCase struct {
	folder, inputs, task string
	rename               string
	loss                 bool
	outputs              string
}

// tokens is the number of tokens of all cases.
const tokens = 7

// cases lists what the source library has computed, one sample at a time where it is a loss.
var cases = []testCase{
	{folder: "bert", outputs: "last_hidden_state pooler_output"},
	{folder: "bert-classifier", outputs: "logits loss", loss: true},
	{folder: "bert-classifier", task: "encoder", outputs: "last_hidden_state pooler_output"},
	{folder: "bert-classifier", inputs: "attention_mask inputs_embeds", outputs: "logits", rename: "logits=logits_embeds"},
	{folder: "bert-classifier", inputs: "input_ids attention_mask token_type_ids position_ids", outputs: "logits",
		rename: "logits=typed"},
	{folder: "bert-masked", outputs: "logits loss", loss: true},
	{folder: "roberta-classifier", outputs: "logits loss", loss: true},
	{folder: "roberta-classifier", task: "encoder", outputs: "last_hidden_state"},
	{folder: "roberta-classifier", inputs: "attention_mask inputs_embeds", outputs: "logits",
		rename: "logits=logits_embeds"},
	{folder: "roberta-masked", outputs: "logits loss", loss: true},
	{folder: "distilbert-classifier", outputs: "logits loss", loss: true},
	{folder: "distilbert-classifier", task: "encoder", outputs: "last_hidden_state"},
	{folder: "distilbert-masked", outputs: "logits loss", loss: true},
	{folder: "vit", outputs: "last_hidden_state pooler_output"},
	{folder: "vit-classifier", outputs: "logits loss", loss: true},
	{folder: "vit-classifier", task: "encoder", outputs: "last_hidden_state"},
	{folder: "gpt2-classifier", outputs: "logits loss", loss: true},
	{folder: "llama-classifier", outputs: "logits loss", loss: true},
}

// decoders are the folders whose cases are alike.
var decoders = []string{"gpt2", "opt", "opt-behind", "llama", "llama-shards", "llama-linear", "mistral", "qwen2",
	"qwen3"}

func allCases() []testCase {
	all := cases
	for _, d := range decoders {
		all = append(all, testCase{folder: d, outputs: "logits loss", loss: true},
			testCase{folder: d, task: "encoder", outputs: "last_hidden_state"},
			testCase{folder: d, inputs: "inputs_embeds", outputs: "logits", rename: "logits=logits_embeds"},
			testCase{folder: d, inputs: "input_ids attention_mask", outputs: "logits", rename: "logits=logits_masked"})
	}
	return all
}

func (c testCase) options() source.Options {
	o := source.Options{Transformer: source.Transformer{Seq: tokens, Task: c.task, Loss: c.loss}}
	if c.inputs != "" {
		o.Transformer.Inputs = strings.Fields(c.inputs)
	}
	if strings.HasPrefix(c.folder, "vit") {
		o.Transformer.Seq = 0
	}
	return o
}

// graph loads the graph of a case, ready for engines.
func (c testCase) graph(t *testing.T) *ir.Graph {
	t.Helper()
	g, err := frontend.Load(filepath.Join("testdata", c.folder), c.options())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// arrays reads the arrays of a case.
func (c testCase) arrays(t *testing.T) *npz.File {
	t.Helper()
	f, err := npz.Read(filepath.Join("testdata", c.folder, "case.npz"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run computes the outputs of a graph on the reference engine.
func run(t *testing.T, g *ir.Graph, f *npz.File) []npz.Array {
	t.Helper()
	samples, batch, err := driver.Samples(g, f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := driver.Arrays(g, out, batch, false)
	if err != nil {
		t.Fatal(err)
	}
	return arrays
}

// tolerance is relative to the largest value of an array: float32 in another order of sums.
const tolerance = 2e-6

// compare demands that got is the array want within the tolerance.
func compare(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	worst, top := 0.0, 0.0
	for i, v := range want {
		if d := math.Abs(got[i] - v); !(d <= worst) {
			worst = d
		}
		top = max(top, math.Abs(v))
	}
	if !(worst <= tolerance*max(top, 1)) {
		t.Errorf("%s: %g off, at values up to %g", name, worst, top)
	}
}

func TestMain(m *testing.M) { pjrttest.Main(m) }

// TestPJRT computes one head of each architecture on XLA.
func TestPJRT(t *testing.T) {
	engine := pjrttest.Engine(t)
	for _, c := range []testCase{{folder: "bert-classifier"}, {folder: "roberta-masked"},
		{folder: "distilbert-classifier"}, {folder: "vit-classifier"}, {folder: "gpt2-classifier", loss: true},
		{folder: "opt-behind"}, {folder: "llama-shards", loss: true}, {folder: "mistral"}, {folder: "qwen2"},
		{folder: "qwen3", inputs: "inputs_embeds"}} {
		g, f := c.graph(t), c.arrays(t)
		samples, batch, err := driver.Samples(g, f)
		if err != nil {
			t.Fatal(err)
		}
		out, err := golden.RunPJRT(t.Context(), engine, g, samples, false, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.folder, err)
		}
		got, err := driver.Arrays(g, out, batch, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got {
			want, err := f.Get(a.Name)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, c.folder+" "+a.Name, a.Float64s(), want.Float64s())
		}
	}
}

// TestArchitectures compares every architecture and head with what the source library computes.
func TestArchitectures(t *testing.T) {
	for _, c := range allCases() {
		t.Run(strings.Join([]string{c.folder, c.task, c.inputs}, " "), func(t *testing.T) {
			t.Parallel()
			f := c.arrays(t)
			out := run(t, c.graph(t), f)
			if names := strings.Fields(c.outputs); len(names) != len(out) {
				t.Fatalf("%d outputs, want %s", len(out), c.outputs)
			}
			for i, name := range strings.Fields(c.outputs) {
				if out[i].Name != name {
					t.Errorf("output %d is %s, want %s", i, out[i].Name, name)
				}
				if _, other, ok := strings.Cut(c.rename, name+"="); ok {
					name = other
				}
				want, err := f.Get(name)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, name, out[i].Float64s(), want.Float64s())
			}
		})
	}
}
