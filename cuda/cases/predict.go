// SPDX-License-Identifier: Apache-2.0

package cases

import "lathe/cuda"

// predictedArch is the architecture for which times are predicted.
const predictedArch = "sm_90"

// Prediction is the time in microseconds that was expected of a case at a commit, before it was measured.
type Prediction struct {
	Case   string  `json:"case"`
	Commit string  `json:"commit"`
	GPU    string  `json:"gpu"`
	Us     float64 `json:"predicted_us"`
}

// Expected is what a GPU is expected to do: the rate that the first kernel of a case can reach, and the seconds that
// the case takes.
type Expected struct {
	GPU     string
	Ceiling cuda.Ceiling
	Seconds float64
}

// Predict is what is expected of a case. Errors as Peak.CeilingOf.
func Predict(c cuda.Case) (Expected, error) {
	arch, err := cuda.FindArch(predictedArch)
	if err != nil {
		return Expected{}, err
	}
	peak := cuda.PeakOf(arch)
	ceiling, err := peak.CeilingOf(c.Instances[0], arch)
	blocks := int64(1)
	for _, n := range c.Launches[0].Grid {
		blocks *= int64(n)
	}
	return Expected{peak.GPU, ceiling, peak.Predict(c.Bytes, c.Flops, blocks, ceiling)}, err
}
