// SPDX-License-Identifier: Apache-2.0

package hf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend"
	"lathe/frontend/hf"
	"lathe/frontend/source"
	"lathe/internal/diag"
)

// changed copies a folder of testdata, with one text in place of another in config.json, and in the weights.
func changed(t *testing.T, folder, config, weights string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]string{"config.json": config, "model.safetensors": weights} {
		data, err := os.ReadFile(filepath.Join("testdata", folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if from, to, ok := strings.Cut(change, " -> "); ok {
			if !bytes.Contains(data, []byte(from)) {
				t.Fatalf("%s of %s has no %s", name, folder, from)
			}
			data = bytes.Replace(data, []byte(from), []byte(to), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var none = source.Options{}

func choose(c source.Transformer) source.Options { return source.Options{Transformer: c} }

// refusals are folders with a change, and choices: the code and what the error says.
var refusals = []struct {
	folder, config, weights string
	opts                    source.Options
	code                    diag.Code
	say                     []string
}{
	{"bert", `"model_type": "bert" -> "model_type": "brt"`, "", none, "L0280",
		[]string{"m/config.json: L0280", `"brt"`, "supported are bert, roberta, distilbert, vit, gpt2, opt, llama, " +
			"mistral, qwen2, qwen3", "the nearest is bert"}},
	{"bert", `"BertModel" -> "BertForQuestionAnswering"`, "", none, "L0280",
		[]string{"architectures", "--task takes another head, or none: encoder, sequence-classification, masked-lm"}},
	{"bert", `"num_hidden_layers": 2 -> "num_hidden_layers": 3`, "", none, "L0281",
		[]string{"lacks 16 of the tensors", "note: encoder.layer.2.attention.self.query.weight"}},
	{"bert", `"num_hidden_layers": 2 -> "num_hidden_layers": 1`, "", none, "L0281",
		[]string{"tensors that belong to nothing in the model that config.json describes: 16",
			`note: "encoder.layer.1.attention.output.LayerNorm.bias"`}},
	{"bert", "", `.1.output.dense.weight -> .1.output.dense.wieght`, none, "L0281",
		[]string{"lacks 1 of the tensors", "layer.1.output.dense.weight; the nearest that is there: encoder." +
			"layer.1.output.dense.wieght", "belong to nothing"}},
	{"bert", `"vocab_size": 37 -> "vocab_size": 38`, "", none, "L0222",
		[]string{"m/model.safetensors: embeddings.word_embeddings.weight", "the shape 37x16", "config.json asks for 38x16"}},
	{"bert", "", `"F32" -> "F99"`, none, "L0210", []string{"m/model.safetensors: "}},
	{"bert", "", `"F32" -> "I32"`, none, "L0210", []string{"elements of type I32", "describes a model of float32"}},
	{"bert", `"hidden_act": "gelu_new" -> "hidden_act": "gelu_nwe"`, "", none, "L0282",
		[]string{"did you mean gelu_new?"}},
	{"bert", `"num_attention_heads": 2 -> "num_attention_heads": 3`, "", none, "L0209", []string{"3 attention heads"}},
	{"bert", `"hidden_size": 16 -> "hidden_size": 16.0`, "", none, "L0209", []string{"config.json: hidden_size"}},
	{"bert", `"hidden_size": 16 -> "hidden_size": -1`, "", none, "L0209", []string{"is not between 1 and"}},
	{"bert", `"hidden_size": 16 -> "hidden_size": 8388608`, "", none, "L0205", []string{"at most"}},
	{"bert", `"num_hidden_layers": 2 -> "num_hidden_layers": 9999`, "", none, "L0205", []string{"9999 layers"}},
	{"bert", `"hidden_size": 16 -> "position_embedding_type": "relative_key"`, "", none, "L0282",
		[]string{"relative_key"}},
	{"bert", `"hidden_size": 16 -> "is_decoder": true, "is_decoder": true`, "", none, "L0219", []string{"twice"}},
	{"bert", `"hidden_size": 16 -> "nested": ` + strings.Repeat(`{"a": `, 1000), "", none, "L0205", []string{"deep"}},
	{"bert", "", "", choose(source.Transformer{Seq: 17}), "L0215", []string{"17 tokens are more than the 16 positions"}},
	{"bert", "", "", choose(source.Transformer{Cache: true}), "L0284", []string{"no caches"}},
	{"bert", "", "", choose(source.Transformer{Loss: true}), "L0284", []string{"has no loss"}},
	{"bert", "", "", choose(source.Transformer{Task: "masked_lm"}), "L0284", []string{"did you mean masked-lm?"}},
	{"bert", "", "", choose(source.Transformer{Inputs: []string{"input_idx"}}), "L0284",
		[]string{"did you mean input_ids?"}},
	{"bert", "", "", choose(source.Transformer{Inputs: []string{"attention_mask"}}), "L0284",
		[]string{"one of the inputs input_ids and inputs_embeds"}},
	{"bert", "", "", choose(source.Transformer{Inputs: []string{"input_ids", "input_ids"}}), "L0284", []string{"twice"}},
	{"bert", "", "", source.Options{Dims: map[string]int{"sequence": 4}}, "L0215", []string{"only batch and seq"}},
	{"llama", "", `"lm_head.weight" -> "lm_head.wieght"`, none, "L0281",
		[]string{"lacks 1 of the tensors", "lm_head.weight"}},
	{"bert-classifier", `"single_label_classification" -> "multi_label_classification"`, "",
		choose(source.Transformer{Loss: true}), "L0282", []string{"problem_type", "multi_label_classification"}},
	{"bert", "", "", source.Options{Shapes: map[string][]int{"input_idz": {1, 5}}}, "L0215",
		[]string{`no input called "input_idz"`, `did you mean "input_ids"?`}},
	{"bert", "", "", source.Options{Shapes: map[string][]int{"attention_mask": {1, 5}}}, "L0215", []string{"not 1x5"}},
	{"vit", "", "", choose(source.Transformer{Seq: 4}), "L0284", []string{"take images"}},
	{"vit", `"patch_size": 4 -> "patch_size": 5`, "", none, "L0215", []string{"not cut evenly"}},
	{"llama", `"rope_type": "default" -> "rope_type": "yarn"`, "", none, "L0282", []string{"rope_parameters", `"yarn"`}},
	{"llama", `"rope_theta": 10000.0 -> "rope_theta": -1`, "", none, "L0209", []string{"rope_theta", "positive"}},
	{"llama-linear", `"factor": 2.0 -> "faktor": 2.0`, "", none, "L0209", []string{`lacks "factor"`}},
	{"llama", `"num_key_value_heads": 2 -> "num_key_value_heads": 3`, "", none, "L0282",
		[]string{"3 key and value heads"}},
	{"llama", "", "", choose(source.Transformer{Seq: 60, Cache: true, Past: 5}), "L0215", []string{"65 tokens"}},
	{"llama", "", "", choose(source.Transformer{Seq: 60, Room: 65}), "L0215", []string{"65 tokens are more than"}},
	{"llama", "", "", choose(source.Transformer{Seq: 6, Room: 5}), "L0215", []string{"6 tokens do not fit caches of 5"}},
	{"llama", "", "", choose(source.Transformer{Room: -1}), "L0284", []string{"-1 tokens are out of range"}},
	{"llama", "", "", choose(source.Transformer{Room: 5, Cache: true}), "L0284", []string{"--max-seq", "--past"}},
	{"llama", "", "", choose(source.Transformer{Room: 5, Inputs: []string{"input_ids", "attention_mask"}}), "L0284",
		[]string{"take no attention_mask", "the input position"}},
	{"bert", "", "", choose(source.Transformer{Room: 5}), "L0284", []string{"no caches"}},
	{"llama", "", "", choose(source.Transformer{Seq: 1, Loss: true}), "L0284", []string{"two tokens"}},
	{"mistral", "", "", choose(source.Transformer{Seq: 9}), "L0282",
		[]string{"window of 8 tokens", "hint: take at most 8"}},
	{"opt", `"layer_norm_elementwise_affine": true -> "layer_norm_elementwise_affine": false`, "", none, "L0282", nil},
}

func TestRefused(t *testing.T) {
	for _, c := range refusals {
		_, err := frontend.Load(changed(t, c.folder, c.config, c.weights), c.opts)
		if diag.CodeOf(err) != c.code {
			t.Errorf("%s %s %s: got %v, want %s", c.folder, c.config, c.weights, err, c.code)
			continue
		}
		for _, s := range c.say {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%v\n does not say %s", err, s)
			}
		}
	}
}

// TestAccepted takes settings in the words of older versions of the library.
func TestAccepted(t *testing.T) {
	for _, c := range []struct{ folder, config, weights string }{
		{"llama", `"rope_parameters": { -> "torch_dtype": "float32", "rope_theta": 1e4, "rope_scaling": null, "x": {`, ""},
		{"llama-linear", `"rope_type": "linear" -> "type": "linear"`, ""},
		{"bert", `"hidden_act" -> "hidden_actor"`, ""}, // the default
		{"bert", "", "embeddings.LayerNorm.weight -> embeddings.LayerNorm.gamma"},
		{"qwen2", `"sliding_window": null -> "sliding_window": 1`, ""}, // not used
		{"mistral", `"sliding_window": 8 -> "sliding_window": null`, ""},
	} {
		dir := changed(t, c.folder, c.config, padded(c.weights))
		if _, err := frontend.Load(dir, source.Options{Transformer: source.Transformer{Seq: 7}}); err != nil {
			t.Errorf("%s %s %s: %v", c.folder, c.config, c.weights, err)
		}
	}
}

// padded keeps the length of a header: the name of a tensor that gets shorter is followed by spaces behind its quotes.
func padded(change string) string {
	from, to, ok := strings.Cut(change, " -> ")
	if !ok {
		return ""
	}
	return from + `" -> ` + to + `"` + strings.Repeat(" ", len(from)-len(to))
}

// TestOrigin notes what the folder says of itself.
func TestOrigin(t *testing.T) {
	g, err := frontend.Load("testdata/llama-shards", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := g.Origin
	if o == nil || o.Producer != "transformers 5.23.0" || o.Class("model.layers.1.self_attn") != "LlamaAttention" ||
		o.Class("") != "LlamaForCausalLM" || o.Class("lm_head") != "Linear" || len(o.Notes) != 0 {
		t.Errorf("%+v", o)
	}
	for _, name := range []string{"model.layers.1.self_attn.q_proj", "lm_head", "model.embed_tokens.weight"} {
		if g.Find(name) == nil {
			t.Errorf("no node is called %s", name)
		}
	}
	g, err = frontend.Load(changed(t, "llama-linear", `"dtype": "float16" -> "dtype": "float32"`, ""), source.Options{})
	if err != nil || len(g.Origin.Notes) != 1 || !strings.Contains(g.Origin.Notes[0], "float16") {
		t.Errorf("%v, %v", g, err)
	}
}

// TestSupported demands that the documentation names all folders of testdata, each with the architecture that it has.
func TestSupported(t *testing.T) {
	count := 0
	for _, s := range hf.Supported() {
		for _, folder := range s.Tested {
			data, err := os.ReadFile(filepath.Join("testdata", folder, "config.json"))
			if err != nil || !bytes.Contains(data, []byte(`"model_type": "`+s.Name+`"`)) {
				t.Errorf("%s is no %s: %v", folder, s.Name, err)
			}
			count++
		}
		if len(s.Tested) == 0 {
			t.Errorf("%s is not tested", s.Name)
		}
	}
	if all, err := filepath.Glob("testdata/*/config.json"); err != nil || len(all) != count {
		t.Errorf("%d folders, %d are named: %v", len(all), count, err)
	}
}

// TestTruncated cuts config.json everywhere.
func TestTruncated(t *testing.T) {
	dir := changed(t, "bert", "", "")
	path := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range bytes.TrimSpace(data) {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := frontend.Load(dir, none); diag.CodeOf(err) != diag.ModelBroken {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
}
