// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
)

const digits = "../../../examples/digits-jax/"

func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("m.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestForms reads one operation written in several ways.
func TestForms(t *testing.T) {
	pretty := `%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32> loc("f/g"(#loc3))`
	generic := `%0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0, 1>}> : ` +
		`(tensor<4x1xf32>) -> tensor<4x5xf32> loc("f/g")`
	for _, text := range []string{pretty, generic} {
		f := parse(t, text)
		in := f.Instr(&f.Ops[0])
		dims, ok := f.Ints(in.Attrs.Get("dims", "broadcast_dimensions"))
		if f.Ops[0].Name != "stablehlo.broadcast_in_dim" || !slices.Equal(f.Ops[0].Results, []string{"0"}) ||
			!slices.Equal(in.Operands, []string{"a"}) || !ok || !slices.Equal(dims, []int64{0, 1}) ||
			len(in.Types.In) != 1 || in.Types.In[0].String() != "tensor<4x1xf32>" ||
			len(in.Types.Out) != 1 || in.Types.Out[0].String() != "tensor<4x5xf32>" || in.Loc != "f/g" {
			t.Errorf("%s is read as %+v", text, in)
		}
	}
}

// TestNext: an operation ends where the next begins.
func TestNext(t *testing.T) {
	f := parse(t, "%0:2 = stablehlo.reduce(%a init: %b), (%c init: %d) across dimensions = [1] : (tensor<2x3xf32>, "+
		"tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)\n reducer(%x: tensor<f32>, %y: "+
		"tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>)  {\n stablehlo.return %x, %p : tensor<f32>, tensor<i32>\n }\n"+
		"%1 = \"stablehlo.add\"(%0#0, %0#0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"+
		"%2 = stablehlo.composite \"chlo.erf\" %1 {decomposition = @f, version = 1 : i32} : "+
		"(tensor<2xf32>) -> tensor<2xf32>\n"+
		"%c_1 , %d_2 = call @f(%1) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)\nreturn %2 : tensor<2xf32>")
	var names []string
	for i := range f.Ops {
		names = append(names, f.Ops[i].Name)
	}
	if want := "stablehlo.reduce stablehlo.add stablehlo.composite call return"; strings.Join(names, " ") != want {
		t.Fatal(names)
	}
	if r := f.Ops[0].Results; !slices.Equal(r, []string{"0#0", "0#1"}) {
		t.Error(r)
	}
	in := f.Instr(&f.Ops[0])
	if !slices.Equal(in.Operands, []string{"a", "b", "c", "d"}) || in.Inits != 2 || len(in.Regions) != 1 ||
		len(in.Types.Out) != 2 {
		t.Errorf("%+v", in)
	}
	if in := f.Instr(&f.Ops[1]); !slices.Equal(in.Operands, []string{"0#0", "0#0"}) {
		t.Errorf("%+v", in)
	}
}

// TestConstants decodes elements of all kinds.
func TestConstants(t *testing.T) {
	inf := float32(math.Inf(-1))
	for _, c := range []struct {
		text  string
		d     ir.DType
		want  []float64
		splat bool
	}{
		{"dense<[1.5, -2.0, 3.0e-1]> : tensor<3xf32>", ir.F32, []float64{1.5, -2, float64(float32(0.3))}, false},
		{"dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", ir.I64, []float64{1, 2, 3, 4}, false},
		{"dense<0xFF800000> : tensor<f32>", ir.F32, []float64{float64(inf)}, false},
		{"dense<0xFF800000> : tensor<4xf32>", ir.F32, []float64{float64(inf)}, true},
		{"dense<true> : tensor<2xi1>", ir.B1, []float64{1}, true},
		{"dense<[true, false]> : tensor<2xi1>", ir.B1, []float64{1, 0}, false},
		{"dense<\"0x0F01\"> : tensor<2xi4>", ir.I8, []float64{-1, 1}, false},
		{"dense<\"0x0000803F00000040\"> : tensor<2xf32>", ir.F32, []float64{1, 2}, false},
		{"dense<\"0x803F0040\"> : tensor<2xbf16>", ir.BF, []float64{1, 2}, false},
		{"dense<[1.0, 6.550400e+04, 5.960460e-08]> : tensor<3xf16>", ir.F16, []float64{1, 65504, 0x1p-24}, false},
		{"dense<> : tensor<0x3xf32>", ir.F32, nil, false},
		{"dense<[255, 0]> : tensor<2xui8>", ir.U8, []float64{255, 0}, false},
		{"dense_resource<w> : tensor<2xf32>", ir.F32, []float64{1, 2}, false},
		{"dense<[1.0000, 2.0000, 3.0000, 4.0000, 5.0000]> : tensor<5xf64>", ir.F64, []float64{1, 2, 3, 4, 5}, false},
	} {
		f := parse(t, "%0 = stablehlo.constant "+c.text+
			"\n{-#\n dialect_resources: {builtin: {w: \"0x040000000000803F00000040\"}}\n#-}")
		in := f.Instr(&f.Ops[0])
		lit, err := f.Constant(&in.Loose[0], in.Types.In[0])
		if err != nil || lit.Blob.DType != c.d || lit.Splat != c.splat || !slices.Equal(lit.Blob.Floats64(), c.want) {
			t.Errorf("%s: %+v, %v", c.text, lit, err)
		}
	}
}

// TestRefused lists texts that are no modules, and where.
func TestRefused(t *testing.T) {
	deep := strings.Repeat("(", maxDepth+1)
	for _, c := range []struct {
		text string
		code diag.Code
		want string
	}{
		{"%0 = stablehlo.add %a, %b : tensor<4xf32", diag.MLIRSyntax, "m.mlir:1:35: L0270: the '<' is never closed"},
		{"module {\n  foo bar\n}", diag.MLIRSyntax, `m.mlir:2:7: L0270: unexpected "bar"`},
		{"module {\n  %0 = = %1\n}", diag.MLIRSyntax, `m.mlir:2:8: L0270: unexpected "="`},
		{"module {\n  \"a", diag.MLIRSyntax, "m.mlir:2:3"},
		{"module }", diag.MLIRSyntax, "m.mlir:1:8: L0270: unexpected '}'"},
		{"module (]", diag.MLIRSyntax, "the '(' at 1:8 is still open"},
		{"%0 =", diag.MLIRSyntax, "ends too early"},
		{"a.b \x01", diag.MLIRSyntax, "m.mlir:1:5"},
		{"a.b ~", diag.MLIRSyntax, `m.mlir:1:5: L0270: unexpected "~"`},
		{"a.b # c.d", diag.MLIRSyntax, `m.mlir:1:5: L0270: unexpected "#"`},
		{"// x ~ ä\na.b ä", diag.MLIRSyntax, "m.mlir:2:5"},
		{"a.b " + deep, "L0205", "more than 200 deep"},
		{"a.b dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>\n%0 = = b", diag.MLIRSyntax, "m.mlir:2:6"},
		{"a.b dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> ~", diag.MLIRSyntax, "m.mlir:1:53"},
		{"module {}\n// -----\nmodule {}", diag.SeveralModules, "m.mlir:2:1"},
		{"ML\xefR", diag.MLIRBytecode, "bytecode"},
		{"PK\x03\x04", "L0202", "zip"},
		{"  \n", "L0202", "empty"},
		{"%0:9999999 = a.b", diag.MLIRSyntax, "9999999 results"},
	} {
		_, err := Parse("m.mlir", []byte(c.text))
		var d *diag.Error
		if !errors.As(err, &d) || d.Code != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
}

// TestTruncated: a text that ends early is refused at every byte of a token, and never read as another.
func TestTruncated(t *testing.T) {
	data, err := os.ReadFile(digits + "model_args.stablehlo.mlir")
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.TrimSpace(string(data)))
	for i := 1; i < len(data); i += 7 {
		if _, err := Parse("m.mlir", data[:i]); err == nil {
			if strings.Contains(string(data[:i]), "{") {
				t.Fatalf("the first %d bytes pass", i)
			}
		}
	}
}
