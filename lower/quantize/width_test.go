// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/lower/lowertest"
	"lathe/lower/quantize/formats"
)

// TestScoresOfAllFormats quantizes weights of scores with a mask by plans of all kinds: the scores stay within the 16
// bits that the weights take, fractions within theirs, and the mask keeps its bit.
func TestScoresOfAllFormats(t *testing.T) {
	data := func(f string) string { return "[quantize]\ndata = \"" + f + "\"\n" }
	rule := func(key, f string) string {
		return "[[quantize.rule]]\nop = \"attend_weights\"\n" + key + " = \"" + f + "\"\n"
	}
	for _, plan := range []string{
		"", data("fixed(20)"), data("float(4,3)"), data("float(3,2)"), data("dfloat(4,3)"), data("log(5)"), data("mxint8"),
		rule("data_out", "float(4,3)"), rule("data_out", "log(5)"), rule("data_out", "mxint8"),
		rule("data_in", "float(4,3)"), rule("data_in", "fixed(12)"), rule("data_in", "mxint8"),
	} {
		b := lowertest.New(t, 1)
		x, mask := b.Input("x", 1, 2, 2, 4), b.Input("mask", 1, 4)
		mask.Type.Format = ir.Bool
		g := b.Done(b.Add(sequence.AttendWeights, "w", &sequence.WeightsAttrs{Scale: 0.5}, x, mask))
		q, _ := mustQuantize(t, g, plan, Calibration{})
		for _, n := range q.Nodes {
			if n.Op != sequence.AttendWeights {
				continue
			}
			scores, ok := format.AsFixed(n.Args[0].Type.Format)
			if y, fixed := format.AsFixed(n.Type.Format); !ok || !fixed || scores.W > 16 || y.F > 16 {
				t.Errorf("%q: weights %s of scores %s", plan, n.Type.Format, n.Args[0].Type.Format)
			}
			if n.Args[1].Type.Format.Width() != 1 {
				t.Errorf("%q: a mask in %s", plan, n.Args[1].Type.Format)
			}
		}
	}
}

// TestFineThroughRelu gives what a relu cuts off the bits that a norm behind it reads, so that the relu needs no unit;
// a layer that others read too keeps its own.
func TestFineThroughRelu(t *testing.T) {
	for _, c := range []struct {
		shared bool
		bits   int
		relus  int
	}{{false, formats.FineW - 1, 0}, {true, 8, 1}} {
		b := lowertest.New(t, 3)
		fc := b.Linear("fc", b.Input("x", 1, 6), 8, true)
		y := b.Add(norm.LayerNorm, "n", &norm.Attrs{Axis: -1, Eps: 1e-5}, b.Add(pointwise.Relu, "r", nil, fc))
		outs := []*ir.Node{y}
		if c.shared {
			outs = append(outs, b.Linear("other", fc, 2, false))
		}
		q, _ := mustQuantize(t, b.Done(outs...), "", Calibration{})
		relus := 0
		for _, n := range q.Nodes {
			if n.Op == pointwise.Relu {
				relus++
			}
			if n.Name == "fc" && n.Type.Format.Width() != c.bits {
				t.Errorf("shared %v: fc is %s, want %d bits", c.shared, n.Type.Format, c.bits)
			}
		}
		if relus != c.relus {
			t.Errorf("shared %v: %d relus, want %d", c.shared, relus, c.relus)
		}
	}
}
