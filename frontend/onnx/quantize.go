// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
)

// microsoft is the domain of what runtimes add to quantized models.
const microsoft = "com.microsoft."

// quantTable lists the operations of quantized models.
func quantTable() []opSpec {
	const q, dq = "axis saturate block_size output_dtype precision", "axis block_size output_dtype"
	return []opSpec{
		{"QuantizeLinear", q, 2, 3, convertQuantize, false},
		{"DequantizeLinear", dq, 2, 3, convertDequantize, false},
		{"DynamicQuantizeLinear", "", 1, 1, convertDynamic, true},
		{microsoft + "QuantizeLinear", q, 2, 3, convertQuantize, false},
		{microsoft + "DequantizeLinear", dq, 2, 3, convertDequantize, false},
		{"QLinearConv", windowAttrs + "group", 8, 9, convertQLinearConv, false},
		{"QLinearMatMul", "", 8, 8, convertQLinearMatMul, false},
		{microsoft + "QGemm", "alpha transA transB", 6, 9, convertQGemm, false},
		{microsoft + "QLinearAdd", "", 7, 8, convertQLinearBinary(pointwise.Add), false},
		{microsoft + "QLinearMul", "", 7, 8, convertQLinearBinary(pointwise.Mul), false},
		{microsoft + "QLinearSigmoid", "", 4, 5, convertQLinearUnary(convertUnary(curve.Sigmoid)), false},
		{microsoft + "QLinearLeakyRelu", "alpha", 4, 5, convertQLinearUnary(convertLeaky), false},
		{microsoft + "QLinearAveragePool", windowAttrs + "ceil_mode count_include_pad channels_last", 4, 5,
			convertQLinearPool(convertAvgPool), false},
		{microsoft + "QLinearGlobalAveragePool", "channels_last", 4, 5, convertQLinearPool(convertGlobalAvg), false},
		{microsoft + "QLinearSoftmax", "axis opset", 5, 5, convertQLinearSoftmax, false},
		{microsoft + "QLinearConcat", "axis", 5, many, convertQLinearConcat, false},
		{microsoft + "MatMulNBits", "K N bits block_size accuracy_level", 3, 6, convertMatMulNBits, false},
		{qonnx + "Quant", "signed narrow rounding_mode", 4, 4, convertQonnxQuant, false},
		{qonnx + "IntQuant", "signed narrow rounding_mode", 4, 4, convertQonnxQuant, false},
		{qonnx + "BipolarQuant", "", 2, 2, convertBipolarQuant, false},
		{qonnx + "Trunc", "rounding_mode signed narrow", 5, 6, convertTrunc, false},
	}
}

// refusal is an operation that is known and has no form here, with the reason and what to do instead.
type refusal struct{ op, why, hint string }

const static = "quantize the model statically (quantize_static of onnxruntime, QONNX), or give lathe " +
	"the float model, which --calibrate quantizes"

// quantRefusals are operations of quantized models that no fixed hardware computes.
func quantRefusals() []refusal {
	return []refusal{
		{microsoft + "DynamicQuantizeMatMul", "takes its scale from the data of each sample", static},
		{microsoft + "MatMulIntegerToFloat", "belongs to dynamic quantization: scales come from the data of each sample",
			static},
		{qonnx + "FloatQuant", "asks for small floats, which no operation computes in", static},
		{qonnx + "MultiThreshold", "counts thresholds, which has no operation here", static},
	}
}

// refused is the error of the first node of an operation, and the number of the others.
type refused struct {
	err  *diag.Error
	more int
}

// refused fails operations that are known and cannot be supported: the first node of each, which stands for the others.
func (c *call) refused(name string) bool {
	tables := map[diag.Code][]refusal{diag.QuantRefused: quantRefusals(), diag.UnsupportedOps: classicRefusals()}
	for code, list := range tables {
		for _, r := range list {
			if r.op != name {
				continue
			}
			if had := c.refusals[name]; had != nil {
				had.more++
				return true
			}
			e := c.fail(code, "%s %s", name, r.why)
			e.Hint = r.hint
			c.refusals[name] = &refused{err: e}
			return true
		}
	}
	return false
}

