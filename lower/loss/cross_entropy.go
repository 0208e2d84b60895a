// SPDX-License-Identifier: Apache-2.0

package loss

import "math"

// CrossEntropy is -log of the probability of a class: x are logits, of which softmax makes probabilities, or
// probabilities already, which are not negative and add up to 1 but for rounding. Logarithms of probabilities are
// logits, which softmax gives back.
func CrossEntropy(x []float64, class int) float64 {
	sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, v := range x {
		sum, least, most = sum+v, min(least, v), max(most, v)
	}
	const near, tiny = 0.05, 1.0 / (1 << 16) // what few bits of probabilities round to 0
	if least >= 0 && most <= 1 && math.Abs(sum-1) < near {
		return -math.Log(max(x[class], tiny))
	}
	sum = 0
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return math.Log(sum) - (x[class] - most)
}
