// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
)

// microsoft is the domain of what runtimes add to quantized models.
const microsoft = "com.microsoft."

// quantTable lists the operations of quantized models.
func quantTable() []opSpec {
	const q, dq = "axis saturate block_size output_dtype precision", "axis block_size output_dtype"
	return []opSpec{
		{"QuantizeLinear", q, 2, 3, nil, convertQuantize},
		{"DequantizeLinear", dq, 2, 3, nil, convertDequantize},
		{microsoft + "QuantizeLinear", q, 2, 3, nil, convertQuantize},
		{microsoft + "DequantizeLinear", dq, 2, 3, nil, convertDequantize},
		{"QLinearConv", windowAttrs + "group", 8, 9, nil, convertQLinearConv},
		{"QLinearMatMul", "", 8, 8, nil, convertQLinearMatMul},
		{microsoft + "QGemm", "alpha transA transB", 6, 9, nil, convertQGemm},
		{microsoft + "QLinearAdd", "", 7, 8, nil, convertQLinearBinary(op.Add)},
		{microsoft + "QLinearMul", "", 7, 8, nil, convertQLinearBinary(op.Mul)},
		{microsoft + "QLinearSigmoid", "", 4, 5, nil, convertQLinearUnary(convertUnary(op.Sigmoid))},
		{microsoft + "QLinearLeakyRelu", "alpha", 4, 5, nil, convertQLinearUnary(convertLeaky)},
		{microsoft + "QLinearAveragePool", windowAttrs + "ceil_mode count_include_pad channels_last", 4, 5, nil,
			convertQLinearPool(convertAvgPool)},
		{microsoft + "QLinearGlobalAveragePool", "channels_last", 4, 5, nil, convertQLinearPool(convertGlobalAvg)},
		{qonnx + "Quant", "signed narrow rounding_mode", 4, 4, nil, convertQonnxQuant},
		{qonnx + "IntQuant", "signed narrow rounding_mode", 4, 4, nil, convertQonnxQuant},
		{qonnx + "BipolarQuant", "", 2, 2, nil, convertBipolarQuant},
		{qonnx + "Trunc", "rounding_mode signed narrow", 5, 6, nil, convertTrunc},
	}
}

// refusals are operations of quantized models that no fixed hardware computes, with the reason.
var refusals = [...]struct{ op, why string }{
	{"DynamicQuantizeLinear", "takes its scale from the data of each sample"},
	{"ConvInteger", "belongs to dynamic quantization, whose scales come from the data of each sample"},
	{"MatMulInteger", "belongs to dynamic quantization, whose scales come from the data of each sample"},
	{microsoft + "DynamicQuantizeMatMul", "takes its scale from the data of each sample"},
	{microsoft + "MatMulIntegerToFloat", "belongs to dynamic quantization: scales come from the data of each sample"},
	{microsoft + "MatMulNBits", "has weights in blocks with a scale each, along the input"},
	{qonnx + "FloatQuant", "asks for small floats, which no operation computes in"},
	{qonnx + "MultiThreshold", "counts thresholds, which has no operation here"},
}

// refused fails operations that are known and cannot be supported.
func (c *call) refused(name string) bool {
	for _, r := range refusals {
		if r.op == name {
			c.fail(source.CodeQuantRefused, "%s %s", name, r.why).Hint = "quantize the model statically: " +
				"QuantizeLinear and DequantizeLinear, or QONNX Quant"
			return true
		}
	}
	return false
}

// quantized makes the codes of n under scheme s the first result, of the given element type.
func (c *call) quantized(n *ir.Node, s *scheme, typ ir.DType, suffix string) {
	if c.err != nil || n == nil {
		return
	}
	if s.axis >= 0 {
		c.fail(source.CodeQuantForm, "gives each channel of a computed value a scale of its own; one scale is supported").
			Hint = "quantize activations per tensor, weights per channel"
		return
	}
	t := s.typ(format.DivF32)
	n = c.emit(suffix, op.Quant, &op.QuantAttrs{Format: t.Format.String(), Bipolar: s.sign}, n)
	if c.result(n); n != nil {
		v := c.values[c.n.out[0]]
		if v.typ = typ; typ != ir.F32 {
			v.quant = s
		}
	}
}

