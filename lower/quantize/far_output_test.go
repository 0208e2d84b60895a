// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
)

// TestFarOutputs: outputs that lie far from 0 for what they vary by, all of them or some of their channels, get bits
// for what varies, and the ratio is about that. Where a plan says otherwise, a warning names a format that does.
func TestFarOutputs(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 7))
		outs, spread := 1+r.IntN(3), 0.05+2*r.Float64()
		mean := make([]float32, outs)
		for i := range mean {
			mean[i] = float32((r.Float64()*2 - 1) * 500)
		}
		mean[0] = 200 + float32(seed)*40
		b := lowertest.New(t, seed)
		y := b.Linear("first", b.Input("x", 1, 5), 8, true)
		y = b.Linear("last", b.Add(pointwise.Relu, "relu", nil, y), outs, false)
		y = b.Add(pointwise.Mul, "small", nil, y, b.Const([]int{1}, float32(spread)))
		g := b.Done(b.Add(pointwise.Add, "far", nil, y, b.Const([]int{outs}, mean...)))
		in := samples(g, -2, 2, 60)
		q, report := mustQuantize(t, g, "", in)
		told := strings.Contains(strings.Join(report.Notes, "\n"), `output "y0" varies by `)
		if got := report.Outputs[0].SQNR; got < 30 || !told {
			t.Errorf("seed %d: %.1f dB in %s, told %v", seed, got, q.Out[0].Node.Type, told)
		}
		_, report = mustQuantize(t, g, "[[output]]\nname = \"y0\"\nformat = \"fixed(8)\"\n", in)
		_, hint, ok := strings.Cut(strings.Join(report.Warnings, "\n"), "format = \"")
		if low := report.Outputs[0].SQNR; !ok || low > 12 {
			t.Errorf("seed %d: %.1f dB in 8 bits: %q", seed, low, report.Warnings)
			continue
		}
		named, _, _ := strings.Cut(hint, "\"")
		_, report = mustQuantize(t, g, fmt.Sprintf("[[output]]\nname = \"y0\"\nformat = %q\n", named), in)
		if got := report.Outputs[0].SQNR; got < 30 || len(report.Warnings) > 0 {
			t.Errorf("seed %d: %.1f dB in %s, which a warning named: %q", seed, got, named, report.Warnings)
		}
	}
}
