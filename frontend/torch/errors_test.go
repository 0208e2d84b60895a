// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"strconv"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
)

// TestErrors demands of programs that cannot be imported the code, and a word of what is wrong.
func TestErrors(t *testing.T) {
	const x, out = "input x f32 1x4\n", "\noutput y"
	for text, want := range map[string]string{
		"y f32 1x4 = relu.default self=%x":                                                         "",
		"y f32 1x4 = relu.default self=%z":                                                         "L0216 by nothing",
		"y f32 1x4 = relu.default":                                                                 "L0224 the argument self",
		"y f32 1x4 = relu.default self=%x input=%x":                                                "L0209 \"input\"",
		"y f32 1x4 = relu.default self=3":                                                          "L0209 where a tensor",
		"y f32 1x5 = relu.default self=%x":                                                         "L0266 states 1x5",
		"y i64 1x4 = relu.default self=%x":                                                         "L0266 int(64",
		"y f32 1x4 = view.default self=%x size=[3,-1]":                                             "L0222 [3 -1]",
		"y f32 1x4 = view.default self=%x size=[-1,-1]":                                            "L0213 [-1 -1]",
		"y f32 1x4 = permute.default self=%x dims=[0,0]":                                           "L0209 not a permutation",
		"y f32 1x4 = permute.default self=%x dims=[0,7]":                                           "L0209 axis 7",
		"y f32 1x4 = expand.default self=%x size=[1,8]":                                            "L0222 1x8",
		"y f32 1x4 = dropout.default input=%x p=0.5 train=true":                                    "L0208 model.eval()",
		"y f32 1x4 = elu.default self=%x input_scale=2":                                            "L0208 input_scale",
		"y f32 1x4 = gelu.default self=%x approximate='sigmoid'":                                   "L0209 sigmoid",
		"y f32 1x4 = cat.default tensors=[%x,%x] dim=4":                                            "L0209 axis 4",
		"y c64 1x4 = relu.default self=%x":                                                         "L0210 complex64",
		"y f32 1x4 = arange.default end=99999999999":                                               "L0205 range",
		"y f32 1x4 = slice.Tensor self=%x dim=1 step=0":                                            "L0209 step",
		"y f32 1x4 = select.int self=%x dim=1 index=9":                                             "L0209 element 9",
		"[y f32 1x2, z f32 1x2] = split.Tensor self=%x split_size=1 dim=1":                         "L0224 2 results",
		"y f32 1x4 = view.default self=%x size=[$s,4]":                                             "L0216 the size \"s\"",
		"y f32 1x4, z f32 1 = native_dropout.default input=%x p=1 train=false":                     "",
		"w f32 1x4, z f32 1 = native_dropout.default input=%x\ny f32 1 = relu.default self=%z":     "L0228 not supported",
		"y f32 1x4 = torch.ops.higher_order.cond =%x":                                              "L0207 cond",
		"y f32 1x4 = _operator.add a=1 b=2":                                                        "L0263 gives a size",
		"y f32 1x4 = div.Tensor_mode self=%x other=2 rounding_mode='up'":                           "L0209 floor or trunc",
		"m bool 1x4 = gt.Scalar self=%x other=0\ny f32 4 = index.Tensor self=%x indices=[none,%m]": "L0208 truth values",
		"y f32 1x4 = index.Tensor self=%x indices=[none]":                                          "L0222 along 0 axes",
		"y f32 1x4 = conv2d.default input=%x weight=%x":                                            "L0220 weight",
		"y f32 1x4 = upsample_nearest2d.vec input=%x scale_factors=floats:[2,2]":                   "L0222 spatial",
		"y f32 1x4 = scaled_dot_product_attention.default query=%x key=%x value=%x dropout_p=0.5":  "L0208 drops out",
		"y f32 1x4 = relu.default self=%x\ny f32 1x4 = relu.default self=%x":                       "L0219 \"y\"",
	} {
		_, err := Parse("m.pt2", pt2test.New(x+text+out).Archive(), source.Options{})
		code, word, _ := strings.Cut(want, " ")
		if string(diag.CodeOf(err)) != code || err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("%s\nwant %s in: %v", text, want, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "m.pt2: ") {
			t.Errorf("no file in: %v", err)
		}
	}
}

