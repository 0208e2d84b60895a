// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/sequence"
	"lathe/lower/lowertest"
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
