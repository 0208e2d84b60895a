// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
)

// decomposed is the prefix of the operations by which quantized programs code values: those of pt2e and its kin.
const decomposed = "torch.ops.quantized_decomposed."

// quantizations lists what codes values, decodes them, or does both.
func quantizations() []row {
	const bounds = " quant_min quant_max"
	return append(affine(), []row{
		{decomposed + "quantize_per_tensor.default " + decomposed + "quantize_per_tensor.tensor " +
			decomposed + "quantize_per_tensor.tensor2", "input scale zero_point" + bounds + " dtype", convertQuantize},
		{decomposed + "quantize_per_channel.default", "input scales zero_points axis" + bounds + " dtype", convertQuantize},
		{decomposed + "dequantize_per_tensor.default " + decomposed + "dequantize_per_tensor.tensor " +
			decomposed + "dequantize_per_tensor.tensor2", "input scale zero_point" + bounds + " dtype out_dtype",
			convertDequantize},
		{decomposed + "dequantize_per_channel.default", "input scales zero_points axis" + bounds + " dtype out_dtype",
			convertDequantize},
		{"fake_quantize_per_tensor_affine.default fake_quantize_per_tensor_affine.tensor_qparams " +
			"fake_quantize_per_tensor_affine_cachemask.default", "self scale zero_point" + bounds, convertFakeQuantize},
		{"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
			"self scale zero_point fake_quant_enabled" + bounds, convertFakeQuantize},
		{"fake_quantize_per_channel_affine.default fake_quantize_per_channel_affine_cachemask.default",
			"self scale zero_point axis" + bounds, convertFakeQuantize},
	}...)
}

// static is the hint for what no fixed hardware computes.
const static = "quantize the model statically, or give lathe the float model, which --calibrate quantizes"

// constants reads a number, or a tensor of constants, as real numbers.
func (c *call) constants(name string) []float64 {
	if a, _ := c.arg(name); len(tensorNames(a)) == 0 {
		return []float64{c.scalar(name).float()}
	}
	v, ok := build.Floats(c.tensor(name))
	if c.err == nil && !ok {
		c.fail(diag.QuantForm, "takes its %s from the data of each sample", strings.ReplaceAll(name, "_", " ")).Hint = static
	}
	return v
}

// codedAs reads scales, zero point and range of codes: the scheme of least width that has the range, and the range
// itself. x is what is coded.
func (c *call) codedAs(x *ir.Node) (s *coding.Scheme, lo, hi int64) {
	scale, zero, axis := "scale", "zero_point", -1
	if c.has("scales") {
		scale, zero = "scales", "zero_points"
	}
	if c.has("axis") {
		axis = c.axis(c.int("axis", 0), len(c.shape(x)))
	}
	if c.has("block_size") {
		axis = c.blockAxis(c.shape(x))
	}
	scales, zeros := c.constants(scale), []float64{0}
	if a, ok := c.arg(zero); !c.has("block_size") || ok && (a.kind != "as_optional_tensor" || tensorNames(a) != nil) {
		zeros = c.constants(zero)
	}
	least, most := c.codeRange()
	lo, hi = int64(c.one("quant_min", least)), int64(c.one("quant_max", most))
	if c.err != nil {
		return nil, 0, 0
	}
	s = &coding.Scheme{Axis: axis}
	for _, v := range scales {
		if f := float32(v); !(f > 0) || f > math.MaxFloat32 {
			c.fail(diag.QuantScale, "has the scale %g; scales are positive finite numbers", v)
			return nil, 0, 0
		}
		s.Scales = append(s.Scales, float32(v))
	}
	switch {
	case len(scales) == 0 || len(zeros) == 0 || axis < 0 && len(scales) != 1 ||
		axis >= 0 && (len(c.shape(x)) == 0 || len(scales) != c.shape(x)[axis]):
		c.fail(diag.OperandShapes, "has %d scales and %d zero points for %s", len(scales), len(zeros),
			ir.ShapeString(c.shape(x)))
	case slices.Min(zeros) != slices.Max(zeros):
		c.fail(diag.QuantForm, "has zero points that differ between channels (%g to %g)", slices.Min(zeros),
			slices.Max(zeros)).Hint = "quantize weights symmetrically"
	case lo >= hi || lo < math.MinInt32 || hi > math.MaxUint32:
		c.fail(diag.QuantForm, "has codes from %d to %d", lo, hi)
	}
	if c.err != nil {
		return nil, 0, 0
	}
	if slices.Max(s.Scales) == slices.Min(s.Scales) {
		s.Scales, s.Axis = s.Scales[:1], -1
	}
	s.Zero = int64(zeros[0])
	s.Ints = format.Fixed{W: 1, Signed: lo < 0}
	for s.Ints.Min() > lo || s.Ints.Max() < hi {
		s.Ints.W++
	}
	if t, ok := s.Clipped(lo, hi); ok {
		s = t
	}
	return s, lo, hi
}

