// SPDX-License-Identifier: Apache-2.0

package frontend

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/text"
)

// examples are all model files of the examples with the nodes that they must have, constants aside; "..." at the end
// stands for more.
var examples = []struct{ path, nodes string }{
	{"digits-mlp/model.onnx", "x:1x64 0:1x32 1:1x32 2:1x32 3:1x32 4:1x10"},
	{"digits-mlp/model_opset21.onnx", "x:1x64 0:1x32 1:1x32 2:1x32 3:1x32 4:1x10"},
	{"digits-mlp/model_legacy.onnx", "x:1x64 0:1x32 1:1x32 2:1x32 3:1x32 4:1x10"},
	{"digits-mlp/model_dyn.onnx", "x:1x64 0:1x32 1:1x32 2:1x32 3:1x32 4:1x10"},
	{"digits-mlp/model_dyn_legacy.onnx", "x:1x64 0:1x32 1:1x32 2:1x32 3:1x32 4:1x10"},
	{"digits-cnn/model.onnx", cnn + " view:1x256 fc:1x10"},
	{"digits-cnn/model_dyn.onnx", cnn + " view:1x256 fc:1x10"},
	{"digits-cnn/model_legacy.onnx", cnn + " flatten:1x256 fc:1x10"},
	{"digits-cnn/model_dyn_legacy.onnx", cnn + " flatten:1x256 fc:1x10"},
	{"digits-cnn/model_folded.onnx", "x:1x1x8x8 bn1:1x8x8x8 relu:1x8x8x8 pool:1x8x4x4 bn2:1x16x4x4 relu_1:1x16x4x4 " +
		"view:1x256 fc:1x10"},
	{"digits-dscnn/model.onnx", "x:1x1x8x8 body.0:1x12x8x8 body.1:1x12x8x8 body.3:1x12x8x8 body.4:1x12x8x8 " +
		"body.6:1x24x8x8 body.7:1x24x8x8 body.9:1x24x4x4 body.10:1x24x4x4 body.12:1x32x4x4 body.13:1x32x4x4 " +
		"body.14:1x32x2x2 view:1x128 fc:1x10"},
	{"digits-dscnn/model_legacy.onnx", "x:1x1x8x8 body.0:1x12x8x8 body.1:1x12x8x8 body.2:1x12x8x8 body.4:1x12x8x8 " +
		"body.5:1x24x8x8 body.7:1x24x8x8 body.8:1x24x4x4 body.10:1x24x4x4 body.11:1x32x4x4 body.13:1x32x4x4 " +
		"body.14:1x32x2x2 flatten:1x128 fc:1x10"},
	{"digits-resnet/model.onnx", "x:1x1x8x8 stem.0:1x8x8x8 stem.1:1x8x8x8 stem.2:1x8x8x8 block1.conv1:1x8x8x8 " +
		"block1.bn1:1x8x8x8 block1.relu_1:1x8x8x8 block1.conv2:1x8x8x8 block1.bn2:1x8x8x8 block1.add:1x8x8x8 " +
		"block1.relu_2:1x8x8x8 block2.conv1:1x16x4x4 block2.bn1:1x16x4x4 block2.relu_3:1x16x4x4 block2.conv2:1x16x4x4 " +
		"block2.bn2:1x16x4x4 block2.down.0:1x16x4x4 block2.down.1:1x16x4x4 block2.add_1:1x16x4x4 " +
		"block2.relu_4:1x16x4x4 pool:1x16x1x1 view:1x16 fc:1x10"},
	{"digits-resnet/model_legacy.onnx", "x:1x1x8x8 stem.0:1x8x8x8 stem.1:1x8x8x8 stem.2:1x8x8x8 block1.conv1:1x8x8x8 " +
		"block1.bn1:1x8x8x8 block1.relu:1x8x8x8 block1.conv2:1x8x8x8 block1.bn2:1x8x8x8 block1.add:1x8x8x8 " +
		"block1.relu_1:1x8x8x8 block2.conv1:1x16x4x4 block2.bn1:1x16x4x4 block2.relu:1x16x4x4 block2.conv2:1x16x4x4 " +
		"block2.bn2:1x16x4x4 block2.down.0:1x16x4x4 block2.down.1:1x16x4x4 block2.add:1x16x4x4 " +
		"block2.relu_1:1x16x4x4 pool:1x16x1x1 flatten:1x16 fc:1x10"},
	{"digits-qdq/model.onnx", qdq},
	{"digits-qdq-perchannel/model.onnx", qdq},
	{"digits-qdq-mlp/model.onnx", "x:1x64 x_QuantizeLinear:1x64 0:1x32 linear_QuantizeLinear:1x32 1:1x32 " +
		"relu_QuantizeLinear:1x32 2:1x32 linear_1_QuantizeLinear:1x32 3:1x32 relu_1_QuantizeLinear:1x32 4:1x10 " +
		"logits_QuantizeLinear:1x10"},
	{"digits-qonnx/model.onnx", "x:1x64 Quant_x_q:1x64 MatMul_0:1x48 Add_0:1x48 Relu_0:1x48 Quant_act0_q:1x48 " +
		"MatMul_1:1x32 Add_1:1x32 Relu_1:1x32 Quant_act1_q:1x32 MatMul_2:1x10 Add_2:1x10"},
	{"digits-widths/model.onnx", "x:1x64 input.quant:1x64 fc1:1x32 relu1:1x32 relu1.quant:1x32 fc2:1x32 relu2:1x32 " +
		"relu2.quant:1x32 fc3:1x10"},
	{"jets-mlp/model.onnx", "x:1x16 0:1x64 1:1x64 2:1x32 3:1x32 4:1x32 5:1x32 6:1x5"},
	{"digits-vit/model.onnx", vit + " view:1x32x16 transpose:1x16x32 cat:1x17x32 add:1x17x32 layers.0.ln1:1x17x32 " +
		"layers.0.qkv:1x17x96 ..."},
	{"digits-vit/model_opset20.onnx", vit + " view:1x32x16 transpose:1x16x32 cat:1x17x32 add:1x17x32 " +
		"layers.0.ln1:1x17x32 layers.0.qkv:1x17x96 ..."},
	{"digits-vit/model_legacy.onnx", vit + " ..."},
	{"digits-vit/model_dyn.onnx", vit + " ..."},
	{"digits-lstm/model.onnx", "x:1x8x8 lstm:8x1x8 lstm.rows:8x8 lstm.gates:8x128 lstm.states:8x32 ..."},
	{"digits-lstm/model_legacy.onnx", "x:1x8x8 ..."},
	{"digits-gru/model.onnx", "x:1x8x8 gru:8x1x8 gru.rows:8x8 gru.forward.gates:8x72 gru.forward.states:8x24 " +
		"gru.forward.end:1x24 gru.reverse.turned:8x8 gru.reverse.gates:8x72 gru.reverse.states:8x24 " +
		"gru.reverse.end:1x24 ..."},
	{"digits-gru/model_legacy.onnx", "x:1x8x8 ..."},
	{"jets-mlp/model_legacy.onnx", "x:1x16 0:1x64 1:1x64 2:1x32 3:1x32 4:1x32 5:1x32 6:1x5"},
}

