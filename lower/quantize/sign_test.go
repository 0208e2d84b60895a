// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// TestUnsigned: what only relus read becomes unsigned where the plan leaves that open, and the relus go.
func TestUnsigned(t *testing.T) {
	c := samples(lowertest.Network(t), -1, 1, 20)
	for _, k := range []struct {
		name, plan, fc1 string
		relu            bool
	}{
		{"the default", "", "linear ufixed(8,7)", false},
		{"data as written", "[quantize]\ndata = \"fixed(8)\"", "linear fixed(8,6,over=0..127)", false},
		{"data, and the key", "[quantize]\ndata = \"fixed(6)\"\nunsigned = true", "linear ufixed(6,5)", false},
		{"data, and what became of it", "[quantize]\ndata = \"fixed(8)\"\n[[quantize.rule]]\nname = \"fc1\"\n" +
			"data_out = \"fixed(8,6,over=0..127)\"", "linear fixed(8,6,over=0..127)", false},
		{"the key alone", "[quantize]\nunsigned = false", "linear fixed(8,6,over=0..127)", false},
		{"wrapping is no relu", "[quantize]\noverflow = \"wrap\"", "linear fixed(8,3,over=wrap)", true},
		{"a rule as written", "[[quantize.rule]]\nname = \"fc1\"\ndata_out = \"fixed(8,5)\"", "linear fixed(8,5)", true},
	} {
		q, r := mustQuantize(t, lowertest.Network(t), k.plan, c)
		if got := formatsOf(q); got["fc1"] != k.fc1 || (q.Find("relu") != nil) != k.relu {
			t.Errorf("%s: fc1 is %s, relu %q", k.name, got["fc1"], got["relu"])
		}
		for _, v := range r.Nodes {
			if v.Name == "fc1" && !k.relu && v.SQNR < 25 {
				t.Errorf("%s: fc1 is compared with what nobody wants: %.1f dB", k.name, v.SQNR)
			}
		}
	}
	plan, err := plan.ParseWith("--bits", nil, plan.Settings{Bits: new(5)})
	if err != nil || !plan.Quantize.Unsigned {
		t.Errorf("--bits 5: %v", err)
	}
}

// TestUnsignedGains: the bit that the sign took makes outputs better.
func TestUnsignedGains(t *testing.T) {
	c := samples(lowertest.Classifier(t), -1, 1, 20)
	_, with := mustQuantize(t, lowertest.Classifier(t), "", c)
	_, without := mustQuantize(t, lowertest.Classifier(t), "[quantize]\nunsigned = false", c)
	if a, b := with.Outputs[0].SQNR, without.Outputs[0].SQNR; a < b+1 {
		t.Errorf("%.1f dB, %.1f with signs", a, b)
	}
}

// TestTwoReaders: a relu that is not the only reader stays, and takes the bit for itself.
func TestTwoReaders(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Linear("fc", b.Input("x", 1, 4), 4, true)
	relu := b.Add(pointwise.Relu, "relu", nil, x)
	q, _ := mustQuantize(t, b.Done(b.Linear("fc2", relu, 2, true), b.Linear("fc3", x, 2, true)), "", Calibration{})
	fc, _ := format.AsFixed(q.Find("fc").Type.Format)
	if f, ok := format.AsFixed(q.Find("relu").Type.Format); !ok || f.Signed || !fc.Signed {
		t.Errorf("%v", formatsOf(q))
	}
}

