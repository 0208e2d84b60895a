// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// codesTensor is a tensor of bytes, or of 4-bit pairs.
func codesTensor(name string, dtype int64, dims []int64, data string) pb {
	return head(name, dtype, dims...).str(9, data)
}

func i8(name string, dims []int64, v ...int8) pb {
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(x)
	}
	return codesTensor(name, 3, dims, string(b))
}

func u8(name string, dims []int64, v ...byte) pb { return codesTensor(name, 2, dims, string(v)) }

func i32(name string, dims []int64, v ...int64) pb { return head(name, 6, dims...).packed(5, v...) }

// byteRamp is n codes that look random.
func byteRamp(n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		out[i] = int8((i*i*37 + i*11) % 251)
	}
	return out
}

// qonnxNode is a node of QONNX with scale, zero point and width as initializers s, z, w.
func qonnxNode(op, ins, outs string, attrs ...pb) pb {
	return nd(op, ins, outs, attrs...).str(7, "qonnx.custom_op.general")
}

// msNode is a node of those that onnxruntime adds.
func msNode(op, ins, outs string, attrs ...pb) pb {
	return nd(op, ins, outs, attrs...).str(7, "com.microsoft")
}

func quantCases() []opCase {
	x := vi("x", 1, 12)
	s, z := ft("s", nil, 0.07), i8("z", nil, 3)
	lin := []pb{ft("xs", nil, 0.05), i8("xz", nil, -5), ft("ys", nil, 0.11), i8("yz", nil, 9)}
	with := func(more ...pb) []pb { return append(append([]pb{}, lin...), more...) }
	q, dq := nd("QuantizeLinear", "x xs xz", "xq"), nd("DequantizeLinear", "xq xs xz", "xd")
	out := nd("DequantizeLinear", "yq ys yz", "y")
	img := vi("x", 1, 2, 4, 5)
	w := i8("w", d(3, 12), byteRamp(36)...)
	wc := i8("w", d(3, 2, 2, 2), byteRamp(24)...)
	ws, wz := ft("ws", d(3), 0.011, 0.02, 0.03), i8("wz", d(3), 0, 0, 0)
	cases := []opCase{
		{"qdq", chain(13, x, []pb{s, z}, nd("QuantizeLinear", "x s z", "q"), nd("DequantizeLinear", "q s z", "y"))},
		{"qdq default", chain(10, x, []pb{s}, nd("QuantizeLinear", "x s", "q"), nd("DequantizeLinear", "q s", "y"))},
		{"qdq uint8", chain(13, x, []pb{s, u8("z", nil, 131)}, nd("QuantizeLinear", "x s z", "q"),
			nd("DequantizeLinear", "q s z", "y"))},
		{"qdq int4", chain(21, x, []pb{ft("s", nil, 0.3), codesTensor("z", 22, nil, "\x0f")},
			nd("QuantizeLinear", "x s z", "q"), nd("DequantizeLinear", "q s z", "y"))},
		{"qdq uint16", chain(21, x, []pb{ft("s", nil, 0.001), codesTensor("z", 4, nil, "\x00\x80")},
			nd("QuantizeLinear", "x s z", "q"), nd("DequantizeLinear", "q s z", "y"))},
		{"gemm channels", chain(13, x, with(w, ws, wz, i32("b", d(3), 100, -2000, 7), ft("bs", d(3), 0.00055, 0.001, 0.0015)),
			q, dq, nd("DequantizeLinear", "w ws wz", "wd", aInt("axis", 0)),
			nd("DequantizeLinear", "b bs", "bd", aInt("axis", 0)), nd("Gemm", "xd wd bd", "y", aInt("transB", 1)))},
		{"matmul channels", chain(13, x, with(i8("w", d(12, 3), byteRamp(36)...), ws, wz),
			q, dq, nd("DequantizeLinear", "w ws wz", "wd", aInt("axis", 1)), nd("MatMul", "xd wd", "yf"),
			nd("QuantizeLinear", "yf ys yz", "yq"), out)},
		{"gemm int4 weights", chain(21, x, []pb{codesTensor("w", 22, d(2, 12),
			"\x21\x43\x65\x87\xa9\xcb\x0f\x1e\x2d\x3c\x4b\x5a"),
			ft("ws", nil, 0.2)}, nd("DequantizeLinear", "w ws", "wd"), nd("Gemm", "x wd", "y", aInt("transB", 1)))},
		{"weights quantized in the model", chain(13, x, []pb{ft("w", d(3, 12)), s, z}, nd("QuantizeLinear", "w s z", "wq"),
			nd("DequantizeLinear", "wq s z", "wd"), nd("Gemm", "x wd", "y", aInt("transB", 1)))},
		{"qlinearconv", chain(13, img, with(wc, ws, wz, i32("b", d(3), 100, -2000, 7)),
			q, nd("QLinearConv", "xq xs xz w ws wz ys yz b", "yq", aInts("pads", 1, 1, 0, 0)), out)},
		{"qlinearmatmul", chain(13, x, with(i8("w", d(12, 3), byteRamp(36)...), ft("ws", nil, 0.02), i8("wz", nil, 4)),
			q, nd("QLinearMatMul", "xq xs xz w ws wz ys yz", "yq"), out)},
		{"pool of codes", chain(13, img, with(), q, nd("MaxPool", "xq", "p", aInts("kernel_shape", 2, 2)),
			nd("Flatten", "p", "f"), nd("DequantizeLinear", "f xs xz", "y"))},
	}
	cases = append(cases, addedCases(x, img, with, q, out)...)
	for _, mode := range []string{"ROUND", "FLOOR", "CEIL", "UP", "DOWN", "HALF_UP", "HALF_DOWN"} {
		cases = append(cases, opCase{"quant " + mode, chain(13, x, []pb{ft("s", nil, 0.25), ft("z", nil, 0), ft("w", nil, 4)},
			qonnxNode("Quant", "x s z w", "y", aStr("rounding_mode", mode)))})
	}
	return append(cases,
		opCase{"quant narrow", chain(13, x, []pb{ft("s", nil, 0.3), ft("z", nil, 0), ft("w", nil, 3)},
			qonnxNode("Quant", "x s z w", "y", aInt("narrow", 1)))},
		opCase{"quant unsigned", chain(13, x, []pb{ft("s", nil, 0.3), ft("z", nil, 2), ft("w", nil, 3)},
			qonnxNode("IntQuant", "x s z w", "y", aInt("signed", 0)))},
		opCase{"quant weights", chain(13, x, []pb{ft("k", d(12, 3)), ft("s", d(1, 3), 0.3, 0.125, 0.5), ft("z", nil, 0),
			ft("w", nil, 3)}, qonnxNode("Quant", "k s z w", "kq", aInt("narrow", 1)), nd("MatMul", "x kq", "y"))},
		opCase{"bipolar", chain(13, x, []pb{ft("s", nil, 0.3)}, qonnxNode("BipolarQuant", "x s", "y"))},
		opCase{"trunc 1", chain(13, x, []pb{ft("s", nil, 0.125), ft("z", nil, 0), ft("i", nil, 6), ft("o", nil, 4)},
			qonnxNode("Trunc", "x s z i o", "y"))},
		opCase{"trunc 2", chain(13, x, []pb{ft("s", nil, 0.125), ft("z", nil, 0), ft("i", nil, 6), ft("t", nil, 0.5),
			ft("o", nil, 3)}, qonnxNode("Trunc", "x s z i t o", "y", aStr("rounding_mode", "ROUND")))})
}

