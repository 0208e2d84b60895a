// SPDX-License-Identifier: Apache-2.0

package loss

import "math"

// Probabilities says that x are probabilities already, which are not negative and add up to 1 but for rounding.
func Probabilities(x []float64) bool {
	const near = 0.05
	sum := 0.0
	for _, v := range x {
		if !(v >= 0 && v <= 1) {
			return false
		}
		sum += v
	}
	return math.Abs(sum-1) < near
}

// CrossEntropy is -log of the probability of a class: x are probabilities, or else logits, of which softmax makes them.
// Logarithms of probabilities are logits, which softmax gives back.
func CrossEntropy(x []float64, class int, probabilities bool) float64 {
	if probabilities {
		const tiny = 1.0 / (1 << 16) // what few bits of probabilities round to 0
		return -math.Log(max(x[class], tiny))
	}
	sum, most := 0.0, math.Inf(-1)
	for _, v := range x {
		most = max(most, v)
	}
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return math.Log(sum) - (x[class] - most)
}
