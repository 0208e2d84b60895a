// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// program is a function whose only operation stands in line 2, column 8.
func program(op string) []byte {
	return []byte("func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %i: tensor<2x3xi32>) -> " +
		"tensor<2x3xf32> {\n  " +
		op + "\n  return %a : tensor<2x3xf32>\n}")
}

// refusals are operations that do not mean what their types say, and below each the message; F is tensor<2x3xf32>.
const refusals = `
stablehlo.add %a, %b : F
	L0275: stablehlo.add: the operand has the type tensor<3x2xf32> and not F
stablehlo.add %a, %i : F
	L0275: stablehlo.add: the operand has the type tensor<2x3xi32>
stablehlo.add %a, %c : F
	L0216: %c is not defined
stablehlo.add %a : F
	L0224: stablehlo.add: 1 operands
stablehlo.add %a, %a : tensor<2x4xf32>
	L0275: stablehlo.add: the operand has the type F
stablehlo.add %a, %a : tensor<2x3xf9>
	L0275: stablehlo.add: the operand has the type F
stablehlo.add %a, %a : tensor<2x-3xf32>
	L0275
stablehlo.add %a, %a
	L0275: stablehlo.add: the types of its operands are missing
stablehlo.abs %a : tensor<3x2xf32>
	L0275
"stablehlo.abs"(%a) : () -> F
	L0275: stablehlo.abs: 
"stablehlo.abs"(%a) : (F, tensor<f32>) -> F
	L0275: stablehlo.abs: 1 operands have 2 types
"stablehlo.abs"(%a) : (F) -> tensor<3x2xf32>
	L0275: stablehlo.abs: the result has the type F and not tensor<3x2xf32>
stablehlo.reshape %a : (F) -> tensor<7xf32>
	L0275: stablehlo.reshape: 2x3 cannot become 7
stablehlo.transpose %a, dims = [0, 0] : (F) -> F
	L0209: stablehlo.transpose: [0 0]
stablehlo.transpose %a, dims = [0, 5] : (F) -> F
	L0209: stablehlo.transpose: [0 5]
stablehlo.broadcast_in_dim %a, dims = [0, 1] : (F) -> tensor<2x4xf32>
	L0275: stablehlo.broadcast_in_dim: axis 1 of 2x3 does not become axis 1 of 2x4
stablehlo.broadcast_in_dim %a, dims = [0, 9] : (F) -> F
	L0209
stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (F, F) -> F
	L0275: stablehlo.dot_general: multiplies 2x3 by 2x3
stablehlo.slice %a [0:2, 1:9] : (F) -> tensor<2x8xf32>
	L0209: stablehlo.slice: 1:9:1 does not lie within 3 elements of axis 1
stablehlo.select %a, %a, %a : F, F
	L0334: where takes a boolean condition
stablehlo.concatenate %a, %b, dim = 0 : (F, tensor<3x2xf32>) -> tensor<5x3xf32>
	L0306: cannot join 2x3 and 3x2 along axis 0
stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>
	L0274: a list of axis 0
stablehlo.constant dense<[[1.0], [2.0, 3.0]]> : tensor<2x2xf32>
	L0274: a list of axis 1
stablehlo.constant dense<true> : tensor<2xf32>
	L0274: "true" is not a value of type f32
stablehlo.iota dim = 2 : F
	L0209: stablehlo.iota
stablehlo.dynamic_reshape %a, %i : (F, tensor<2x3xi32>) -> tensor<?x?xf32>
	L0276: stablehlo.dynamic_reshape: operand 1 is computed from data
call @nothing(%a) : (F) -> F
	L0278: call: unknown function @nothing
`

// TestRefused demands that messages point to the operation.
func TestRefused(t *testing.T) {
	full := strings.NewReplacer("F", "tensor<2x3xf32>")
	lines := strings.Split(strings.TrimSpace(full.Replace(refusals)), "\n")
	for i := 0; i < len(lines); i += 2 {
		op, want := lines[i], "m.mlir:2:8: "+strings.TrimSpace(lines[i+1])
		_, err := Parse("m.mlir", program("%0 = "+op), source.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", op, err, want)
		}
	}
	for op, code := range map[string]diag.Code{
		"%a = stablehlo.abs %a : tensor<2x3xf32>":   diag.DuplicateName,
		"%0:2 = stablehlo.abs %a : tensor<2x3xf32>": diag.OperandCount,
		"%0 = stablehlo.abs %a : tensor<2x3xf32>":   "",
	} {
		if _, err := Parse("m.mlir", program(op), source.Options{}); diag.CodeOf(err) != code {
			t.Errorf("%s: %v, want %q", op, err, code)
		}
	}
}