// codesOf is the storage type of codes of a scheme.
func (s *scheme) storage() ir.DType {
	for _, t := range codeTypes {
		if t.w == s.ints.W && t.signed == s.ints.Signed {
			return storage(t.dtype)
		}
	}
	return ir.I32
}

// blocked refuses scales for blocks of an axis.
func (c *call) blocked() {
	if n := c.int("block_size", 0); n != 0 {
		c.fail(source.CodeQuantForm, "has a scale for each block of %d elements; one a tensor or a channel is supported", n)
	}
	if c.int("precision", 0) > 1 {
		c.fail(source.CodeAttr, "attribute precision asks for a division in another type than float")
	}
}

func convertQuantize(c *call) {
	c.blocked()
	s := c.linearScheme(1, c.shape(0), c.int("axis", 1), max(c.int("output_dtype", 2), 2))
	switch {
	case c.err != nil:
	case c.in[0].constant():
		k := c.reals(0)
		if c.err == nil {
			c.constantResult(&konst{typ: s.storage(), shape: k.shape, ints: s.encode(k)})
		}
	default:
		c.quantized(c.data(0), s, s.storage(), "")
	}
}

// reals returns the elements of constant input i, of any size.
func (c *call) reals(i int) *konst {
	k := c.elements(i)
	if c.err == nil && !k.real() {
		c.fail(source.CodeDType, "input %d (%s) holds %s, real numbers are needed", i, quote(c.in[i].name), k.typ)
	}
	return k
}

// elements returns the elements of constant input i, of any size: weights are never too large.
func (c *call) elements(i int) *konst {
	v := c.in[i]
	if c.err != nil || v.known != nil {
		return v.known
	}
	b, err := v.tensor.blob(&c.ext)
	if c.wrap(source.CodeFold, err); err != nil {
		return nil
	}
	k, err := readKonst(b, v.shape)
	c.wrap(source.CodeFold, err)
	return k
}

func convertDequantize(c *call) {
	c.blocked()
	v := c.in[0]
	s := c.linearScheme(1, v.shape, c.int("axis", 1), dtypeOf(v))
	if c.err != nil {
		return
	}
	*c.values[c.n.out[0]] = *c.decoded(0, s)
}

// decoded is input i, codes under scheme s, as a value of real numbers.
func (c *call) decoded(i int, s *scheme) *value {
	v := c.in[i]
	out := &value{name: c.n.out[0], shape: v.shape, typ: ir.F32}
	switch {
	case c.err != nil:
	case v.constant():
		k := c.elements(i)
		if c.err != nil {
			return out
		}
		if k.real() {
			c.fail(source.CodeDType, "input %d (%s) holds real numbers where codes are needed", i, quote(v.name))
			return out
		}
		if got, want := c.codes(dtypeOf(v)), s; c.err == nil && got.ints != want.ints {
			c.fail(source.CodeDType, "input %d (%s) holds %s, its zero point is of another type", i, quote(v.name), typeName(v))
			return out
		}
		out.known = s.decode(k.ints, v.shape)
		out.name = v.name // constants are named after what the file holds
	case v.quant == nil:
		c.fail(source.CodeQuantForm, "decodes %s, which nothing in the model quantizes", quote(v.name)).
			Hint = "give the model float inputs, and a QuantizeLinear behind each"
	case !v.quant.same(s):
		c.fail(source.CodeQuantForm, "decodes %s with another scale or zero point than it was coded with", quote(v.name))
	default:
		out.node = v.node
	}
	return out
}

// keepers move codes and leave their values alone: between quantization and dequantization they stand on integers.
var keepers = [...]string{"MaxPool", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Slice",
	"GlobalMaxPool"}

// onCodes lets an operation that keeps codes run on the values that they stand for; what it gives is called behind it.
func (c *call) onCodes() (done func()) {
	none := func() {}
	if len(c.in) == 0 || c.in[0] == nil || c.in[0].quant == nil {
		return none
	}
	for _, k := range keepers {
		if c.n.op == k && c.n.domain == "" {
			v := *c.in[0]
			s, typ := v.quant, v.typ
			v.typ, v.quant = ir.F32, nil
			c.in[0] = &v
			return func() {
				if out := c.values[c.n.out[0]]; c.err == nil && out.node != nil {
					out.typ, out.quant = typ, s
				}
			}
		}
	}
	return none
}
