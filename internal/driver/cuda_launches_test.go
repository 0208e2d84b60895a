// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/driver"
	"lathe/ir/format"
	"lathe/lower"
	"lathe/lower/kernels"
)

// TestLaunches counts the kernels of a layer in 16 bits: what follows a product, and what moves heads, is in them.
func TestLaunches(t *testing.T) {
	for _, c := range []struct {
		model, layer string
		most         int
		room, seq    int           // of caches, and tokens of a Hugging Face folder
		kv           format.Format // of caches, nil for bf16
	}{
		{"bert-tiny-like/model.onnx", ".layer.1.", 7, 0, 0, nil}, {"bert-tiny-like/model.pt2", ".layer.1.", 7, 0, 0, nil},
		{"tiny-llama/model.onnx", ".layers.1.", 8, 0, 0, nil}, {"tiny-llama/hf", ".layers.1.", 8, 0, 0, nil},
		{"digits-vit/model.onnx", "layers.1.", 7, 0, 0, nil}, {"digits-vit/model_sdpa.pt2", "layers.1.", 7, 0, 0, nil},
		{"digits-resnet/model.onnx", "block1.", 2, 0, 0, nil}, {"digits-cnn/model.onnx", "conv", 2, 0, 0, nil},
		{"digits-mlp/model.onnx", "", 3, 0, 0, nil},
		{"tiny-llama/hf", ".layers.1.", 8, 64, 16, nil}, {"tiny-llama/hf", ".layers.1.", 8, 64, 1, nil},
		{"tiny-llama/hf", ".layers.1.", 9, 300, 1, nil}, {"tiny-llama/hf", ".layers.1.", 8, 64, 16, format.MXInt8},
		{"tiny-llama/hf", ".layers.1.", 8, 64, 1, format.MXInt8}, {"tiny-llama/hf", ".layers.1.", 9, 300, 1, format.MXInt8},
	} {
		for _, weight := range []format.Format{format.BF16, format.MXInt8} {
			s := driver.Source{Model: filepath.Join("..", "..", "examples", c.model)}
			if c.room > 64 {
				s.Model = longer(t, s.Model)
			}
			s.Transformer.Room, s.Transformer.Seq = c.room, c.seq
			g, err := s.Import()
			if err != nil {
				t.Fatal(err)
			}
			g, _, err = lower.Kernels(t.Context(), g, kernels.Precision{Act: format.BF16, Weight: weight, Cache: c.kv},
				library.Portable(), kernels.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := cuda.Emit(g, cuda.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var launches []string
			for _, u := range d.Units {
				if strings.Contains(u.Node, c.layer) {
					launches = append(launches, u.Node+" "+u.Op)
				}
			}
			if len(launches) != c.most {
				t.Errorf("%s, weights in %s: %d launches, want %d:\n%s", c.model, weight, len(launches), c.most,
					strings.Join(launches, "\n"))
			}
		}
	}
}

// TestQuantizedLaunches: norms and softmax of codes have one kernel each, whose blocks compute rows.
func TestQuantizedLaunches(t *testing.T) {
	for _, model := range []string{"tiny-bert", "digits-vit", "tiny-llama"} {
		dir := filepath.Join("..", "..", "examples", model)
		s := driver.Source{Model: filepath.Join(dir, "model.onnx"), Calibrate: filepath.Join(dir, "inputs.npz")}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.Quantize(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		d, err := cuda.Emit(q.Graph, cuda.Options{Generic: true})
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]int{}
		for _, u := range d.Units {
			if u.Op == "layer_norm" || u.Op == "rms_norm" || u.Op == "attend_weights" || u.Op == "softmax" {
				of[u.Node]++
			}
		}
		for node, launches := range of {
			if launches != 1 {
				t.Errorf("%s: %d launches for %s", model, launches, node)
			}
		}
		if len(of) < 4 {
			t.Errorf("%s: only %d norms and softmax", model, len(of))
		}
	}
}

// longer is a copy of a Hugging Face folder for more tokens than it was trained for.
func longer(t *testing.T, folder string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hf")
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"max_position_embeddings": 64`), []byte(`"max_position_embeddings": 4096`), 1)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
