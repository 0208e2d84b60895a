// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"math"
	"testing"

	"lathe/lower/quantize/loss"
)

// TestCrossEntropy: logits, their probabilities and the logarithms of those tell the same.
func TestCrossEntropy(t *testing.T) {
	logits := []float64{1, -2, 0.5, 3}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(v)
	}
	var p, logs []float64
	for _, v := range logits {
		p, logs = append(p, math.Exp(v)/sum), append(logs, v-math.Log(sum))
	}
	for c := range logits {
		for i, x := range [][]float64{logits, p, logs} {
			if loss.Probabilities(x) != (i == 1) {
				t.Errorf("%v: probabilities %v", x, i != 1)
			}
			if got := loss.CrossEntropy(x, c, i == 1); math.Abs(got+logs[c]) > 1e-9 {
				t.Errorf("class %d of %v: %g, want %g", c, x, got, -logs[c])
			}
		}
	}
	if got := loss.CrossEntropy([]float64{0, 1}, 0, true); math.IsInf(got, 0) {
		t.Error("a probability that is rounded to 0")
	}
}
