// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
	"lathe/ir/op/window"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
)

// movedPorts are models of one input of bytes, 1x2x6, that are not all conversions to real numbers.
var movedPorts = []struct {
	name  string
	build func(b *lowertest.Builder, x *ir.Node) *ir.Node
	ports bool // the input becomes a port of bytes
}{
	{"pad", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		return b.Add(move.Pad, "y", &move.PadAttrs{Axis: 2, Before: 1, After: 3, Value: 9}, x)
	}, true},
	{"steps", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		return b.Add(move.Slice, "y", &move.SliceAttrs{Axis: 2, Start: 1, Count: 3, Step: 2}, x)
	}, true},
	{"concat with a constant", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		return b.Add(move.Concat, "y", &move.ConcatAttrs{Axis: 2}, x, bytesConst(b, x, 5, 120, 0, 255))
	}, true},
	{"pool of casts", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		r := b.Add(whole.Convert, "real", &whole.ConvertAttrs{To: ir.F32}, x)
		w := lowertest.Window(1, 2, 2, 0)
		r = b.Add(window.MaxPool, "pool", &w, r)
		return b.Add(whole.Convert, "y", &whole.ConvertAttrs{To: ir.StoredAs(x.Type.Format)}, r)
	}, true},
	{"wider and back", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		w := b.Add(whole.Convert, "wide", &whole.ConvertAttrs{To: ir.I32}, x)
		w = b.Add(move.Pad, "pad", &move.PadAttrs{Axis: 1, After: 1, Value: 100}, w)
		return b.Add(whole.Convert, "y", &whole.ConvertAttrs{To: ir.F32}, w)
	}, true},
	{"a pad that is no byte", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		w := b.Add(whole.Convert, "wide", &whole.ConvertAttrs{To: ir.I32}, x)
		w = b.Add(move.Pad, "pad", &move.PadAttrs{Axis: 1, After: 1, Value: 300}, w)
		return b.Add(whole.Convert, "y", &whole.ConvertAttrs{To: ir.F32}, w)
	}, false},
	{"narrower", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		to := ir.I8
		if x.Type.Format == ir.Int8 {
			to = ir.U8
		}
		w := b.Add(whole.Convert, "other", &whole.ConvertAttrs{To: to}, x)
		return b.Add(whole.Convert, "y", &whole.ConvertAttrs{To: ir.F32}, w)
	}, false},
	{"a sum", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		p := b.Add(move.Pad, "pad", &move.PadAttrs{Axis: 2, Before: 1, Value: 9}, x)
		return b.Add(pointwise.Add, "y", nil, p, p)
	}, false},
}

// bytesConst is a constant of whole numbers in the format of x.
func bytesConst(b *lowertest.Builder, x *ir.Node, values ...byte) *ir.Node {
	n := b.Const([]int{1, 2, len(values) / 2}, 0)
	n.Attrs = &ir.Const{Data: &ir.Blob{DType: ir.StoredAs(x.Type.Format), Bytes: values}}
	n.Type.Format = x.Type.Format
	return n
}

// TestMovedPorts: what only moves bytes, or chooses among them, gives them exactly; other readers of whole numbers have
// no hardware.
func TestMovedPorts(t *testing.T) {
	for _, typ := range []format.Format{ir.Uint8, ir.Int8} {
		for _, c := range movedPorts {
			b := lowertest.New(t, 3)
			x := b.Input("x", 1, 2, 6)
			x.Type.Format = typ
			g := b.Done(c.build(b, x))
			q, _, err := Run(t.Context(), g, lowertest.Plan(t, ""), Calibration{}, Options{})
			if (err == nil) != c.ports {
				t.Errorf("%s, %s: %v", c.name, typ, err)
			}
			if err == nil {
				sameBytes(t, c.name, g, q)
			}
		}
	}
}

// sameBytes compares a model with its quantized form on random bytes.
func sameBytes(t *testing.T, name string, g, q *ir.Graph) {
	t.Helper()
	ints, _ := ir.WholeOf(g.In[0].Type.Format)
	r := rand.New(rand.NewPCG(9, 9))
	var inputs, entered []ref.Sample
	for range 8 {
		in, same := ir.NewTensor(g.In[0].Type), ir.NewTensor(q.In[0].Type)
		for i := range in.Codes {
			in.Codes[i] = ints.Min() + int64(r.IntN(256))
		}
		copy(same.Codes, in.Codes)
		inputs, entered = append(inputs, ref.Sample{in}), append(entered, ref.Sample{same})
	}
	want, err := pass.Outputs(t.Context(), g, inputs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pass.Outputs(t.Context(), q, entered)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		codes := want[i][0].Codes
		if g.Out[0].Node.Type.IsFloat() {
			codes = ir.EncodeFloats(q.Out[0].Node.Type, want[i][0].Floats).Codes
		}
		if !slices.Equal(got[i][0].Codes, codes) {
			t.Errorf("%s, %s: %v, the model has %v", name, ints, got[i][0].Codes, codes)
		}
	}
}