const qdq = "x:1x1x8x8 x_QuantizeLinear:1x1x8x8 bn1:1x8x8x8 relu_QuantizeLinear:1x8x8x8 pool:1x8x4x4 " +
	"max_pool2d_QuantizeLinear:1x8x4x4 bn2:1x16x4x4 relu_1_QuantizeLinear:1x16x4x4 view:1x256 " +
	"view_QuantizeLinear:1x256 fc:1x10 logits_QuantizeLinear:1x10"

const vit = "x:1x1x8x8 patch:1x32x4x4"

const cnn = "x:1x1x8x8 conv1:1x8x8x8 bn1:1x8x8x8 relu:1x8x8x8 pool:1x8x4x4 conv2:1x16x4x4 bn2:1x16x4x4 relu_1:1x16x4x4"

func load(t testing.TB, path string) *ir.Graph {
	t.Helper()
	g, err := Load(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// transformers are the files of examples that internal/driver compares with those of other forms, and internal/cli the
// one with operations of its own.
var transformers = []string{"../examples/own-layers/net.onnx",
	"../examples/bert-tiny-like/model.onnx", "../examples/tiny-bert/model.onnx",
	"../examples/tiny-gpt2/model.onnx", "../examples/tiny-llama/model.onnx"}

// TestExamples loads every model file of the examples and compares its float values with the stored outputs.
func TestExamples(t *testing.T) {
	found, err := filepath.Glob("../examples/*/*.onnx")
	found = slices.DeleteFunc(found, func(path string) bool { return slices.Contains(transformers, path) })
	if err != nil || len(found) != len(examples) {
		t.Errorf("%d model files for %d cases: %v", len(found), len(examples), err)
	}
	for _, e := range examples {
		t.Run(e.path, func(t *testing.T) {
			path := filepath.Join("../examples", e.path)
			g := load(t, path)
			var nodes []string
			for _, n := range g.Nodes {
				if !n.IsConst() {
					nodes = append(nodes, n.Name+":"+ir.ShapeString(n.Type.Shape))
				}
				if want := filepath.Base(path) + ": " + n.Name + " ("; !strings.HasPrefix(n.Pos, want) {
					t.Errorf("position %q does not begin with %q", n.Pos, want)
				}
			}
			got, more := strings.Join(nodes, " "), false
			if e.nodes, more = strings.CutSuffix(e.nodes, "..."); more && strings.HasPrefix(got, e.nodes) {
				got = e.nodes
			}
			if got != e.nodes {
				t.Errorf("nodes\n%s, want\n%s", got, e.nodes)
			}
			compare(t, g, filepath.Dir(path))
		})
	}
}

// compare runs all stored samples: tolerance 2e-5 absolute plus 1e-4 relative.
func compare(t *testing.T, g *ir.Graph, dir string) {
	t.Helper()
	x, want := array(t, dir, "inputs.npz", g.In[0].Name), array(t, dir, "outputs.npz", g.Out[0].Name)
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	in := g.In[0].Type
	var samples []ref.Sample
	for s := range slices.Chunk(x, in.Elems()) {
		samples = append(samples, ref.Sample{{Type: in, Floats: s}})
	}
	out, err := p.Run(context.Background(), samples)
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	for _, s := range out {
		got = append(got, s[0].Floats...)
	}
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i] - w)); !(d <= 2e-5+1e-4*math.Abs(float64(w))) {
			t.Fatalf("value %d is %g, want %g", i, got[i], w)
		}
	}
}

