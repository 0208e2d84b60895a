// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"os"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/stablehlo"
	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

const wantText = `// %arg0: image of "x"
"builtin.module"() <{sym_name = "tiny\22"}> ({
  "func.func"() <{function_type = (tensor<2x3xi32>, tensor<3xi8>) -> (tensor<2x3xi32>), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xi32>, %w0: tensor<3xi8>):
    // model.onnx: add (Add)
    %0 = "stablehlo.convert"(%w0) : (tensor<3xi8>) -> tensor<3xi32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xi32>) -> tensor<2x3xi32>
    %2 = "stablehlo.add"(%arg0, %1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %3 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, -6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
    %4 = "stablehlo.multiply"(%2, %3) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    "func.return"(%4) : (tensor<2x3xi32>) -> ()
  }) : () -> ()
}) : () -> ()
`

func tiny() *hlo.Builder {
	b := hlo.New("tiny\"")
	x := b.Arg("image\nof \"x\"", hlo.TypeOf(hlo.I32, 2, 3))
	b.At("model.onnx:\tadd (Add)")
	w := b.Convert(b.Weight(hlo.FromInt64s(hlo.I8, []int{3}, []int64{7, -8, 9})), hlo.I32)
	s := b.Add(x, b.Along(w, []int{2, 3}, 1))
	k := hlo.FromInt64s(hlo.I32, []int{2, 3}, []int64{1, 2, 3, 4, 5, -6})
	b.Return(b.Mul(s, b.Const(k)))
	return b
}

func TestText(t *testing.T) {
	b := tiny()
	if got := text.Print(b.Program()); got != wantText {
		t.Errorf("%s", got)
	}
	out := pjrttest.Run(t, b, hlo.FromInt64s(hlo.I32, []int{2, 3}, []int64{1, 1, 1, 2, 2, 2}))
	want := []int64{8, -14, 30, 36, -30, -66}
	for i, v := range out[0].Int64s() {
		if v != want[i] {
			t.Fatalf("%v, want %v", out[0].Int64s(), want)
		}
	}
}

// everyKind builds a program that holds each kind of operation with attributes or a region.
func everyKind() *hlo.Builder {
	b := hlo.New("kinds")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 1, 6, 6, 4))
	w := b.Weight(hlo.FromInt64s(hlo.I8, []int{2, 3, 3, 4}, make([]int64, 72)))
	b.At("a.onnx: conv")
	c := b.ConvInt(x, w, hlo.Conv{Stride: []int{2, 1}, Low: []int{1, 0}, High: []int{0, 1}}, 40)
	deep := b.Weight(hlo.FromInt64s(hlo.I32, []int{4, 2, 2, 1}, make([]int64, 16)))
	d := b.ConvInt(x, deep, hlo.Conv{Groups: 4}, 20)
	b.At("a.onnx: nothing")
	b.At("a.onnx: rest")
	m := b.Weight(hlo.FromInt64s(hlo.I8, []int{5, 4}, make([]int64, 20)))
	dot := b.DotInt(x, m, hlo.Dot{LhsContract: []int{3}, RhsContract: []int{1}}, 20)
	t := b.Transpose(dot, 3, 0, 2, 1)
	p := b.Pad(t, b.Int(hlo.I32, 7), []int{0, 0, -1, 2}, []int{1, 0, 0, 0}, []int{0, 0, 1, 0})
	s := b.Reverse(b.Slice(p, []int{1, 0, 0, 2}, []int{5, 1, 9, 8}, []int{2, 1, 3, 1}), 3, 0)
	rw := b.ReduceWindow(hlo.ReduceMax, s, hlo.Window{Size: []int{1, 1, 2, 2}, Low: []int{0, 0, 1, 0}})
	r := b.Reduce(hlo.ReduceMin, b.Concat(2, rw, rw), 1, 3)
	i := b.Add(r, b.Add(b.Iota(r.Type(), 1), b.Splat(r, 3)))
	k := b.Const(hlo.FromInt64s(hlo.I32, []int{3}, []int64{4, 5, 6}))
	look := b.Select(b.Compare(hlo.LE, i, b.TakeI(k, i)), i, b.Neg(i))
	b.At("a.onnx: loop")
	f := b.Arg("f", hlo.TypeOf(hlo.F64, 3, 2))
	scale := b.Float(hlo.F64, -0.5)
	sum := b.Times(3, []hlo.Value{b.Splat(f, 0), f}, func(at hlo.Value, now []hlo.Value) []hlo.Value {
		row := b.Mul(b.Row(now[1], 0, at), b.Add(scale, b.Float(hlo.F64, 3)))
		turn := b.Times(2, []hlo.Value{row}, func(_ hlo.Value, now []hlo.Value) []hlo.Value {
			return []hlo.Value{b.Erf(b.Tanh(now[0]))}
		})
		return []hlo.Value{b.PutRow(now[0], turn[0], 0, at), b.Rsqrt(now[1])}
	})
	high, places := b.SortPlaces(sum[1], 0, true)
	low, _ := b.SortPlaces(k, 0, false)
	put := b.ScatterRows(hlo.ReduceLast, sum[0], k, high)
	put = b.ScatterRows(hlo.ReduceAdd, put, low, high)
	bits := b.Bitcast(put, hlo.I64)
	truth := b.Compare(hlo.GE, b.Convert(bits, hlo.UI64), b.Convert(places, hlo.UI64))
	mixed := b.Const(hlo.FromInt64s(hlo.I1, []int{1, 2}, []int64{1, 0}))
	b.At("a.onnx: end")
	b.Return(c, d, look, put, b.And(truth, b.BroadcastTo(mixed, 3, 2)), b.Const(hlo.FromInt64s(hlo.I8, []int{0, 2}, nil)))
	return b
}

// TestEveryKind wants the text of each kind as PJRT has taken it.
func TestEveryKind(t *testing.T) {
	b := everyKind()
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	want, err := os.ReadFile("testdata/kinds.mlir")
	if err != nil {
		t.Fatal(err)
	}
	if got := text.Print(b.Program()); got != string(want) {
		t.Errorf("%s", got)
	}
	if _, err := pjrttest.Engine(t).Compile(t.Context(), b.Program()); err != nil {
		t.Error(err)
	}
}

// TestDonation prints which result takes over the memory of an argument; the project's reader takes the text.
func TestDonation(t *testing.T) {
	b := hlo.New("step")
	w, x := b.Arg("w", hlo.TypeOf(hlo.F32, 3)), b.Arg("x", hlo.TypeOf(hlo.F32))
	b.Donate(w, 1)
	b.Return(x, b.Add(w, x))
	got := text.Print(b.Program())
	if want := "<{arg_attrs = [{tf.aliasing_output = 1 : i32}, {}], function_type"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if _, err := stablehlo.Parse("step.mlir", []byte(got), source.Options{}); err != nil {
		t.Error(err)
	}
}