// TestStrict demands that texts are refused whose punctuation is wrong, or whose returns contradict themselves or their
// function, and that nothing of the kind is said of sound ones.
func TestStrict(t *testing.T) {
	const f = "tensor<2x3xf32>"
	body := func(op, returned string) string {
		return "func.func @main(%a: " + f + ", %b: " + f + ") -> " + f + " {\n  " + op + "\n  " + returned + "\n}"
	}
	op := func(op string) string { return body("%0 = "+op+" : "+f, "return %0 : "+f) }
	generic := func(types string) string {
		return `"func.func"() <{function_type = ` + types + `, sym_name = "main"}> ({` + "\n^bb0(%a: " + f + "):\n" +
			`  "func.return"(%a) : (` + f + ") -> ()\n}) : () -> ()"
	}
	sum := "%0 = stablehlo.add %a, %b : " + f
	generically := func(operands, types string) string {
		return body(`%0 = "stablehlo.add"(`+operands+") : ("+types+") -> "+f, "return %0 : "+f)
	}
	two := f + ", " + f
	for _, c := range [][2]string{
		{op("stablehlo.add %a, %b"), ""},
		{op("stablehlo.add %a %b ,,"), "2:25: L0270: a comma is missing between %a and %b"},
		{op("stablehlo.add %a,, %b"), "2:24: L0270: a comma without"},
		{op("stablehlo.add %a, %b,"), "2:28: L0270: a comma without"},
		{op("stablehlo.add , %a, %b"), "2:22: L0270: a comma without"},
		{op("stablehlo.add %a, %b :"), `2:29: L0270: nothing stands behind ":"`},
		{op("stablehlo.add %a, %b ->"), `2:29: L0270: nothing stands behind "->"`},
		{op("stablehlo.add %a, %b softly"), `2:8: L0270: stablehlo.add: unexpected "softly"`},
		{op("stablehlo.reverse %a, dims = [0,, 1]"), "2:39: L0270: a comma without"},
		{generically("%a, %b", two), ""},
		{generically("%a %b", two), "2:27: L0270: a comma is missing"},
		{generically("%a, %b,", two), "2:30: L0270: a comma without"},
		{generically("%a, %b", f+",, "+f), "L0270: a comma without"},
		{body(sum, "return %0 : tensor<3x2xf32>"), "3:3: L0275: return: the value has the type " + f},
		{body(sum, "return %0 : tensor<2x3xi32>"), "3:3: L0275: return: the value has the type " + f},
		{body(sum, "return %0"), "3:3: L0275: return: 1 values have 0 types"},
		{body(sum, "return %0 : "+two), "3:3: L0275: return: 1 values have 2 types"},
		{body(sum, "return %0, %a : "+two), "3:3: L0275: return: 2 values, the function @main states 1"},
		{body("%0 = stablehlo.reshape %a : ("+f+") -> tensor<6xf32>", "return %0 : tensor<6xf32>"),
			"3:3: L0275: return: the result of @main has the type tensor<6xf32> and not " + f},
		{body(sum, "return %0 : "+f+"\n  %1 = stablehlo.abs %0 : "+f), "L0270: stablehlo.abs stands behind the return"},
		{generic("(" + f + ") -> " + f), ""},
		{generic("(" + f + ") -> (tensor<6xf32>)"), "L0275: func.return: the result of @main"},
		{generic("(" + f + ") -> (" + two + ")"), "L0275: func.return: 1 values, the function @main states 2"},
	} {
		text, want := c[0], c[1]
		_, err := Parse("m.mlir", []byte(text), source.Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) ||
			err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\nwant %q, got %v", text, want, err)
		}
	}
}

// TestUnsupported: all unsupported operations stand in one error with counts and places; other errors follow it.
func TestUnsupported(t *testing.T) {
	text := program("%0 = stablehlo.abss %a : tensor<2x3xf32> loc(\"jit(f)/Net/Dense_0/abss\")\n" +
		"  %1 = stablehlo.abss %0 : tensor<2x3xf32>\n  %2 = my.op %1 : tensor<2x3xf32>\n" +
		"  %3 = stablehlo.abs %2 : tensor<2x3xf32>\n  %4 = stablehlo.add %a, %b : tensor<2x3xf32>")
	_, err := Parse("m.mlir", text, source.Options{})
	if err == nil || strings.Count(err.Error(), string(diag.UnsupportedOps)) != 1 {
		t.Fatal(err)
	}
	for _, want := range []string{"m.mlir: L0207: 2 operations in 3 places are not supported",
		"stablehlo.abss: at m.mlir:2:8 (", "Dense_0", "nearest supported operation: stablehlo.abs",
		"my.op: at m.mlir:4:8", "m.mlir:6:8: L0275"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}
