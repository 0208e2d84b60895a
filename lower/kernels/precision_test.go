// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"path/filepath"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/sum"
	"lathe/ir/text"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// TestPrecision keeps a network in bf16, in f16, and in bf16 with weights of MXINT8: matrices and computed values, and
// no biases. The text holds it, and it loses little.
func TestPrecision(t *testing.T) {
	e := lowertest.Load(t, "digits-mlp", "model.onnx")
	float := e.Accuracy(t, e.Graph)
	for _, c := range []struct{ name, weight string }{{"bf16", "bf16"}, {"f16", "f16"}, {"bf16", "mxint8"}} {
		name := c.name + " " + c.weight
		p, err := ParsePrecision(c.name, c.weight)
		if err != nil || !p.Halved() {
			t.Fatal(p, err)
		}
		g := e.Graph.Clone()
		if err := p.set(g); err != nil {
			t.Fatal(err)
		}
		linear := 0
		for _, n := range g.Nodes {
			if !n.IsConst() && n.Type.Format != p.Act {
				t.Errorf("%s: %s", n.Name, n.Type)
			}
			if n.Op != sum.Linear {
				continue
			}
			if linear++; n.Args[1].Type.Format != p.Act || n.Args[2].Type.Format != format.FP32 {
				t.Errorf("%s: weights %s, bias %s", n.Name, n.Args[1].Type, n.Args[2].Type)
			}
			if w := n.Args[1].Attrs.(*ir.Const); c.weight == "mxint8" {
				blocks := ir.EncodeFloats(ir.Type{Shape: n.Args[1].Type.Shape, Format: w.Own.Format}, w.Data.Floats())
				if values, err := blocks.Decode(); err != nil || !slices.Equal(values, w.Data.Floats64()) {
					t.Errorf("%s: weights are no values of %v, %v", n.Name, w.Own.Format, err)
				}
			}
		}
		if linear != 3 {
			t.Errorf("%d linear nodes", linear)
		}
		if got := e.Accuracy(t, g); got < float-0.5 {
			t.Errorf("%s: %g %% are right, in fp32 %g", name, got, float)
		}
		path := filepath.Join(t.TempDir(), "m.lathe")
		if err := text.Save(path, g); err != nil {
			t.Fatal(err)
		}
		back, err := text.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if again := e.Accuracy(t, back); again != e.Accuracy(t, g) || back.In[0].Type.Format != p.Act {
			t.Errorf("%s: read back, %g %% are right, the input is %s", name, again, back.In[0].Type)
		}
	}
}

func TestPrecisionErrors(t *testing.T) {
	e := lowertest.Load(t, "digits-mlp", "model.onnx")
	for _, bad := range [][2]string{{"bf16", "fixed(8,4)"}, {"mxint8", "bf16"}, {"f16", "mxint8"}, {"half", "fp32"}} {
		if _, err := ParsePrecision(bad[0], bad[1]); diag.CodeOf(err) != "L0101" {
			t.Error(bad, err)
		}
	}
	for _, bad := range [][2]string{{"bf16", "int4"}, {"bf16", "fixed(8,4)"}, {"bf16", "f16"}, {"f16", "mxint8"},
		{"fp32", "mxint8"}} {
		p, err := ParsePrecision(bad[0], bad[0])
		if err == nil {
			_, err = p.WithCache(bad[1])
		}
		if diag.CodeOf(err) != "L0101" {
			t.Error(bad, err)
		}
	}
	q, _, err := quantize.Run(t.Context(), e.Graph, plan.Default(), quantize.Calibration{Samples: e.Samples},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, was := Precision{Act: format.BF16, Weight: format.BF16}, text.Print(q)
	if err := p.set(q); err != nil || text.Print(q) != was {
		t.Errorf("%v; formats of a quantized graph become\n%s", err, text.Print(q))
	}
}

// TestSetPrecision: the precision is set by a pass, first of those of kernels, which is dumped and measured.
func TestSetPrecision(t *testing.T) {
	e := lowertest.Load(t, "digits-mlp", "model.onnx")
	var act format.Format
	o := pass.Options{Verify: true, DumpAfter: func(name string, g *ir.Graph) {
		if name == "set_precision" {
			act = g.In[0].Type.Format
		}
	}}
	p := Precision{Act: format.BF16, Weight: format.BF16}
	_, report, err := Run(t.Context(), e.Graph, p, cuda.Portable(), Options{Options: o})
	if err != nil || act != format.BF16 {
		t.Fatalf("%v, inputs are %v", err, act)
	}
	at := slices.IndexFunc(report.Passes, func(r pass.Ran) bool { return r.Name == "set_precision" })
	if at < 0 || report.Passes[at+1].Name != "compute_constants" {
		t.Fatalf("%+v", report.Passes)
	}
	if r := report.Passes[at]; !r.Verified || !(r.Loss.Relative > 0 && r.Loss.Relative < 0.05) {
		t.Errorf("%+v", r)
	}
}
