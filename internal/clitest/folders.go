// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"encoding/binary"
	"os"
	"path/filepath"
)

// writeFolders writes folders of models: config.json and weights.
func writeFolders(dir string) error {
	config := `{"model_type": "distilbert", "dim": 4, "n_heads": 1, "n_layers": 1, "hidden_dim": 4, "vocab_size": 8}`
	header := `{"distilbert.embeddings.word_embedings.weight":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`
	weights := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	folder := filepath.Join(dir, "missing-tensors")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "model.safetensors"), weights, 0o644)
}