// TestStoredErrors demands refusals of weights that the archive does not hold as it says.
func TestStoredErrors(t *testing.T) {
	const text = "input x f32 1x4\nparam fc.weight f32 2x4\n" +
		"y f32 1x2 = linear.default input=%x weight=%fc.weight\noutput y"
	meta := func(p *pt2test.Program) pt2test.Object {
		return p.Weights["config"].(pt2test.Object)["fc.weight"].(pt2test.Object)
	}
	of := func(p *pt2test.Program) pt2test.Object { return meta(p)["tensor_meta"].(pt2test.Object) }
	one := func(v int) pt2test.Object { return pt2test.Object{"as_int": v} }
	for name, c := range map[string]struct {
		change func(p *pt2test.Program)
		want   string
	}{
		"pickle":  {func(p *pt2test.Program) { meta(p)["use_pickle"] = true }, "L0261 never opened"},
		"path":    {func(p *pt2test.Program) { meta(p)["path_name"] = "../w" }, "L0264 a path"},
		"missing": {func(p *pt2test.Program) { meta(p)["path_name"] = "w" }, "L0216 lacks its data"},
		"no entry": {func(p *pt2test.Program) { delete(p.Weights["config"].(pt2test.Object), "fc.weight") },
			"L0216 no data"},
		"layout":   {func(p *pt2test.Program) { of(p)["layout"] = 1 }, "L0225 layout 1"},
		"dtype":    {func(p *pt2test.Program) { of(p)["dtype"] = 29 }, "L0210 float8_e4m3fn"},
		"other":    {func(p *pt2test.Program) { of(p)["dtype"] = 4 }, "L0266 i32"},
		"offset":   {func(p *pt2test.Program) { of(p)["storage_offset"] = one(1) }, "L0264 element 8 of the 8"},
		"negative": {func(p *pt2test.Program) { of(p)["storage_offset"] = one(-1) }, "L0264 0 to 2^40"},
		"huge":     {func(p *pt2test.Program) { of(p)["storage_offset"] = one(1 << 62) }, "L0264 0 to 2^40"},
		"strides":  {func(p *pt2test.Program) { of(p)["strides"] = []pt2test.Value{one(1)} }, "L0264 1 strides"},
		"far": {func(p *pt2test.Program) { of(p)["strides"] = []pt2test.Value{one(1 << 39), one(1)} },
			"L0264 reach"},
		"sizes": {func(p *pt2test.Program) { of(p)["sizes"] = []pt2test.Value{one(1 << 39), one(1 << 39)} },
			"L0264 2^33"},
		"size text": {func(p *pt2test.Program) { of(p)["sizes"] = "2x4" }, "L0263 a list"},
		"major": {func(p *pt2test.Program) { p.Model["schema_version"].(pt2test.Object)["major"] = 9 },
			"L0206 version 9"},
		"fraction": {func(p *pt2test.Program) { p.Model["schema_version"].(pt2test.Object)["major"] = 8.5 },
			"L0263 whole number"},
		"two": {func(p *pt2test.Program) { p.Data["models/b.json"] = []byte("{}") }, "L0262 2 programs"},
	} {
		p := pt2test.New(text)
		c.change(p)
		_, err := Parse("m.pt2", p.Archive(), source.Options{})
		code, word, _ := strings.Cut(c.want, " ")
		if string(diag.CodeOf(err)) != code || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: want %s in: %v", name, c.want, err)
		}
	}
}

// TestInPlace: operations in place are the plain ones, which names of what is changed show; other names of the same
// memory are refused.
func TestInPlace(t *testing.T) {
	const x = "input x f32 1x4\na f32 1x4 = sigmoid.default self=%x\n"
	for text, want := range map[string]diag.Code{
		"b f32 1x4 = relu_.default self=%a\noutput b":                                                 "",
		"b f32 1x4 = add_.Tensor self=%a other=1\nc f32 1x4 = mul_.Tensor self=%b other=%b\noutput c": "",
		"b f32 1x4 = relu_.default self=%x\noutput b":                                                 "",
		"b f32 1x4 = relu_.default self=%a\noutput a":                                                 "",
		"v f32 4 = view.default self=%a size=[4]\nb f32 1x4 = relu_.default self=%a\noutput v":        diag.InPlaceMutation,
		"v f32 4 = view.default self=%a size=[4]\nb f32 4 = relu_.default self=%v\noutput a":          "",
		"v f32 4 = view.default self=%a size=[4]\nb f32 4 = relu_.default self=%v\noutput b":          "",
		"v f32 1x4 = clone.default self=%a\nb f32 1x4 = relu_.default self=%a\noutput v":              "",
		"p f32 1x2 = slice.Tensor self=%a dim=1 end=2\nb f32 1x2 = relu_.default self=%p\noutput a":   "",
		"p f32 1x2 = slice.Tensor self=%a dim=1 end=2\nb f32 1x4 = relu_.default self=%a\noutput p":   diag.InPlaceMutation,
		"v f32 4x4 = expand.default self=%a size=[4,4]\nb f32 4x4 = relu_.default self=%v\noutput a":  diag.InPlaceMutation,
		"b f32 1x4 = relu_.default self=%a\nc f32 1x4 = relu_.default self=%x\nd f32 1x4 = add.Tensor self=%b other=%c\n" +
			"output d": "",
	} {
		_, err := Parse("m.pt2", pt2test.New(x+text).Archive(), source.Options{})
		if diag.CodeOf(err) != want {
			t.Errorf("%s\nwant %q: %v", text, want, err)
		}
	}
	_, err := Parse("m.pt2", pt2test.New("input x f32 4\nparam w f32 4\nb f32 4 = add_.Tensor self=%w other=%x\noutput b").
		Archive(), source.Options{})
	if diag.CodeOf(err) != diag.InPlaceMutation {
		t.Error(err)
	}
}

