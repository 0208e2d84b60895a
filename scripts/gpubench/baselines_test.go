// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
		"f/causal=2": {{Name: "torch sdpa", Median: 2}}, "g": {}, "add+h": {}, "i": {}, "j": {}, "k": {}, "z": {},
		"l": {{Name: "torch linear, bf16 weights", Median: 2}, {Name: "torch._int_mm, no requantization", Median: 2}},
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

// TestMatched feeds the real names: every timed product, attention, norm and layer gets a baseline, and what does not
// is named here.
func TestMatched(t *testing.T) {
	tools.Need(t, "python3")
	var in, stderr strings.Builder
	if status := run(t.Context(), []string{"list", "-json"}, &in, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	// PyTorch has neither convolutions of windows laid out so, nor these element-wise kernels, nor sums in norms.
	none := regexp.MustCompile(`^(conv16|conv8|cast|chain|quantize|to_blocks|rope_append|add\+)`)
	c := exec.Command("python3", "baselines.py", "--match")
	c.Env = append(c.Environ(), "PYTHONPATH=testdata", "PYTHONDONTWRITEBYTECODE=1")
	c.Stdin = strings.NewReader(in.String())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	matched, attention := map[string]bool{}, 0
	for name := range strings.Lines(string(out)) {
		matched[strings.TrimSpace(name)] = true
	}
	for line := range strings.Lines(in.String()) {
		var one listed
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		if one.Timed && matched[one.Case] == none.MatchString(one.Case) {
			t.Errorf("%s (%s): a baseline is there: %v", one.Case, one.Shape, matched[one.Case])
		}
		if one.Timed && matched[one.Case] && strings.HasPrefix(one.Case, "sdpa") {
			attention++
		}
	}
	if attention < 21 {
		t.Errorf("%d cases of attention have a baseline, want 21", attention)
	}
}

// listedCases are lines as gpubench list -json writes them.
func listedCases() string {
	var in strings.Builder
	for _, one := range [][4]string{
		{"a", "dequant", "n=64", "mxint8 -> bf16"}, {"b", "w8a16", "M=1 N=64 K=32", "bf16 x mxint8 -> bf16"},
		{"c", "softmax", "8192 rows of 4", "bf16 -> bf16"}, {"d", "layer_norm", "5 rows of 4", "bf16 -> bf16"},
		{"e", "rms_norm_long", "5 rows of 4", "bf16 -> bf16"},
		{"f/causal=2", "sdpa", "batch 1, heads 2/1, 5 queries, 16 keys, dimension 64", "bf16"},
		{"l", "int8_hopper", "M=64 N=64 K=32", "int8 x int8 -> i8"},
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
