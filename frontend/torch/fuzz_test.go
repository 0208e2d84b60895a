// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
)

// allowance is what importing n bytes may allocate: some for constant expressions and masks, and records that are
// larger than their texts.
func allowance(n int) uint64 { return 512<<20 + 400*uint64(n) }

// parsed imports an archive, sound or not, and fails where that takes too much memory or ends in an error without a
// code.
func parsed(t *testing.T, data []byte) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := Parse("m.pt2", data, source.Options{})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > allowance(len(data)) {
		t.Fatalf("%d bytes allocated for %d", used, len(data))
	}
	if err != nil && diag.CodeOf(err) == "" || (g == nil) == (err == nil) {
		t.Fatalf("graph %v, error %v", g != nil, err)
	}
	return err
}

const seed = "input x f32 s0x4\nparam fc.weight f32 4x4\nn size = sym_size.int self=%x dim=0\n" +
	"a f32 s0x4 = linear.default input=%x weight=%fc.weight @ fc:torch.nn.modules.linear.Linear\n" +
	"[b f32 s0x2, c f32 s0x2] = split.Tensor self=%a split_size=2 dim=1\n" +
	"d f32 s0x4 = cat.default tensors=[%b,%c] dim=-1\ny f32 s0x4 = view.default self=%d size=[$n,-1]\noutput y"

func FuzzLoad(f *testing.F) {
	f.Add(pt2test.New(seed).Archive())
	models, err := filepath.Glob("../../examples/digits-mlp/*.pt2")
	if err != nil || len(models) == 0 {
		f.Fatal(models, err)
	}
	for _, path := range models {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { _ = parsed(t, data) })
}