// TestCutsBehindMoves: a concat and a pad round nothing, and codes of channels have bounds of their own, so that a relu
// or a clip behind them stays, with its values.
func TestCutsBehindMoves(t *testing.T) {
	for name, build := range map[string]func(b *lowertest.Builder) *ir.Node{
		"concat": func(b *lowertest.Builder) *ir.Node {
			x := b.Input("x", 1, 2, 4, 4)
			return b.Add(move.Concat, "join", &move.ConcatAttrs{Axis: 1}, b.Conv("a", x, 2, 1, 1, 0, 1, true),
				b.Conv("c", x, 2, 1, 1, 0, 1, true))
		},
		"pad": func(b *lowertest.Builder) *ir.Node {
			a := b.Conv("a", b.Input("x", 1, 2, 4, 4), 2, 1, 1, 0, 1, true)
			return b.Add(move.Pad, "join", &move.PadAttrs{Axis: 2, Before: 1, After: 1}, a)
		},
		"channels": func(b *lowertest.Builder) *ir.Node {
			a := b.Conv("a", b.Input("x", 1, 2, 4, 4), 2, 1, 1, 0, 1, true)
			codes := &pointwise.QuantEachAttrs{Axis: 1, Format: "fixed(9,6)", Bits: []int{9, 7}, Drop: []int{0, 1}}
			return b.Add(pointwise.QuantEach, "join", codes, a)
		},
	} {
		for _, plan := range []string{"", "[quantize]\ndata = \"fixed(8)\""} {
			for _, op := range []*ir.Op{pointwise.Relu, pointwise.Clip} {
				attrs := map[*ir.Op]any{pointwise.Clip: &pointwise.ClipAttrs{Min: -0.25, Max: 0.25}}[op]
				b := lowertest.New(t, 1)
				g := b.Done(b.Add(op, "cut", attrs, build(b)))
				q, _ := mustQuantize(t, g, plan, Calibration{})
				if far := farthest(t, g, q); far > 0.1 {
					t.Errorf("%s, %s, plan %q: %g from the float model", op.Name, name, plan, far)
				}
				if f, ok := format.AsFixed(q.Find("join").Type.Format); !ok || f.Over != format.Sat {
					t.Errorf("%s, %s, plan %q: %v", op.Name, name, plan, f)
				}
			}
		}
	}
}

// TestSignOfInput: what reads the sign of a value says nothing of the format of the value.
func TestSignOfInput(t *testing.T) {
	for _, f := range []string{"int(3,round=ceil,over=sym)*1", "uint(3,round=halfzero)*0.5", "int(5)*0.25"} {
		b := lowertest.New(t, 1)
		x := b.Input("x", 16)
		sign := b.Add(pointwise.Quant, "sign", &pointwise.QuantAttrs{Format: "int(2)*2", Bipolar: true}, x)
		sameAsFloat(t, b.Done(b.Add(pointwise.Quant, "codes", &pointwise.QuantAttrs{Format: f}, sign)))
	}
}

// TestBoundBesideCodes: a relu or clip of values that all lie beyond its bounds has results that are none of theirs.
func TestBoundBesideCodes(t *testing.T) {
	for _, c := range []struct {
		op    *ir.Op
		attrs any
	}{{pointwise.Relu, nil}, {pointwise.Clip, &pointwise.ClipAttrs{Min: -100, Max: -50}}} {
		b := lowertest.New(t, 1)
		x := b.Add(pointwise.Quant, "below", &pointwise.QuantAttrs{Format: "int(2,z=2)*4"}, b.Input("x", 16))
		y := b.Add(c.op, "bound", c.attrs, x)
		twice := b.Add(pointwise.Add, "twice", nil, y, y)
		sameAsFloat(t, b.Done(b.Add(pointwise.Quant, "codes", &pointwise.QuantAttrs{Format: "int(9)*1"}, twice)))
	}
}

// sameAsFloat quantizes g, of one input x, by its own formats, and demands the values of the float graph.
func sameAsFloat(t *testing.T, g *ir.Graph) {
	t.Helper()
	in := ir.NewTensor(g.In[0].Type)
	for k := range in.Floats {
		in.Floats[k] = (float32(k) - 7.5) / 8
	}
	inputs := []ref.Sample{{in}}
	want := outputs(t, g, inputs)
	q, _ := mustQuantize(t, g, "", Calibration{})
	got := outputs(t, q, inputs)
	y, err := got[0][0].Decode()
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range want[0][0].Floats {
		if y[k] != float64(v) {
			t.Errorf("%s of %g is %g, want %g", q.Out[0].Node.Type.Format, in.Floats[k], y[k], v)
		}
	}
}
