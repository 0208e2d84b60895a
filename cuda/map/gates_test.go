// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/ir/format"
)

// side is the side of a cast for a format text, or for bf16 and the like by their codec.
func side(t testing.TB, text string) pointwise.Side {
	t.Helper()
	switch text {
	case "bf16":
		return pointwise.Side{Codec: num.BF16}
	case "fp16":
		return pointwise.Side{Codec: num.FP16}
	case "fp16sat":
		return pointwise.Side{Codec: num.FP16Sat}
	}
	f, err := format.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pointwise.SideOf(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// expr is an expression that must exist.
func expr(t testing.TB, name string, args ...pointwise.Expr) pointwise.Expr {
	t.Helper()
	e, err := pointwise.Apply(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Every kernel of the folder in the instances that cost most.
func TestGates(t *testing.T) {
	var all []cuda.Instance
	for _, in := range []num.Codec{num.FP32, num.BF16, num.FP16} {
		for _, rows := range []int64{1, 1 << 30} {
			all = append(all, cudatest.Plan(t, pointwise.Quantize{Rows: rows, Cols: 100, In: in}).Instances...)
		}
	}
	for _, pair := range [][2]string{{"fp32", "fixed(8,4)"}, {"fixed(8,4)", "fixed(8,2)"}, {"mxint8", "fp16sat"},
		{"int(32,round=stochastic)*[1]", "uint(8,z=3,over=wrap)*[1:4]"}, {"fixed(64,3)", "int(8,round=away,div=f32)*0.1"}} {
		c := pointwise.Cast{N: 1000, Axis: pointwise.Axis{Length: 10, Inner: 10}, From: side(t, pair[0]), To: side(t,
			pair[1])}
		all = append(all, cudatest.Plan(t, c).Instances...)
	}
	for _, f := range pointwise.Functions() {
		args := []pointwise.Expr{pointwise.Arg(0), pointwise.Arg(1)}[:f.Arity]
		c := pointwise.Chain{Expr: expr(t, f.Name, args...), N: 1 << 33, Cols: 1 << 10, In: num.BF16, Out: num.FP16,
			Inputs: []pointwise.Shape{pointwise.Whole, pointwise.Row}[:f.Arity]}
		all = append(all, cudatest.Plan(t, c).Instances...)
	}
	cudatest.Gates(t, all...)
}