// TestInline converts the graph that is computed without gradients where it stands, and refuses one inside of itself.
func TestInline(t *testing.T) {
	inner := pt2test.Graph("input x f32 1x4\nq f32 1x4 = relu.default self=%x @ rope:Rotary\noutput q")
	text := "input x f32 1x4\ny f32 1x4 = torch.ops.higher_order.wrap_with_set_grad_enabled =false =graph:" +
		strings.ReplaceAll(inner, " ", "") + " =%x\nz f32 1x4 = tanh.default self=%y\noutput z"
	if have := nodes(load(t, text, source.Options{})); have != "x:input:1x4 rope.q:relu:1x4 z:tanh:1x4" {
		t.Error(have)
	}
}

// TestDims binds symbols, and evaluates sizes that are computed of them.
func TestDims(t *testing.T) {
	const text = "input x f32 s0xs1x4\nn size = sym_size.int self=%x dim=1\nm size = _operator.mul a=$n b=4\n" +
		"y f32 s0xMul(Integer(4),Symbol('s1',integer=True)) = view.default self=%x size=[-1,$m]\noutput y"
	for _, c := range []struct {
		opts source.Options
		want string
	}{
		{source.Options{Dims: map[string]int{"s1": 3}}, "x:input:1x3x4 y:reshape:1x12"},
		{source.Options{Dims: map[string]int{"s0": 2, "s1": 3}}, "x:input:2x3x4 y:reshape:2x12"},
		{source.Options{Shapes: map[string][]int{"x": {5, 3, 4}}}, "x:input:5x3x4 y:reshape:5x12"},
		{source.Options{}, "L0214 --dim s1=SIZE"},
		{source.Options{Dims: map[string]int{"s1": 0}}, "L0215 cannot be 0"},
		{source.Options{Dims: map[string]int{"s2": 1}}, "L0215 did you mean"},
		{source.Options{Shapes: map[string][]int{"x": {5, 3, 5}}}, "L0215 dimension 2"},
		{source.Options{Shapes: map[string][]int{"x": {5, 3}}}, "L0215 3 dimensions"},
		{source.Options{Shapes: map[string][]int{"y": {5, 3}}}, "L0215 it has x"},
		{source.Options{Dims: map[string]int{"s1": 3}, Shapes: map[string][]int{"x": {5, 4, 4}}}, "L0215 3 and also 4"},
	} {
		g, err := Parse("m.pt2", pt2test.New(text).Archive(), c.opts)
		if err == nil {
			if have := nodes(g); have != c.want {
				t.Errorf("%+v: %s, want %s", c.opts, have, c.want)
			}
			continue
		}
		code, word, _ := strings.Cut(c.want, " ")
		if string(diag.CodeOf(err)) != code || !strings.Contains(err.Error(), word) {
			t.Errorf("%+v: want %s in: %v", c.opts, c.want, err)
		}
	}
}

// TestExpressions evaluates sizes as SymPy writes them.
func TestExpressions(t *testing.T) {
	d := dims{symbols: map[string]int64{"s0": 7}}
	const s = "Symbol('s0', positive=True, integer=True)"
	for text, want := range map[string]string{
		s: "7", "Integer(-3)": "-3", "Add(" + s + ", Integer(1), Integer(2))": "10", "Mul(Integer(2), " + s + ")": "14",
		"FloorDiv(" + s + ", Integer(2))": "3", "FloorDiv(Integer(-7), Integer(2))": "-4", "Mod(" + s + ", Integer(4))": "3",
		"torch.utils._sympy.functions.FloorDiv(" + s + ",Integer(7))": "1", "Pow(" + s + ", Integer(2))": "49",
		"Max(" + s + ", Integer(9))": "9", "Min(" + s + ", Integer(9))": "7",
		"Symbol('s1')": string(diag.OpenDimension), "FloorDiv(" + s + ", Integer(0))": string(diag.UnsupportedForm),
		"Sin(" + s + ")": string(diag.UnsupportedForm),
		"Mul(Integer(1099511627776), Integer(1099511627776))": string(diag.UnsupportedForm),
		"Add(": string(diag.UnsupportedForm), "": string(diag.UnsupportedForm),
		s + "x": string(diag.UnsupportedForm), "Symbol(": string(diag.UnsupportedForm), strings.Repeat("Add(",
			1000): string(diag.UnsupportedForm),
	} {
		n, err := d.expression(nil, text)
		have := string(diag.CodeOf(err))
		if err == nil {
			have = strconv.FormatInt(n, 10)
		}
		if have != want {
			t.Errorf("%.60s: %s, want %s (%v)", text, have, want, err)
		}
	}
}
