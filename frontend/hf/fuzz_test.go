// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// FuzzConfig builds graphs without weights from configurations: whatever they say, the answer is an error with a code.
func FuzzConfig(f *testing.F) {
	files, err := filepath.Glob("testdata/*/config.json")
	if err != nil || len(files) < 20 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(3))
	}
	for _, a := range architectures() { // all defaults
		f.Add([]byte(`{"model_type": "`+a.modelType+`"}`), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		opts := source.Options{Transformer: source.Transformer{Seq: int(choice & 3), Cache: choice&4 != 0,
			Past: int(choice >> 3 & 3), Loss: choice&32 != 0}}
		if choice&64 != 0 {
			opts.Transformer.Task = encoder
		}
		if choice&128 != 0 {
			opts.Transformer.Inputs = []string{"inputs_embeds", "position_ids", "attention_mask"}
		}
		c, err := readConfig(configName, data)
		if err == nil {
			var a *architecture
			var h *head
			if a, h, err = choose(c, opts.Transformer.Task); err == nil {
				_, err = convert("m", c, a, h, nil, opts)
			}
		}
		if diag.CodeOf(err) == "" {
			t.Fatalf("%v has no code", err)
		}
	})
}