// addedCases are operations that onnxruntime adds: q codes x or img, out decodes the result.
func addedCases(x, img pb, with func(...pb) []pb, q, out pb) []opCase {
	return []opCase{
		{"qlinearsoftmax", chain(13, x, with(ft("ps", nil, 1./256), i8("pz", nil, -128)), q,
			msNode("QLinearSoftmax", "xq xs xz ps pz", "p", aInt("axis", -1), aInt("opset", 13)),
			nd("DequantizeLinear", "p ps pz", "y"))},
		{"qlinearsoftmax 12", chain(13, img, with(ft("ps", nil, 1./256), i8("pz", nil, -128)), q,
			msNode("QLinearSoftmax", "xq xs xz ps pz", "p", aInt("axis", 2), aInt("opset", 12)),
			nd("DequantizeLinear", "p ps pz", "y"))},
		{"qlinearconcat", chain(13, img, with(i8("c", d(1, 1, 4, 5), byteRamp(20)...)), q,
			msNode("QLinearConcat", "ys yz xq xs xz c xs yz", "yq", aInt("axis", 1)), out)},
	}
}

// TestQuantized holds imported quantization to the reference evaluator, to the last bit of float32 where no sum is.
func TestQuantized(t *testing.T) {
	want := golden(t, "testdata/quant.golden")
	for _, c := range quantCases() {
		t.Run(c.name, func(t *testing.T) {
			g, err := Parse("m.onnx", c.model.bytes(), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out := evaluate(t, g, ramp(g.In[0].Type.Elems(), 3))[0]
			w, ok := want[c.name]
			if !ok || ir.ShapeString(out.Type.Shape) != w[0] {
				t.Fatalf("shape %v, want %s", out.Type.Shape, w[0])
			}
			if err := near(out.Floats, strings.Fields(w[1])); err != nil {
				t.Error(err)
			}
		})
	}
	if len(want) != len(quantCases()) {
		t.Errorf("%d golden lines for %d cases", len(want), len(quantCases()))
	}
}

// TestOwnFormats wants weights as the codes of the model, with scales along the output channels.
func TestOwnFormats(t *testing.T) {
	want := map[string]string{
		"gemm channels":                  "int(8)*[0] int(32)*[0]",
		"matmul channels":                "int(8)*[0]",
		"gemm int4 weights":              "int(4)*0.2",
		"weights quantized in the model": "int(8,z=3)*0.07",
		"qlinearconv":                    "int(8)*[0] int(32)*[0]",
		"qlinearmatmul":                  "int(8,z=4)*0.02",
		"qlinearconcat":                  "int(8,z=9)*0.05",
		"quant weights":                  "int(3,over=sym)*[0]",
	}
	for _, c := range quantCases() {
		g, err := Parse("m.onnx", c.model.bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var own []string
		for _, n := range g.Nodes {
			if k, ok := n.Attrs.(*ir.Const); ok && k.Own.Format != nil {
				own = append(own, k.Own.Format.String())
			}
		}
		if got := strings.Join(own, " "); got != want[c.name] {
			t.Errorf("%s: %q, want %q", c.name, got, want[c.name])
		}
	}
}

// TestTransposedCodes keeps the codes of a transposed convolution, whose weights are put together anew, each with the
// scale of its channel.
func TestTransposedCodes(t *testing.T) {
	codes := make([]int8, 2*3*4)
	for i := range codes {
		codes[i] = int8(i*37%255 - 127)
	}
	m := chain(19, vi("x", 1, 2, 5), []pb{i8("w", d(2, 3, 4), codes...), ft("s", d(3), 0.5, 0.25, 0.125)},
		nd("DequantizeLinear", "w s", "f", aInt("axis", 1)), nd("ConvTranspose", "x f", "y", aInts("strides", 2)))
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		k, ok := n.Attrs.(*ir.Const)
		if !ok || k.Own.Format == nil {
			continue
		}
		if k.Own.Format.String() != "int(8)*[0]" || len(k.Own.Scales) != 6 || n.Type.Shape[0] != 6 {
			t.Fatalf("%s %v has the codes of %s, scales %v", n.Name, n.Type.Shape, k.Own.Format, k.Own.Scales)
		}
		for i, v := range k.Data.Floats() {
			if q := v / k.Own.Scales[i/4]; q != float32(int8(q)) {
				t.Errorf("weight %d is %g of its steps", i, q)
			}
		}
		return
	}
	t.Error("no weight keeps its codes")
}

// TestQuantRefused wants a reason for each form that has no hardware.
func TestQuantRefused(t *testing.T) {
	x := vi("x", 1, 12)
	s, z := ft("s", nil, 0.07), i8("z", nil, 3)
	scales := ft("m", d(12), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	for _, c := range []struct {
		name  string
		code  diag.Code
		text  string
		model testModel
	}{
		{"dynamic", "L0253", "DynamicQuantizeMatMul", chain(13, x, []pb{i8("w", d(12, 2), byteRamp(24)...), s},
			msNode("DynamicQuantizeMatMul", "x w s", "y"))},
		{"neighbours", "L0207", "nearest neighbours", chain(13, x, nil, nd("Scan", "x", "y"))},
		{"negative scale", "L0252", "-1", chain(13, x, []pb{ft("s", nil, -1), z}, nd("QuantizeLinear", "x s z", "q"),
			nd("DequantizeLinear", "q s z", "y"))},
		{"float8", "L0250", "float8e4m3fn", chain(19, x, []pb{s, codesTensor("z", 17, nil, "\x00")},
			nd("QuantizeLinear", "x s z", "q"), nd("DequantizeLinear", "q s z", "y"))},
		{"blocks", "L0251", "blocks of 4", chain(21, x, []pb{scales}, nd("QuantizeLinear", "x m", "q",
			aInt("block_size", 4)), nd("DequantizeLinear", "q m", "y"))},
		{"input axis", "L0251", "output channels", chain(13, x, []pb{i8("w", d(2, 12), byteRamp(24)...), scales},
			nd("DequantizeLinear", "w m", "wd", aInt("axis", 1)), nd("Gemm", "x wd", "y", aInt("transB", 1)))},
		{"part of a bit", "L0251", "bit width", chain(13, x, []pb{s, ft("z", nil, 0), ft("w", nil, 3.5)},
			qonnxNode("Quant", "x s z w", "y"))},
	} {
		_, err := Parse("m.onnx", c.model.bytes(), source.Options{})
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: want %s and %q in: %v", c.name, c.code, c.text, err)
		}
	}
}

// TestRefusedOnce: nodes of one operation that is refused share one error, which counts them.
func TestRefusedOnce(t *testing.T) {
	x, w, s := vi("x", 1, 12), i8("w", d(12, 12), byteRamp(144)...), ft("s", nil, 0.07)
	_, err := Parse("m.onnx", chain(13, x, []pb{w, s}, msNode("DynamicQuantizeMatMul", "x w s", "a"),
		msNode("DynamicQuantizeMatMul", "a w s", "b"), msNode("DynamicQuantizeMatMul", "x w s", "c"),
		nd("Add", "b c", "y")).bytes(), source.Options{})
	if err == nil || strings.Count(err.Error(), "L0253") != 1 ||
		!strings.Contains(err.Error(), "the same holds for 2 more nodes") {
		t.Errorf("want one error for three nodes: %v", err)
	}
}

// TestDynamic computes dynamic quantization as the standard defines it, and says that hardware does not.
func TestDynamic(t *testing.T) {
	w, zero := []int8{3, -7, 11, 127, -128, 0, 5, 2}, int8(-3)
	m := chain(13, vi("x", 1, 1, 4, 4), []pb{i8("w", d(2, 1, 2, 2), w...), i8("wz", nil, zero), ft("ws", nil, 0.02)},
		nd("DynamicQuantizeLinear", "x", "q s z"), nd("ConvInteger", "q w z wz", "p", aInts("pads", 1, 1, 0, 0)),
		nd("Cast", "p", "f", aInt("to", 1)), nd("Mul", "s ws", "m"), nd("Mul", "f m", "y"))
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Origin.Warnings) != 1 || !strings.Contains(g.Origin.Warnings[0], "or give lathe the float model") {
		t.Errorf("warnings: %q", g.Origin.Warnings)
	}
	if !strings.Contains(g.Origin.Instead, "quantize the model statically") {
		t.Errorf("instead: %q", g.Origin.Instead)
	}
	x := ramp(16, 3)
	least, most := float32(0), float32(0)
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	scale := (most - least) / 255
	point := float32(math.RoundToEven(float64(-least / scale)))
	code := func(y, x0 int) float32 { // less its zero point, which is what lies outside of the image
		if y < 0 || x0 < 0 {
			return 0
		}
		return min(max(float32(math.RoundToEven(float64(x[4*y+x0]/scale)))+point, 0), 255) - point
	}
	got := evaluate(t, g, x)[0].Floats
	for i, v := range got {
		c, y, x0 := i/16, i/4%4, i%4
		sum := float32(0)
		for k := range 4 {
			sum += code(y+k/2-1, x0+k%2-1) * (float32(w[4*c+k]) - float32(zero))
		}
		if want := sum * (scale * 0.02); math.Abs(float64(v-want)) > 1e-5 {
			t.Errorf("element %d: %g, want %g", i, v, want)
		}
	}
}
