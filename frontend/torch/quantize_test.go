// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/frontend/coding"
	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
	"lathe/ir/op/pointwise"
)

// TestQuantized: pairs of quantization and dequantization, and fake quantization, round to the numbers behind codes.
func TestQuantized(t *testing.T) {
	const q = " scale=0.3 zero_point=3 quant_min=%d quant_max=%d"
	for _, c := range []struct {
		lo, hi int
		format string // "" where no width has the range, so that a clip follows
	}{
		{0, 255, "uint(8,z=3,div=f32)*0.3"}, {-128, 127, "int(8,z=3,div=f32)*0.3"},
		{-7, 7, "int(4,z=3,over=sym,div=f32)*0.3"}, {1, 6, ""},
	} {
		at := fmt.Sprintf(q, c.lo, c.hi)
		for name, text := range map[string]string{
			"pair": "c i8 12 = " + decomposed + "quantize_per_tensor.default input=%x" + at + " dtype=scalar_type:2\n" +
				"y f32 12 = " + decomposed + "dequantize_per_tensor.default input=%c" + at + " dtype=scalar_type:2",
			"fake":   "y f32 12 = fake_quantize_per_tensor_affine.default self=%x" + at,
			"masked": "y f32 12, m bool 12 = fake_quantize_per_tensor_affine_cachemask.default self=%x" + at,
			"tensors": "y f32 12 = fake_quantize_per_tensor_affine.tensor_qparams self=%x scale=%s zero_point=%z" +
				strings.TrimPrefix(at, " scale=0.3 zero_point=3"),
		} {
			g := load(t, "input x f32 12\nparam s f32 1 values=0.3\nbuffer z i32 1 values=3\n"+text+"\noutput y",
				source.Options{})
			got := ""
			for _, n := range g.Nodes {
				if a, ok := n.Attrs.(*pointwise.QuantAttrs); ok {
					got = a.Format
				}
			}
			if c.format != "" && (got != c.format || len(g.Nodes) != 2) {
				t.Errorf("%s, %d to %d: %q, want %q; %d nodes", name, c.lo, c.hi, got, c.format, len(g.Nodes))
			}
			for i, x := range pt2test.Ramp(12) {
				code := min(max(math.RoundToEven(x/0.3)+3, float64(c.lo)), float64(c.hi))
				if y, want := run(t, g)[0][i], float64(float32(code-3)*0.3); math.Abs(y-want) > 1e-7 {
					t.Errorf("%s, %d to %d: %g of %g, want %g", name, c.lo, c.hi, y, x, want)
				}
			}
		}
	}
}

// TestQuantizedWeights: codes of weights, with a scale for each output channel, stay codes on all ways into a layer.
func TestQuantizedWeights(t *testing.T) {
	const head = "input x f32 2x4\nbuffer w i8 3x4\nparam f f32 3x4\nparam s f32 3 values=0.5,0.3,0.7\n" +
		"buffer z i64 3 values=0,0,0\n"
	const at = " scales=%s zero_points=%z axis=0 quant_min=-128 quant_max=127 dtype=scalar_type:2\n"
	const fake = "w2 f32 3x4 = fake_quantize_per_channel_affine.default self=%f scale=%s zero_point=%z axis=0 " +
		"quant_min=-128 quant_max=127\n"
	stored := "w2 f32 3x4 = " + decomposed + "dequantize_per_channel.default input=%w" + at
	made := "c i8 3x4 = " + decomposed + "quantize_per_channel.default input=%f" + at +
		strings.Replace(stored, "%w", "%c", 1)
	const layer = "y f32 2x3 = linear.default input=%x weight=%w2"
	const product = "p f32 4x3 = permute.default self=%w2 dims=[1,0]\ny f32 2x3 = mm.default self=%x mat2=%p"
	for i, text := range []string{stored + layer, stored + product, made + layer, made + product, fake + layer} {
		g := load(t, head+text+"\noutput y", source.Options{})
		y := g.Out[0].Node
		if y.Op.Name != "linear" || !y.Args[1].IsConst() {
			t.Fatalf("%d: %s", i, nodes(g))
		}
		if own := coding.Own(y.Args[1]); own == nil || own.Format.String() != "int(8)*[0]" || len(own.Scales) != 3 {
			t.Errorf("%d: the weights have the format %v", i, own)
		}
	}
}

// TestCodesElsewhere: what reads codes to compute with them gets whole numbers.
func TestCodesElsewhere(t *testing.T) {
	const at = " scale=0.5 zero_point=1 quant_min=-128 quant_max=127 dtype=scalar_type:2\n"
	g := load(t, "input x f32 6\nc i8 6 = "+decomposed+"quantize_per_tensor.default input=%x"+at+
		"y i8 6 = add.Tensor self=%c other=%c\nn f32 6 = "+decomposed+"dequantize_per_tensor.default input=%y"+at+
		"output y\noutput n", source.Options{})
	got := run(t, g)
	for i, x := range pt2test.Ramp(6) {
		code := 2 * (math.RoundToEven(x/0.5) + 1)
		if got[0][i] != code || got[1][i] != (code-1)*0.5 {
			t.Errorf("%g: code %g and %g, want %g and %g", x, got[0][i], got[1][i], code, (code-1)*0.5)
		}
	}
}

// TestQuantizedErrors: what no fixed hardware computes is refused, with what to do instead.
func TestQuantizedErrors(t *testing.T) {
	const q, range8 = "c i8 1x4 = " + decomposed + "quantize_per_tensor", " zero_point=0 quant_min=-128 quant_max=127"
	const dq = "c f32 1x4 = " + decomposed + "dequantize_per_tensor"
	const empty = " scale=1.0 zero_point=0 quant_min=7 quant_max=7"
	for _, c := range [][3]string{
		{q + ".tensor input=%x scale=%k" + range8, "L0251", "statically"},
		{q + ".default input=%x scale=-1.0" + range8, "L0252", "-1"},
		{q + ".default input=%x" + empty, "L0251", "from 7 to 7"},
		{q + "s.default input=%x", "L0207", "supported operation: quantized_decomposed.quantize_per_tensor"},
		{dq + ".default input=%x scale=1.0" + range8, "L0210", "floats"},
		{"c i8 1x4 = torch.ops.mine.zzzzzz.default input=%x", "L0207", "torch.ops.mine.zzzzzz.default: at c"},
	} {
		text := "input x f32 1x4\ninput k f32 1\n" + c[0] + "\noutput c"
		_, err := Parse("m.pt2", pt2test.New(text).Archive(), source.Options{})
		if string(diag.CodeOf(err)) != c[1] || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: want %q in: %v", text, c[1:], err)
		}
		if strings.Contains(fmt.Sprint(err)+"\n", "supported operation: torch\n") {
			t.Errorf("the nearest operation is a prefix: %v", err)
		}
	}
}