// quantized makes the codes of n under scheme s the first result, of the given element type.
func (c *call) quantized(n *ir.Node, s *coding.Scheme, dtype int64, suffix string) {
	if c.err != nil || n == nil {
		return
	}
	if s.Axis >= 0 {
		c.fail(diag.QuantForm, "gives each channel of a computed value a scale of its own; one scale is supported").
			Hint = "quantize activations per tensor, weights per channel"
		return
	}
	t := s.Type(format.DivF32)
	n = c.emit(suffix, pointwise.Quant, &pointwise.QuantAttrs{Format: t.Format.String(), Bipolar: s.Sign}, n)
	if c.result(n); n != nil {
		v := c.fr.values[c.n.out[0]]
		if v.dtype = dtype; dtype != 1 {
			v.quant = s
		}
	}
}

// codesType is the element type of codes of a scheme.
func codesType(s *coding.Scheme) int64 {
	for _, t := range codeTypes {
		if t.w == s.Ints.W && t.signed == s.Ints.Signed {
			return t.dtype
		}
	}
	return 6
}

// precise refuses divisions in other types than float32.
func (c *call) precise() {
	if c.int("precision", 0) > 1 {
		c.fail(diag.BadAttribute, "attribute precision asks for a division in another type than float")
	}
}

func convertQuantize(c *call) {
	c.precise()
	if !c.plainScheme() {
		c.codedBy()
		return
	}
	s := c.linearScheme(1, c.shape(0), c.int("axis", 1), max(c.int("output_dtype", 2), 2))
	switch {
	case c.err != nil:
	case c.in[0].constant():
		if k := c.elements(0); c.err == nil {
			n := c.made("codes", build.IntBlob(storage(codesType(s)), s.Encode(k, c.shape(0))), c.shape(0))
			if c.result(n); c.err == nil {
				c.fr.values[c.n.out[0]].dtype = codesType(s)
			}
		}
	case s.Axis >= 0:
		c.codesByChannel(s)
	default:
		c.quantized(c.data(0), s, codesType(s), "")
	}
}

// elements returns the elements of constant input i, of any size: weights are never too large.
func (c *call) elements(i int) []float64 {
	v, ok := build.Floats(c.data(i))
	if c.err == nil && !ok {
		c.fail(diag.ConstantExpression, "input %d (%s) cannot be read", i, quote(c.in[i].name))
	}
	return v
}

func convertDequantize(c *call) {
	v := c.in[0]
	if !c.plainScheme() {
		c.decodedBy()
		return
	}
	s := c.linearScheme(1, c.shape(0), c.int("axis", 1), v.dtype)
	if c.err == nil {
		*c.fr.values[c.n.out[0]] = *c.decoded(0, s)
	}
}

// decoded is input i, codes under scheme s, as a value of real numbers.
func (c *call) decoded(i int, s *coding.Scheme) *value {
	v := c.in[i]
	out := &value{name: c.n.out[0], dtype: 1}
	switch {
	case c.err != nil:
	case v.constant():
		if isFloat(storage(v.dtype)) {
			c.fail(diag.BadElementType, "input %d (%s) holds floats where codes are needed", i, quote(v.name))
			return out
		}
		if v.clip != nil {
			t := *s
			t.Ints = v.clip.Ints
			s = &t
		} else if got, want := c.codes(v.dtype), s; c.err == nil && got.Ints != want.Ints {
			c.fail(diag.BadElementType, "input %d (%s) holds %s, its zero point is of another type", i, quote(v.name),
				dtypeName(v.dtype))
			return out
		}
		codes, _ := build.Ints(c.arg(i))
		out.node = c.decode(v.name, s, codes, c.shape(i)) // named after what the file holds
		out.name = v.name
	case v.quant != nil && v.quant.Within(s):
		out.node = v.node
	case isFloat(storage(v.dtype)):
		c.fail(diag.BadElementType, "input %d (%s) holds floats where codes are needed", i, quote(v.name))
	default:
		out.node = c.decodedAtRun(c.arg(i), s)
	}
	return out
}
