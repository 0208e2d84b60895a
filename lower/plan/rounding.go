// SPDX-License-Identifier: Apache-2.0

package plan

// Rounding is how codes of weights are chosen.
type Rounding uint8

// The ways.
const (
	RoundNearest  Rounding = iota // each weight the nearest code
	RoundGPTQ                     // column by column, errors of one moved to the next
	RoundAdaRound                 // up or down, learned
	RoundDigits                   // as RoundGPTQ, with a price on signed digits
)

// RoundingWords are the words of a plan, in the order of the constants.
var RoundingWords = []string{"nearest", "gptq", "adaround", "digits"}

// String is the word of a plan.
func (r Rounding) String() string { return RoundingWords[r] }

// digitPrice reads digit_price, which stands beside round_weights = "digits" alone.
func (p *parser) digitPrice(f *file, q *Quantize) {
	v := f.Quantize.DigitPrice
	switch {
	case v == nil:
	case !(*v >= 0 && *v <= 1):
		p.fail("quantize.digit_price", "digit_price = %v lies outside 0..1", *v).
			WithHint("digit_price = 0.0001 is a usual one; without the key the highest price that keeps enough is searched")
	case q.RoundWeights != RoundDigits:
		p.fail("quantize.digit_price", "digit_price has no effect with round_weights = %q", q.RoundWeights).
			WithHint(`write round_weights = "digits", or --round-weights digits`)
	}
	q.DigitPrice = v
}
