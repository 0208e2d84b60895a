// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/emit/cuda/host"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/sim/gpu/gputest"
	"lathe/sim/nvrtc"
)

// tokens follow the first ones one by one, until the caches are full.
const tokens = 16

// prompt is how many tokens come first.
func (m model) prompt() int {
	if m.act == "f16" {
		return 1
	}
	return 10
}

// TestDecoding generates 16 tokens behind a prompt by one folder, from C and from Python, each of whose steps
// agrees with the reference; and provokes what the library refuses.
func TestDecoding(t *testing.T) {
	emulated := gputest.Emulated(t, drivers)
	for i, m := range decoders() {
		t.Run(strings.Join([]string{m.act, m.weight, m.kv}, " "), func(t *testing.T) {
			b, demo := m.decoder(t, emulated)
			page, err := os.ReadFile(filepath.Join(b.dir, "README.md"))
			if row := "| past_key_0 | 2, scales in 3 | i8 |"; err != nil || strings.Contains(string(page), row) != (m.kv != "") {
				t.Errorf("%v, %q in\n%s", err, row, page)
			}
			text := b.run(t, "./demo")
			if strings.Count(text, "token at position ") != tokens || strings.Count(text, "samples: ") != tokens+1 {
				t.Errorf("the demo prints\n%s", text)
			}
			script, err := filepath.Abs(filepath.Join("testdata", "decode.py"))
			if err != nil {
				t.Fatal(err)
			}
			b.run(t, tools.NeedNumPy(t), "-B", script, b.want, fmt.Sprint(demo.Part))
			if i == 0 {
				b.provoke(t, "decode", "llama")
			}
		})
	}
}

// decoder emits the model with caches and builds its folder.
func (m model) decoder(t *testing.T, emulated string) (*built, host.Samples) {
	t.Helper()
	tools.Need(t, "gcc", "make")
	toolchain := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(toolchain, filepath.Join(toolchain, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	s := driver.Source{Model: m.file("hf")}
	s.Transformer.Seq, s.Transformer.Room = m.prompt(), m.prompt()+tokens
	first, step, err := s.Steps()
	if err != nil {
		t.Fatal(err)
	}
	precision, err := kernels.ParsePrecision(m.act, m.weight)
	if err == nil {
		precision, err = precision.WithCache(cmp.Or(m.kv, m.act))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []**ir.Graph{&first, &step} {
		if *g, _, err = lower.Kernels(t.Context(), *g, precision, library.Portable(), kernels.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := cuda.EmitSteps(first, step, cuda.Options{AllowSlow: true})
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := driver.CompileCUDA(t.Context(), compiler, d, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	demo, err := driver.DemoSteps(t.Context(), first, step)
	if err != nil || len(demo.Steps) != tokens {
		t.Fatalf("%d steps, %v", len(demo.Steps), err)
	}
	b := &built{model: m, dir: filepath.Join(t.TempDir(), "out"), emulated: emulated, part: demo.Part}
	if err := driver.WriteCUDA(d, binaries, "", demo, b.dir); err != nil {
		t.Fatal(err)
	}
	b.given(t, demo)
	b.run(t, "make", "CC=gcc", "CFLAGS="+strict)
	return b, demo
}

// given writes the tokens of the demo, and the logits of the reference.
func (b *built) given(t *testing.T, demo host.Samples) {
	t.Helper()
	var first, next []int64
	var logits []float32
	for s := range demo.Inputs {
		first = append(first, demo.Inputs[s][0].Codes...)
		logits = append(logits, demo.Outputs[s][0].Floats...)
		for _, step := range demo.Steps {
			next = append(next, step.Inputs[s][0].Codes...)
			logits = append(logits, step.Outputs[s][0].Floats...)
		}
	}
	n, prompt := len(demo.Inputs), demo.First
	b.want = filepath.Join(filepath.Dir(b.dir), "given.npz")
	err := npz.Write(b.want, []npz.Array{npz.Int64Array("prompt", []int{n, prompt}, first),
		npz.Int64Array("tokens", []int{n, tokens}, next),
		npz.Float32Array("logits", []int{n, prompt + tokens, len(logits) / n / (prompt + tokens)}, logits)})
	if err != nil {
		t.Fatal(err)
	}
}
