// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"

	"lathe/ir"
)

// writeFolders writes folders of Hugging Face: a sound one, and one without most of its weights.
func writeFolders(dir string) error {
	tensors := []tensor{
		{"embeddings.word_embeddings.weight", []int{8, 4}}, {"embeddings.position_embeddings.weight", []int{16, 4}},
		{"embeddings.LayerNorm.weight", []int{4}}, {"embeddings.LayerNorm.bias", []int{4}},
	}
	for _, linear := range []string{"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
		"ffn.lin1", "ffn.lin2"} {
		name := "transformer.layer.0." + linear
		tensors = append(tensors, tensor{name + ".weight", []int{4, 4}}, tensor{name + ".bias", []int{4}})
	}
	for _, norm := range []string{"sa_layer_norm", "output_layer_norm"} {
		name := "transformer.layer.0." + norm
		tensors = append(tensors, tensor{name + ".weight", []int{4}}, tensor{name + ".bias", []int{4}})
	}
	if err := writeFolder(filepath.Join(dir, "distilbert"), tensors); err != nil {
		return err
	}
	return writeFolder(filepath.Join(dir, "missing-tensors"), []tensor{{"embeddings.word_embedings.weight", []int{0}}})
}

// tensor is a tensor of float32 in a safetensors file.
type tensor struct {
	name  string
	shape []int
}

// writeFolder writes a DistilBERT of one layer with the given tensors.
func writeFolder(folder string, tensors []tensor) error {
	config := `{"model_type": "distilbert", "dim": 4, "n_heads": 1, "n_layers": 1, "hidden_dim": 4, "vocab_size": 8, ` +
		`"max_position_embeddings": 16}`
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	entries, data := map[string]entry{}, []byte{}
	for _, t := range tensors {
		from := len(data)
		data = append(data, ir.FloatBlob(ramp((ir.Type{Shape: t.shape}).Elems())).Bytes...)
		entries[t.name] = entry{"F32", t.shape, [2]int{from, len(data)}}
	}
	header, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "model.safetensors"), append(file, data...), 0o644)
}
