// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/ir/survey"
)

// notTheModel are the files that do not hold the parameters of their model, and how many more or fewer they hold.
var notTheModel = map[string]int{
	// batch normalization is folded into the convolutions: scales and shifts are gone, biases came
	"digits-cnn/model_folded.onnx":         -48,
	"digits-qdq/model.onnx":                -48,
	"digits-qdq-perchannel/model.onnx":     -48,
	"digits-dscnn/model.onnx":              -92,
	"digits-dscnn/model_legacy.onnx":       -92,
	"digits-resnet/model_legacy.onnx":      -16,
	"digits-jax/model_args.stablehlo.mlir": -3658, // all are inputs
	"bert-tiny-like/model.onnx":            1280,  // the exporter looked 24 tokens up in two tables
	"tiny-bert/model.onnx":                 1440,  // and 32 tokens in the table of types
	"tiny-gpt2/model.onnx":                 6144,  // it wrote the tied weights twice, the second ones transposed
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestParameters counts the parameters of every file of every example: those that its README states, which are what
// torchinfo counts.
func TestParameters(t *testing.T) {
	stated := regexp.MustCompile(`([0-9,]+) parameters`)
	files, err := filepath.Glob(examples + "*/*")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, path := range files {
		base := filepath.Base(path)
		if ext := filepath.Ext(path); base != "hf" && ext != ".onnx" && ext != ".pt2" && ext != ".mlir" {
			continue
		}
		dir := filepath.Dir(path)
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		m := stated.FindSubmatch(readme)
		if m == nil {
			t.Fatalf("%s: its README states no parameters", path)
		}
		want, err := strconv.Atoi(strings.ReplaceAll(string(m[1]), ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		s := driver.Source{Model: path}
		if ops := filepath.Join(dir, "ops.toml"); exists(ops) {
			s.Ops = ops
		}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(filepath.Base(dir), base)
		if got := survey.Of(g).Params; got != want+notTheModel[name] {
			t.Errorf("%s: %d parameters, the model has %d (%+d expected)", name, got, want, notTheModel[name])
		}
		tested++
	}
	if tested < 40 {
		t.Errorf("only %d files were found", tested)
	}
}

// TestBuffers counts what is stored and not trained: means and variances of two and of four norms; tables and a mask.
func TestBuffers(t *testing.T) {
	for name, want := range map[string]int{"digits-cnn/model.onnx": 48, "digits-cnn/model.pt2": 48,
		"digits-resnet/model.onnx": 144, "digits-dscnn/model.pt2": 184, "tiny-llama/model.onnx": 3 * 256,
		"tiny-llama/model.pt2": 8, "digits-vit/model.onnx": 0} {
		s := driver.Source{Model: examples + name}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		if got := survey.Of(g).Buffers; got != want {
			t.Errorf("%s: %d buffers, want %d", name, got, want)
		}
	}
}