// FuzzModelJSON puts a text into a sound archive, where no check of sums stands in its way.
func FuzzModelJSON(f *testing.F) {
	text := func(p *pt2test.Program) []byte {
		data, err := json.Marshal(p.Model)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	f.Add(text(pt2test.New(seed)))
	for name, data := range opMembers(f) {
		if !strings.HasSuffix(name, ".pt2") {
			continue
		}
		a, err := source.OpenArchive(data)
		if err != nil {
			f.Fatal(err)
		}
		for i, m := range a.Members() {
			if strings.Contains(m.Name, "/models/") {
				model, err := a.Read(&a.Members()[i])
				if err != nil {
					f.Fatal(err)
				}
				f.Add(model)
			}
		}
	}
	p := pt2test.New(seed)
	weights, err := json.Marshal(p.Weights)
	if err != nil {
		f.Fatal(err)
	}
	data := p.Data["data/weights/weight_0"]
	f.Fuzz(func(t *testing.T, model []byte) {
		_ = parsed(t, pt2test.Zip(pt2test.Member{Name: "m/data/weights/weight_0", Data: data},
			pt2test.Member{Name: "m/data/weights/model_weights_config.json", Data: weights},
			pt2test.Member{Name: "m/models/model.json", Data: model}))
	})
}

// TestTruncated cuts a program at every member and at every value of its text.
func TestTruncated(t *testing.T) {
	data := pt2test.New(seed).Archive()
	for n := 0; n < len(data); n += 7 {
		if parsed(t, data[:n]) == nil {
			t.Errorf("%d of %d bytes pass", n, len(data))
		}
	}
	p := pt2test.New(seed)
	model, err := json.Marshal(p.Model)
	if err != nil {
		t.Fatal(err)
	}
	for n := range model {
		if c := model[n]; c == ',' || c == ']' || c == '}' || c == ':' {
			if parsed(t, pt2test.Zip(pt2test.Member{Name: "m/models/model.json", Data: model[:n]})) == nil {
				t.Errorf("%d of %d bytes pass", n, len(model))
			}
		}
	}
}

// TestHostileArchive imports archives that no exporter writes, and texts of values inside of values.
func TestHostileArchive(t *testing.T) {
	model := func(text string) []byte {
		return pt2test.Zip(pt2test.Member{Name: "m/models/model.json", Data: []byte(text)})
	}
	var bomb bytes.Buffer
	w := zip.NewWriter(&bomb)
	f, err := w.Create("m/models/model.json") // compressed
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte(" "), 64<<20))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		code diag.Code
	}{
		"bomb": {bomb.Bytes(), diag.ModelLimit},
		"up": {pt2test.Zip(pt2test.Member{Name: "m/../../models/model.json", Data: []byte("{}")}),
			diag.UnsafeArchive},
		"lists":   {model(strings.Repeat("[", 100_000)), diag.ModelLimit},
		"objects": {model(strings.Repeat(`{"a":`, 100_000)), diag.ModelLimit},
		"pickles": {pt2test.Zip(pt2test.Member{Name: "m/data.pkl", Data: []byte("\x80\x02")},
			pt2test.Member{Name: "m/version", Data: []byte("3")}), diag.Pickle},
	} {
		if err := parsed(t, c.data); diag.CodeOf(err) != c.code {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

// TestHostile imports programs that make careless importers slow or large.
func TestHostile(t *testing.T) {
	var chain, unknown strings.Builder
	chain.WriteString("input x f32 1x4\ny0 f32 1x4 = relu.default self=%x\n")
	unknown.WriteString("input x f32 1x4\ny0 f32 1x4 = relu.default self=%x\n")
	const n = 5000
	for i := range n {
		fmt.Fprintf(&chain, "y%d f32 1x4 = relu.default self=%%y%d\n", i+1, i)
		fmt.Fprintf(&unknown, "y%d f32 1x4 = op%d.default self=%%y%d\n", i+1, i, i)
	}
	end := fmt.Sprintf("output y%d", n)
	nested := pt2test.Graph("input x f32 1x4\ny f32 1x4 = relu.default self=%x\noutput y")
	const wrap = "input x f32 1x4\ny f32 1x4 = torch.ops.higher_order.wrap_with_set_grad_enabled =false =graph:"
	for range 30 {
		nested = pt2test.Graph(wrap + strings.ReplaceAll(nested, " ", "") + " =%x\noutput y")
	}
	for name, c := range map[string]struct {
		text string
		code diag.Code
	}{
		"chain":    {chain.String() + end, ""},
		"unknown":  {unknown.String() + end, diag.UnsupportedOps},
		"wide":     {"input x f32 8000000000\na f32 1 = split.Tensor self=%x split_size=1\noutput a", diag.OperandCount},
		"zeros":    {"input x f32 1\na f32 90000x90000 = zeros.default size=[90000,90000]\noutput a", "L0319"},
		"triangle": {"input x f32 90000x90000\na f32 90000x90000 = tril.default self=%x\noutput a", diag.ModelLimit},
		"eye":      {"input x f32 1\na f32 90000x90000 = eye.default n=90000\noutput a", diag.ModelLimit},
		"tiles": {"input x f32 4\na f32 4 = repeat.default self=%x repeats=[99999999999]\noutput a",
			diag.OperandShapes},
		"pads": {"input x f32 4\na f32 4 = constant_pad_nd.default self=%x pad=[99999999999,1]\noutput a",
			diag.ModelLimit},
		"deep": {wrap + strings.ReplaceAll(nested, " ", "") + " =%x\noutput y", diag.ModelLimit},
	} {
		if err := parsed(t, pt2test.New(c.text).Archive()); diag.CodeOf(err) != c.code || err != nil &&
			len(err.Error()) > 20_000 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

// bigProgram writes a program of layers of 1024 x 1024 weights, 4 MiB each.
func bigProgram(b *testing.B, layers int) string {
	b.Helper()
	var text strings.Builder
	text.WriteString("input x f32 1x1024\n")
	for i := range layers {
		fmt.Fprintf(&text, "param l%d.weight f32 1024x1024 data=w%d elems=1\n", i, i)
	}
	last := "x"
	for i := range layers {
		fmt.Fprintf(&text, "y%d f32 1x1024 = linear.default input=%%%s weight=%%l%d.weight @ l%d:Linear\n", i, last, i, i)
		last = fmt.Sprintf("y%d", i)
	}
	text.WriteString("output " + last)
	p := pt2test.New(text.String())
	weights := make([]byte, 4<<20)
	for name := range p.Data {
		p.Data[name] = weights
	}
	path := filepath.Join(b.TempDir(), "big.pt2")
	if err := os.WriteFile(path, p.Archive(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkOpen500MB opens a program of 500 MB; no weight is read.
func BenchmarkOpen500MB(b *testing.B) {
	path := bigProgram(b, 125)
	b.ReportAllocs()
	for b.Loop() {
		g, err := Load(path, source.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(g.Nodes) != 251 {
			b.Fatal(len(g.Nodes))
		}
	}
}
