// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/ir"
)

// keeper is an operation that moves or compares codes and computes nothing of them: between quantization and
// dequantization it stands on integers, and does the same to the numbers behind them.
type keeper struct {
	op string
	// from, to are the inputs that hold codes, all of one scheme; to is many where all from there on do.
	from, to int
	// allows says that this form of the operation is one; nil stands for all of them.
	allows func(c *call) bool
}

// keepers lists them. What they give in floats stands for codes, too; places of elements do not.
func keepers() []keeper {
	var list []keeper
	for _, op := range []string{"MaxPool", "GlobalMaxPool", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose",
		"Identity", "Dropout", "Slice", "Split", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Gather", "GatherElements",
		"GatherND", "ArgMax", "ArgMin", "TopK", "ReduceMax", "ReduceMin"} {
		list = append(list, keeper{op: op, to: 1})
	}
	return append(list, keeper{op: "Concat", to: many}, keeper{op: "Max", to: many}, keeper{op: "Min", to: many},
		keeper{op: "Where", from: 1, to: 3},
		keeper{op: "Pad", to: 1, allows: (*call).padsByCode},
		keeper{op: "Resize", to: 1, allows: func(c *call) bool {
			return c.string("mode", "nearest") == "nearest" &&
				c.string("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize"
		}})
}

// onCodes lets a keeper run on the numbers that codes stand for; what it gives is called behind it.
func (c *call) onCodes() (done func()) {
	for _, k := range keepers() {
		if c.n.domain != "" || k.op != c.n.op {
			continue
		}
		if s, dtype := c.schemeOf(k); s != nil && (k.allows == nil || k.allows(c)) && c.asNumbers(k, s) {
			return func() { c.asCodes(s, dtype) }
		}
	}
	return func() {}
}

// schemeOf is the scheme of the first input of k that holds computed codes, and their type; nil where none does.
func (c *call) schemeOf(k keeper) (*coding.Scheme, int64) {
	for i := k.from; i < min(k.to, len(c.in)); i++ {
		if v := c.in[i]; v != nil && v.quant != nil {
			return v.quant, v.dtype
		}
	}
	return nil, 0
}

// asNumbers makes the inputs of k, all codes of scheme s, the numbers behind them; false where one has another scheme.
func (c *call) asNumbers(k keeper, s *coding.Scheme) bool {
	in := append([]*value{}, c.in...)
	for i := k.from; i < min(k.to, len(in)); i++ {
		v := in[i]
		switch {
		case v != nil && v.quant != nil && v.quant.Within(s):
			numbers := *v
			numbers.dtype, numbers.quant = 1, nil
			in[i] = &numbers
		case v != nil && v.constant() && !isFloat(storage(v.dtype)):
			codes, ok := build.Ints(c.arg(i))
			if !ok {
				return false
			}
			in[i] = &value{name: v.name, dtype: 1, node: c.decode(v.name, s, codes, v.shape())}
		default:
			return false
		}
	}
	c.in = in
	return true
}

// asCodes says of what a keeper gives that it stands for codes: of numbers, and not of places.
func (c *call) asCodes(s *coding.Scheme, dtype int64) {
	for _, name := range c.n.out {
		if v := c.fr.values[name]; c.err == nil && name != "" && v.node != nil && v.node.Type.IsFloat() {
			v.dtype, v.quant = dtype, s
		}
	}
}

// padsByCode makes the constant that Pad takes, a code, the number behind it; false where it is not known.
func (c *call) padsByCode() bool {
	if c.opset < 11 || c.string("mode", "constant") != "constant" {
		return c.opset >= 11
	}
	code := int64(0)
	if c.has(2) {
		list, ok := []int64(nil), false
		if c.in[2].constant() {
			list, ok = build.Ints(c.arg(2))
		}
		if !ok || len(list) != 1 {
			return false
		}
		code = list[0]
	}
	s := c.in[0].quant
	number := float64(code-s.Zero) * float64(s.Scales[0])
	n := c.made("value", ir.FloatBlob([]float32{float32(number)}), nil)
	for len(c.in) < 3 {
		c.in = append(c.in, nil)
	}
	c.in[2] = &value{name: c.label + ".value", dtype: 1, node: n}
	return c.err == nil
}
