// SPDX-License-Identifier: Apache-2.0

package plan

// Rounding is how codes of weights are chosen.
type Rounding uint8

// The ways.
const (
	RoundNearest  Rounding = iota // each weight the nearest code
	RoundGPTQ                     // column by column, errors of one moved to the next
	RoundAdaRound                 // up or down, learned
)

// RoundingWords are the words of a plan, in the order of the constants.
var RoundingWords = []string{"nearest", "gptq", "adaround"}

// String is the word of a plan.
func (r Rounding) String() string { return RoundingWords[r] }