// rounded is x in the numbers that codes of s from lo to hi stand for.
func (c *call) rounded(x *ir.Node, s *coding.Scheme, lo, hi int64) *ir.Node {
	if c.err != nil {
		return nil
	}
	if s.Axis >= 0 {
		c.fail(diag.QuantForm, "gives each channel of a computed value a scale of its own; one scale is supported").
			Hint = "quantize activations per tensor, weights per channel"
		return nil
	}
	a := &pointwise.QuantAttrs{Format: s.Type(format.DivF32).Format.String()}
	if s.Ints.Min() == lo && s.Ints.Max() == hi {
		return c.emit("", pointwise.Quant, a, x)
	}
	ends := &pointwise.ClipAttrs{Min: float32(lo-s.Zero) * s.Scales[0], Max: float32(hi-s.Zero) * s.Scales[0]}
	return c.emit("", pointwise.Clip, ends, c.emit("codes", pointwise.Quant, a, x))
}

// encoded are the codes of constant x, from lo to hi; false where x is no constant.
func (c *call) encoded(x *ir.Node, s *coding.Scheme, lo, hi int64) (codes []int64, ok bool) {
	values, ok := build.Floats(x)
	if c.err != nil || !ok {
		return nil, false
	}
	codes = s.Encode(values, x.Type.Shape)
	for i, q := range codes {
		codes[i] = min(max(q, lo), hi)
	}
	return codes, true
}

// decoded is a constant of the numbers behind codes, which remembers them.
func (c *call) decoded(name string, s *coding.Scheme, codes []int64, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := s.Constant(c.b, name, codes, shape)
	c.wrap(err)
	return n
}

// convertQuantize gives codes: those of constants at once. Computed ones stand for the numbers behind them until
// something else than a dequantization reads them.
func convertQuantize(c *call) {
	x := c.tensor("input")
	s, lo, hi := c.codedAs(x)
	to := c.outType(nil)
	if codes, ok := c.encoded(x, s, lo, hi); ok {
		n, err := c.b.Const(x.Name+".codes", build.IntBlob(to, codes), x.Type.Shape)
		c.wrap(err)
		c.result(n)
		return
	}
	n := c.rounded(x, s, lo, hi)
	if outs := c.outs(); c.err == nil && len(outs) == 1 {
		c.done++
		*c.values[outs[0]] = value{node: n, typ: to, coded: s, memory: &memory{}}
	}
}

// codesOf computes the codes of a value that stands for the numbers behind them.
func (im *importer) codesOf(name string, v *value) (*ir.Node, error) {
	return v.coded.Codes(im.b, build.Place{Name: name, Source: "codes"}, v.node, v.typ)
}

// convertDequantize gives the numbers behind codes.
func convertDequantize(c *call) {
	a := c.need("input")
	names := tensorNames(a)
	if c.err != nil || len(names) != 1 {
		c.odd("input", "a tensor", a)
		return
	}
	if v := c.values[names[0]]; v != nil && v.coded != nil {
		if s, _, _ := c.codedAs(v.node); c.err == nil && v.coded.Within(s) {
			c.result(v.node)
			return
		}
	}
	x := c.tensor("input")
	s, _, _ := c.codedAs(x)
	if c.err != nil {
		return
	}
	codes, ok := build.Ints(x)
	switch {
	case ok:
		c.result(c.decoded(x.Name, s, codes, x.Type.Shape))
	case x.Type.IsFloat():
		c.fail(diag.BadElementType, "dequantizes floats")
	case s.Axis >= 0:
		c.fail(diag.QuantForm, "gives each channel of computed codes a scale of its own; one scale is supported").
			Hint = "quantize activations per tensor, weights per channel"
	default:
		n, err := s.Numbers(c.b, c.place, x)
		c.wrap(err)
		c.result(n)
	}
}

// convertFakeQuantize rounds to the numbers behind codes. What follows of the second result, a mask for gradients, is
// not known.
func convertFakeQuantize(c *call) {
	x := c.tensor("self")
	if on := c.one("fake_quant_enabled", 1); c.err == nil && on == 0 {
		c.same(x)
		return
	}
	s, lo, hi := c.codedAs(x)
	if codes, ok := c.encoded(x, s, lo, hi); ok {
		c.result(c.decoded(x.Name, s, codes, x.Type.Shape))
		return
	}
	c.result(c.rounded(x, s, lo, hi))
}

// one is the number of an argument, or of a tensor of one constant; def where it is absent.
func (c *call) one(name string, def float64) float64 {
	if !c.has(name) {
		return def
	}
	v := c.constants(name)
	if c.err == nil && len(v) != 1 {
		c.fail(diag.OperandShapes, "has %d numbers as %s", len(v), source.Quote(name))
	}
	if c.err != nil {
		return def
	}
	return v[0]
}
