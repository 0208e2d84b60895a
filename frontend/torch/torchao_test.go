// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"
	"strings"
	"testing"

	"lathe/frontend/coding"
	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
	"lathe/ir/op/pointwise"
)

// coded is text that codes and decodes x, 3x4, in blocks of a size and with further arguments.
func coded(size, more string) string {
	at := " block_size=" + size + " scale=%s zero_point=%z"
	return "c i8 3x4 = " + torchao + "quantize_affine.default input=%x" + at + " output_dtype=scalar_type:2" + more +
		"\ny f32 3x4 = " + torchao + "dequantize_affine.default input=%c" + at + " input_dtype=scalar_type:2" + more
}

// TestAffine: blocks as large as a value have one scale, and codes the range of their type or the stated one.
func TestAffine(t *testing.T) {
	const head = "input x f32 3x4\nparam s f32 1x1 values=0.3\nbuffer z i8 1x1 values=3\n"
	for _, c := range []struct {
		size, more, format string
		lo, hi             float64
	}{
		{"[3,4]", "", "int(8,z=3,div=f32)*0.3", -128, 127},
		{"[-1,-1]", "", "int(8,z=3,div=f32)*0.3", -128, 127},
		{"[3,4]", " quant_min=-7 quant_max=7", "int(4,z=3,over=sym,div=f32)*0.3", -7, 7},
	} {
		g := load(t, head+coded(c.size, c.more)+"\noutput y", source.Options{})
		a, ok := g.Out[0].Node.Attrs.(*pointwise.QuantAttrs)
		if !ok || a.Format != c.format || len(g.Nodes) != 2 {
			t.Fatalf("%s%s: want %s in %s", c.size, c.more, c.format, nodes(g))
		}
		got := run(t, g)[0]
		for i, x := range pt2test.Ramp(12) {
			code := min(max(math.RoundToEven(x/0.3)+3, c.lo), c.hi)
			if want := float64(float32(code-3) * 0.3); math.Abs(got[i]-want) > 1e-7 {
				t.Errorf("%s%s: %g of %g, want %g", c.size, c.more, got[i], x, want)
			}
		}
	}
}

// TestAffineWeights: blocks of one output channel are codes with a scale for each, with and without a zero point.
func TestAffineWeights(t *testing.T) {
	const head = "input x f32 2x4\nbuffer w i8 3x4\nparam s f32 3x1 values=0.5,0.3,0.7\nbuffer z i8 3x1 values=0,0,0\n"
	for _, zero := range []string{" zero_point=%z", ""} {
		g := load(t, head+"v f32 3x4 = "+torchao+"dequantize_affine.default input=%w block_size=[1,4] scale=%s"+zero+
			" input_dtype=scalar_type:2 quant_min=-8 quant_max=7\ny f32 2x3 = linear.default input=%x weight=%v\noutput y",
			source.Options{})
		y := g.Out[0].Node
		if y.Op.Name != "linear" || !y.Args[1].IsConst() {
			t.Fatalf("%s", nodes(g))
		}
		if own := coding.Own(y.Args[1]); own == nil || own.Format.String() != "int(4)*[0]" || len(own.Scales) != 3 {
			t.Errorf("the weights have the format %v", own)
		}
	}
}

// TestAffineErrors: other blocks are refused by their size, with the nearest that is read.
func TestAffineErrors(t *testing.T) {
	const head = "input x f32 3x4\ninput k f32 1\nparam s f32 6 values=1,1,1,1,1,1\nbuffer z i8 6 values=0,0,0,0,0,0\n"
	choose := "s2 f32 1, z2 i8 1 = " + torchao + "choose_qparams_affine.default input=%x mapping_type='SYMMETRIC' " +
		"block_size=[3,4] target_dtype=scalar_type:2\ny f32 3x4 = relu.default self=%x"
	for _, c := range [][3]string{
		{coded("[1,2]", ""), "L0251", "size [1 2] in 3x4"},
		{coded("[1,2]", ""), "L0251", "block_size [1 4], one scale for each index of axis 0; or [3 4], one for all"},
		{coded("[3,2]", ""), "L0251", "hint: quantize with block_size [3 4], one scale for all"},
		{coded("[1,1]", ""), "L0251", "block_size [1 4]"},
		{coded("[4]", ""), "L0222", "block_size [4] for 3x4"},
		{coded("[3,4]", " zero_point_domain='FLOAT'"), "L0251", "FLOAT"},
		{coded("[3,4]", ""), "L0222", "6 scales"},
		{strings.ReplaceAll(coded("[3,4]", ""), "=%s", "=%k"), "L0251", "statically"},
		{strings.ReplaceAll(coded("[3,4]", ""), "c i8", "c bool"), "L0251", "states no range"},
		{choose, "L0251", "from the data of each sample"},
	} {
		text := head + c[0] + "\noutput y"
		_, err := Parse("m.pt2", pt2test.New(text).Archive(), source.Options{})
		if string(diag.CodeOf(err)) != c[1] || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: want %q in: %v", text, c[1:], err)
		}
	}
}
