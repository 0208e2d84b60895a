// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/gpu/bench"
)

// TestBaselines runs baselines.py on a stand-in for PyTorch in which a call takes 2 us, and one of 8192 rows 60 us.
func TestBaselines(t *testing.T) {
	tools.Need(t, "python3")
	c := exec.Command("python3", "baselines.py")
	c.Env = append(c.Environ(), "PYTHONPATH=testdata", "PYTHONDONTWRITEBYTECODE=1")
	c.Stdin = strings.NewReader(listedCases())
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || stderr.String() != "i: CUDA out of memory\n" {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	path := filepath.Join(t.TempDir(), "b.jsonl")
	out = append(out, `{"case":"z","na`...) // as one that was stopped leaves it
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := bench.ReadCompared(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 8192.0 * 8192 * 8192 / 60 * 1e-6; b.GemmTF < 0.99*want || b.GemmTF > 1.01*want {
		t.Errorf("%g TF, want %g", b.GemmTF, want)
	}
	both := []bench.Baseline{{Name: "torch", Median: 2}, {Name: "torch.compile", Median: 2}}
	for name, want := range map[string][]bench.Baseline{
		"a": {{Name: "torch.compile of the formula", Median: 2}}, "b": {{Name: "torch linear, bf16 weights", Median: 2}},
		"c": {{Name: "torch", Median: 60}, {Name: "torch.compile", Median: 60}}, "d": both, "e": both,
		"f": {{Name: "torch sdpa", Median: 2}}, "g": {}, "add+h": {}, "i": {}, "j": {}, "k": {}, "z": {},
		// nine calls of functions
		"layer/bert-base/batch=2": {{Name: "torch", Median: 18}, {Name: "torch.compile", Median: 18}},
	} {
		got := b.Of(name)
		for i := range got {
			got[i].Median = float64(int(got[i].Median*1000+0.5)) / 1000
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if err := os.WriteFile(path, []byte(`{"case":"a","us":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.ReadCompared(path); diag.CodeOf(err) != "L0988" {
		t.Error(err)
	}
	if _, err := bench.ReadCompared(path + "x"); diag.CodeOf(err) != "L0988" {
		t.Error(err)
	}
}

// listedCases are lines as gpubench list -json writes them.
func listedCases() string {
	var in strings.Builder
	for _, one := range [][4]string{
		{"a", "dequant", "n=64", "mxint8 -> bf16"}, {"b", "w8a16", "M=1 N=64 K=32", "bf16 x mxint8 -> bf16"},
		{"c", "softmax", "8192 rows of 4", "bf16 -> bf16"}, {"d", "layer_norm", "5 rows of 4", "bf16 -> bf16"},
		{"e", "rms_norm_long", "5 rows of 4", "bf16 -> bf16"}, {"f", "sdpa", "B=1 H=2 S=16 D=64 causal", "bf16"},
		{"g", "unheard_of", "n=64", "x"}, {"add+h", "layer_norm", "5 rows of 4", "bf16 -> bf16"},
		{"i", "softmax", "666 rows of 4", "bf16 -> bf16"}, {"j", "dequant", "n=33", "mxint8 -> f32"},
		{"layer/bert-base/batch=2", "", "batch=2 tokens=5", "bf16 -> bf16"},
	} {
		in.WriteString(`{"case":"` + one[0] + `","kernel":"` + one[1] + `","shape":"` + one[2] + `","formats":"` + one[3] +
			`","timed":true}` + "\n")
	}
	in.WriteString(`{"case":"k","kernel":"dequant","shape":"n=64","formats":"mxint8 -> bf16","timed":false}` + "\n")
	return in.String()
}
