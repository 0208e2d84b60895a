// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
)

// bytesIn reads bytes, moved twice or not, as codes with a zero point, and rounds what a layer makes of them.
func bytesIn(t *testing.T, typ format.Format, code string, moved bool) *ir.Graph {
	b := lowertest.New(t, 3)
	v := b.Input("x", 1, 2, 6)
	v.Type.Format = typ
	if moved {
		v = b.Add(move.Transpose, "turned", &move.TransposeAttrs{Perm: []int{0, 2, 1}}, v)
		v = b.Add(move.Transpose, "back", &move.TransposeAttrs{Perm: []int{0, 2, 1}}, v)
	}
	v = b.Add(whole.Convert, "real", &whole.ConvertAttrs{To: ir.F32}, v)
	v = b.Add(pointwise.Sub, "steps", nil, v, b.Const(nil, 7))
	v = b.Add(pointwise.Mul, "scaled", nil, v, b.Const(nil, 0.03))
	v = b.Add(pointwise.Quant, "codes", &pointwise.QuantAttrs{Format: code}, v)
	y := &pointwise.QuantAttrs{Format: "int(8,z=-3)*0.11"}
	return b.Done(b.Add(pointwise.Quant, "y", y, b.Linear("fc", v, 4, true)))
}

// TestCodePorts: inputs of bytes that are only converted are ports of as many bits; a model with formats of its own
// computes the same codes from them as in float.
func TestCodePorts(t *testing.T) {
	for _, c := range []struct {
		typ        format.Format
		code, want string
		least      int64
	}{{ir.Uint8, "uint(8,z=7)*0.03", "uint(8)", 0}, {ir.Int8, "int(8,z=7)*0.03", "int(8)", -128}} {
		g := bytesIn(t, c.typ, c.code, c.least < 0)
		q, _ := mustQuantize(t, g, "", Calibration{})
		if got := q.In[0].Type.Format.String(); got != c.want {
			t.Errorf("the input is %s, want %s", got, c.want)
		}
		r := rand.New(rand.NewPCG(9, 9))
		var inputs, entered []ref.Sample
		for range 30 {
			in, same := ir.NewTensor(g.In[0].Type), ir.NewTensor(q.In[0].Type)
			for i := range in.Codes {
				in.Codes[i] = c.least + int64(r.IntN(256))
			}
			copy(same.Codes, in.Codes)
			inputs, entered = append(inputs, ref.Sample{in}), append(entered, ref.Sample{same})
		}
		want, got := outputs(t, g, inputs), outputs(t, q, entered)
		differ := 0
		for i := range got {
			stored := ir.EncodeFloats(q.Out[0].Node.Type, want[i][0].Floats)
			for k, v := range got[i][0].Codes {
				if d := v - stored.Codes[k]; d != 0 {
					if differ++; d < -1 || d > 1 {
						t.Errorf("%s, sample %d: code %d, the model has %d", c.want, i, v, stored.Codes[k])
					}
				}
			}
		}
		if differ > 2 { // ties
			t.Errorf("%s: %d codes differ", c.want, differ)
		}
	}
}
