// SPDX-License-Identifier: Apache-2.0

//go:build long

package host_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit/cuda/host"
	"lathe/golden/ref"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/sim/gpu/gputest"
)

// folders are the models that run: all examples in float, those of integers under the default plan, blocks, and values
// of 16 bits.
func folders() []model {
	out := []model{{example: "digits-mlp", archs: []string{"sm_80", "sm_90"}, most: 3},
		{example: "digits-mlp", plan: "mx"}, {example: "digits-mlp", plan: "b16"}}
	for _, name := range []string{"digits-cnn", "digits-dscnn", "digits-qdq", "digits-qdq-mlp", "digits-qdq-perchannel",
		"digits-qonnx", "digits-resnet", "jets-mlp"} {
		out = append(out, model{example: name}, model{example: name, plan: "default"})
	}
	for _, name := range []string{"bert-tiny-like", "tiny-llama", "digits-vit"} {
		out = append(out, model{example: name})
	}
	for _, name := range []string{"bert-tiny-like", "tiny-llama", "digits-vit", "digits-mlp"} {
		for _, pair := range [][2]string{{"bf16", "bf16"}, {"bf16", "mxint8"}, {"f16", "f16"}} {
			out = append(out, model{example: name, act: pair[0], weight: pair[1]})
		}
	}
	return out
}

// TestTorch runs the operator of PyTorch on tensors of the CPU, alone and below torch.compile.
func TestTorch(t *testing.T) {
	python := tools.NeedTorch(t)
	b := model{example: "digits-vit", act: "bf16", weight: "bf16"}.build(t, gputest.Emulated(t, drivers))
	script, err := filepath.Abs(filepath.Join("testdata", "tensors.py"))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, python, "-B", script)
}

// TestDecoding generates 16 tokens behind a prompt of 6: each step is a folder of its own, whose caches are inputs and
// outputs, and gets what the reference made in the step before.
func TestDecoding(t *testing.T) {
	tools.Need(t, "gcc", "make")
	const prompt, steps = 6, 16
	m := model{example: "tiny-llama", act: "bf16", weight: "bf16"}
	b := &built{emulated: gputest.Emulated(t, drivers)}
	sample := decoding(m.decoder(t, prompt, 0), []int64{1, 5, 9, 2, 7, 3}, 0, nil)
	for step := range steps + 1 {
		tokens, past := prompt, 0
		if step > 0 {
			tokens, past = 1, prompt+step-1
		}
		g, d, binaries := m.kernels(t, m.decoder(t, tokens, past))
		demo, err := driver.DemoSamples(t.Context(), g, []ref.Sample{sample})
		if err != nil {
			t.Fatal(err)
		}
		b.dir = filepath.Join(t.TempDir(), fmt.Sprint("step", step))
		if err := driver.WriteCUDA(d, binaries, "", demo, b.dir); err != nil {
			t.Fatal(err)
		}
		b.run(t, "make", "CC=gcc", "CFLAGS="+strict)
		if text := b.run(t, "./demo"); strings.Count(text, "  1 sample: ") != len(g.Out) {
			t.Fatalf("step %d prints\n%s", step, text)
		}
		sample = follow(t, m, demo, tokens, past+tokens)
	}
}

// decoder is the model on some tokens behind those in the caches.
func (m model) decoder(t *testing.T, tokens, past int) *ir.Graph {
	t.Helper()
	s := driver.Source{Model: m.file("hf")}
	s.Transformer.Seq, s.Transformer.Cache, s.Transformer.Past = tokens, true, past
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// decoding is the sample of a step: tokens, their positions from the given one on, and caches.
func decoding(g *ir.Graph, tokens []int64, from int64, caches ref.Sample) ref.Sample {
	var out ref.Sample
	for _, n := range g.In {
		switch n.Name {
		case "input_ids":
			out = append(out, &ir.Tensor{Type: n.Type, Codes: tokens})
		case "position_ids":
			v := ir.NewTensor(n.Type)
			for i := range v.Codes {
				v.Codes[i] = from + int64(i)
			}
			out = append(out, v)
		}
	}
	return append(out, caches...)
}

// follow is the sample of the step behind one: the likeliest token, and the caches as they are.
func follow(t *testing.T, m model, demo host.Samples, tokens, past int) ref.Sample {
	t.Helper()
	logits := demo.Outputs[0][0].Floats
	last, best := logits[len(logits)/tokens*(tokens-1):], 0
	for i, v := range last {
		if v > last[best] {
			best = i
		}
	}
	return decoding(m.decoder(t, 1, past), []int64{int64(best)}, int64(past), demo.Outputs[0][1:])
}