func array(t *testing.T, dir, file, name string) []float32 {
	t.Helper()
	f, err := npz.Read(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return a.Float32s()
}

// TestText prints, parses, saves and loads every example.
func TestText(t *testing.T) {
	for _, e := range examples {
		g := load(t, filepath.Join("../examples", e.path))
		src := text.Print(g)
		h, err := text.Parse("g.txt", src, nil)
		if err != nil {
			t.Fatalf("%s: %v", e.path, err)
		}
		if text.Print(h) != src {
			t.Errorf("%s: the text form changes", e.path)
		}
		path := filepath.Join(t.TempDir(), "g.lathe")
		if err := text.Save(path, g); err != nil {
			t.Fatal(err)
		}
		if text.Print(load(t, path)) != src {
			t.Errorf("%s: the saved graph differs", e.path)
		}
		if svg, err := text.SVG(context.Background(), g); err != nil || !strings.Contains(string(svg), ">logits<") {
			t.Errorf("%s: no picture: %v", e.path, err)
		}
	}
}

func TestDynamicBatch(t *testing.T) {
	path := "../examples/digits-cnn/model_dyn.onnx"
	for _, opts := range []Options{{Dims: map[string]int{"batch": 3}}, {Shapes: map[string][]int{"x": {3, 1, 8, 8}}}} {
		g, err := Load(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		if s := ir.ShapeString(g.Out[0].Node.Type.Shape); s != "3x10" {
			t.Errorf("output shape %s", s)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	put := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	g := load(t, "../examples/digits-mlp/model.onnx")
	saved := filepath.Join(dir, "saved.lathe")
	if err := text.Save(saved, g); err != nil {
		t.Fatal(err)
	}
	put("hf/config.json", "{}")
	for _, c := range [...]struct {
		path string
		opts Options
		code diag.Code
		want string
	}{
		{filepath.Join(dir, "saved.lath"), Options{}, "L0201", "saved.lathe?"},
		{dir, Options{}, "L0201", "a folder"},
		{filepath.Join(dir, "hf"), Options{}, "L0280", "hf/config.json"},
		{filepath.Dir(put("tf/saved_model.pb", "x")), Options{}, "L0203", "tf2onnx"},
		{put("n.onnx", "x"), Options{Transformer: source.Transformer{Seq: 1}}, "L0215", "Hugging Face"},
		{put("m.pt2", "PK\x03\x04"), Options{}, "L0204", "cut off"},
		{put("m.mlir", "module {}"), Options{}, "L0227", "no function"},
		{put("zip", "PK\x03\x04"), Options{}, "L0204", "cut off"},
		{put("m.pth", "\x80\x02c"), Options{}, "L0261", "torch.export"},
		{put("pickle", "\x80\x02c"), Options{}, "L0261", "torch.export"},
		{put("mlir", "\nmodule @m {}"), Options{}, "L0227", "no function"},
		{put("lfs", "version https://git-lfs.github.com/spec/v1\n"), Options{}, "L0202", "git lfs pull"},
		{put("pointer.onnx", "version https://git-lfs.github.com/spec/v1\n"), Options{}, "L0202", "git lfs pull"},
		{put("page.onnx", "<!DOCTYPE html>"), Options{}, "L0202", "web page"},
		{put("other.txt", "hello"), Options{}, "L0202", ".onnx"},
		{put("empty.onnx", ""), Options{}, "L0202", "empty"},
		{put("g.onnx", "lathe 1\n"), Options{}, "L0202", "Lathe graph"},
		{put("g.lathe", "lathe 1\ngraph"), Options{}, "L0320", "g.lathe:2:6"},
		{saved, Options{Dims: map[string]int{"batch": 1}}, "L0215", "no open dimensions"},
		{saved, Options{Shapes: map[string][]int{"xx": {1, 64}}}, "L0215", "no input called"},
		{saved, Options{Shapes: map[string][]int{"x": {2, 64}}}, "L0215", "1x64, not 2x64"},
	} {
		_, err := Load(c.path, c.opts)
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %s and %q in: %v", c.path, c.code, c.want, err)
		}
	}
}

// TestSniff opens models without an extension.
func TestSniff(t *testing.T) {
	for _, from := range []string{"../examples/digits-mlp/model.onnx", "../examples/digits-mlp/model_legacy.onnx"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "model")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		load(t, path)
		if err := text.Save(path, load(t, from)); err != nil {
			t.Fatal(err)
		}
		load(t, path)
	}
}
