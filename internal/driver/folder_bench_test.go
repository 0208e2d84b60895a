// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	words "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lathe/ir"
)

// writeBigFolder writes a Llama of 519 MB, whose weights are zeros.
func writeBigFolder(dir string) error {
	const hidden, layers, vocab, inner = 1024, 5, 32000, 2816
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, at := map[string]entry{}, 0
	add := func(name string, shape ...int) {
		size := 4 * (ir.Type{Shape: shape}).Elems()
		header[name+".weight"] = entry{"F32", shape, [2]int{at, at + size}}
		at += size
	}
	add("model.embed_tokens", vocab, hidden)
	add("lm_head", vocab, hidden)
	add("model.norm", hidden)
	for i := range layers {
		path := fmt.Sprintf("model.layers.%d.", i)
		for _, name := range []string{"q", "k", "v", "o"} {
			add(path+"self_attn."+name+"_proj", hidden, hidden)
		}
		add(path+"mlp.gate_proj", inner, hidden)
		add(path+"mlp.up_proj", inner, hidden)
		add(path+"mlp.down_proj", hidden, inner)
		add(path+"input_layernorm", hidden)
		add(path+"post_attention_layernorm", hidden)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	file := append(words.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	weights := filepath.Join(dir, "model.safetensors")
	if err := os.WriteFile(weights, file, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(weights, int64(len(file)+at)); err != nil {
		return err
	}
	config := fmt.Sprintf(`{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": %d, `+
		`"num_hidden_layers": %d, "vocab_size": %d, "intermediate_size": %d, "num_attention_heads": 16}`, hidden, layers,
		vocab, inner)
	return os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600)
}

// BenchmarkInspectFolder opens a Hugging Face folder of 519 MB with the real command.
func BenchmarkInspectFolder(b *testing.B) {
	dir := b.TempDir()
	if err := writeBigFolder(dir); err != nil {
		b.Fatal(err)
	}
	timeCommand(b, binary(b), "inspect", dir)
}
