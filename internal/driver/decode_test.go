// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/lower/schedule"
)

// idsFile writes samples of random ids.
func idsFile(t *testing.T, samples, tokens, words int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(5, uint64(words)))
	var ids []int64
	for range samples * tokens {
		ids = append(ids, int64(r.IntN(words)))
	}
	path := filepath.Join(t.TempDir(), "ids.npz")
	if err := npz.Write(path, []npz.Array{npz.Int64Array("input_ids", []int{samples, tokens}, ids)}); err != nil {
		t.Fatal(err)
	}
	return path
}

// edited copies a folder, with another text in its configuration.
func edited(t *testing.T, folder, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatal(err, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// decoderJob is a model under a plan, as a decoder of so many tokens or as a design of whole samples, with samples.
func decoderJob(t *testing.T, model, text string, tokens, words int, decode bool) *driver.Job {
	t.Helper()
	arrays := idsFile(t, 4, tokens, words)
	s := driver.Source{Model: model, Plan: planFile(t, text), Calibrate: arrays, Arrays: arrays,
		Settings: plan.Settings{Decode: &decode}, Transformer: source.Transformer{Seq: tokens}}
	if decode {
		s.Transformer = source.Transformer{Room: tokens}
	}
	hw := emitted(t, s)
	f, err := npz.Read(arrays)
	if err != nil {
		t.Fatal(err)
	}
	j := &driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1}}
	if j.Samples, _, err = driver.Samples(hw.Scheduled, f); err != nil {
		t.Fatal(err)
	}
	return j
}

// fifths have 12 keys in rows of 15, whose tokens end where beats of five end, and those of live elements do not.
const fifths = "[[fold.rule]]\nop = \"attend_weights\"\nin_lanes = 5\n" +
	"[[fold.rule]]\nop = \"attend_scores\"\nout_lanes = 3\n" +
	"[[fold.rule]]\nop = \"attend_sum\"\nin_lanes = 5\n"

// sharing has the layers of a decoder share one block.
const sharing = "[fold]\nlayers = \"loop\"\n"

// TestDecode proves decoders: a prompt at once and the others token by token, sequences that end early, tokens beyond
// the last place. Their outputs are those of the whole causal model.
func TestDecode(t *testing.T) {
	for _, c := range tools.Few(1, []struct {
		name, model, plan      string
		tokens, prefill, words int
	}{
		{"llama", edited(t, examples+"tiny-llama/hf", `embeddings": 64`, `embeddings": 80`), "", 80, 16, 256},
		{"gpt2", "../../frontend/hf/testdata/gpt2", fifths, 12, 4, 37},
		{"loop", alikeLayers(t), sharing + fifths, 12, 4, 37},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := decoderJob(t, c.model, c.plan, c.tokens, c.words, true)
			j.Prefill, j.Trace = c.prefill, c.name == "loop"
			if c.tokens < 20 { // Icarus is slow
				j.Second.Frames = 3
			}
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			d := check.Decode
			if check.Mismatches != 0 || check.Compared["rtl"] == 0 || d.Tokens != c.tokens || d.Prefill != c.prefill {
				t.Fatalf("%d of %v codes differ: %v, %+v", check.Mismatches, check.Compared, check.First, d)
			}
			if d.Sequences < 10 || d.Short < 3 || d.Surplus < 2 || len(check.Warnings) > 0 {
				t.Errorf("%+v, %v", d, check.Warnings)
			}
			if c.tokens < 20 && (len(check.Second) != 1 || check.Second[0].Samples != 3 || check.Second[0].Outputs != 19*37) {
				t.Errorf("second opinion: %+v", check.Second)
			}
			want, err := schedule.CheckDecode(t.Context(), j.HW.Scheduled, &unit.Cache{}, c.prefill)
			if err != nil {
				t.Fatal(err)
			}
			if d.PrefillCycles != want.First || d.MostCycles != want.Token || check.II != want.Cycles {
				t.Errorf("measured %+v, predicted %+v", d, want)
			}
		})
	}
}

// TestDecodeReport has the report of a decoder speak of tokens, and of no samples that overlap.
func TestDecodeReport(t *testing.T) {
	j := decoderJob(t, "../../frontend/hf/testdata/gpt2", "", 8, 37, true)
	r, err := j.HW.Report(t.Context(), "gpt2", driver.Measured{})
	if err != nil {
		t.Fatal(err)
	}
	dec := j.HW.Decoder()
	if r.Decoder == nil || r.Decoder.TokenCycles != dec.Token || r.Speed.Interval != dec.Cycles || r.Timeline != nil {
		t.Errorf("%+v, %v cycles apart, %d spans: %+v", r.Decoder, r.Speed.Interval, len(r.Timeline), dec)
	}
}

// TestDecodeHolds refuses designs that hold tokens back, and names what does.
func TestDecodeHolds(t *testing.T) {
	j := decoderJob(t, examples+"tiny-llama/hf", "", 8, 256, false)
	_, err := schedule.CheckDecode(t.Context(), j.HW.Scheduled, &unit.Cache{}, 1)
	if diag.CodeOf(err) != "L0435" || !strings.Contains(err.Error(), "rotary_k") ||
		!strings.Contains(err.Error(), "rotate holds back what it has of 1 tokens") {
		t.Errorf("rotary positions of whole frames: %v", err)
	}
}

// TestDecodePlans refuses plans under which no decoder comes about.
func TestDecodePlans(t *testing.T) {
	for _, c := range []struct {
		model, plan string
		tokens      int
		code        diag.Code
		text        string
	}{
		{smallDecoder, "[fold]\nfps = 1000\nmode = \"balance\"\n", 8, "L0435", "fps"},
		{smallDecoder, "[quantize]\ndata = \"mxint8\"\n[[quantize.rule]]\nop = \"attend_sum\"\ndata_in = \"mxint8\"\n", 8,
			"L0435", "fixed values"},
		{alikeLayers(t), sharing, 1, "L0435", "at least 2 tokens"},
	} {
		s := driver.Source{Model: c.model, Plan: planFile(t, "[sequence]\ndecode = true\n"+c.plan),
			Transformer: source.Transformer{Room: c.tokens}}
		_, err := emits(t.Context(), s)
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.plan, err)
		}
	}
}

// TestDecodeRefused refuses what is no sequence, or keeps its caches elsewhere.
func TestDecodeRefused(t *testing.T) {
	bert, llama := examples+"bert-tiny-like/hf", examples+"tiny-llama/hf"
	for _, c := range []struct {
		name, model, text string
		choice            source.Transformer
		outputs           []string
	}{
		{"caches", llama, "caches outside of the chip", source.Transformer{Cache: true, Past: 3}, nil},
		{"two lengths", llama, "and not just 5", source.Transformer{Seq: 5, Room: 8}, nil},
		{"a mask", llama, `"attention_mask" is another`,
			source.Transformer{Room: 8, Inputs: []string{"input_ids", "attention_mask"}}, nil},
		{"classes", bert, `"logits" is 1x3`, source.Transformer{Room: 8, Inputs: []string{"input_ids"}}, nil},
		{"both ways", bert, "attend_scores holds back what it has of 1 tokens",
			source.Transformer{Room: 8, Inputs: []string{"input_ids"}}, []string{"bert.encoder.layer.0.output.LayerNorm"}},
	} {
		decode := true
		s := driver.Source{Model: c.model, Settings: plan.Settings{Decode: &decode}, Transformer: c.choice,
			Outputs: c.outputs}
		_, err := emits(t.Context(), s)
		if diag.CodeOf(err) != "L0435" || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
