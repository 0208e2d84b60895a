// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"strings"
	"testing"

	"lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/internal/diag"
	"lathe/ir/format"
)

// What the kernels do not take is refused before anything is compiled, and the message names it.
func TestRefused(t *testing.T) {
	type problem interface {
		Valid() error
	}
	mx, f32, half := side(t, "mxint8"), side(t, "fp32"), pointwise.Side{Codec: num.FP16}
	whole := []pointwise.Shape{pointwise.Whole}
	for _, c := range []struct {
		say string
		problem
	}{
		{"does not make blocks", pointwise.Cast{N: 1, From: f32, To: mx}},
		{"do not fit binary16", pointwise.Cast{N: 1, Axis: pointwise.Axis{Length: 1, Inner: 1}, From: mx, To: half}},
		{"an axis of 0 by 1", pointwise.Cast{N: 1, Axis: pointwise.Axis{Inner: 1}, From: mx, To: f32}},
		{"to_blocks reads values with one scale", pointwise.Blocks{From: mx, To: format.NewMXInt(8, 32)}},
		{"quantize reads", pointwise.Quantize{Rows: 1, Cols: 1, In: side(t, "fixed(8,4)").Codec}},
		{"chains compute on", pointwise.Chain{N: 1, Cols: 1, In: num.FP16Sat, Out: num.FP32, Inputs: whole}},
		{"arg<2> of 1 inputs",
			pointwise.Chain{Expr: pointwise.Arg(2), N: 1, Cols: 1, In: num.FP32, Out: num.FP32, Inputs: whole}},
		{"not rows of 2", pointwise.Chain{N: 3, Cols: 2, In: num.FP32, Out: num.FP32, Inputs: whole}},
	} {
		refused(t, c.Valid(), c.say)
	}
	_, err := pointwise.Apply("add", pointwise.Arg(0))
	refused(t, err, "add takes 2 arguments")
	_, err = pointwise.Apply("mish", pointwise.Arg(0))
	refused(t, err, `no function "mish"`)
}

func refused(t *testing.T, err error, say string) {
	t.Helper()
	if diag.CodeOf(err) != "L0990" || !strings.Contains(err.Error(), say) {
		t.Errorf("%v, want L0990 with %q", err, say)
	}
}
