// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"fmt"
	"math"

	"lathe/internal/diag"
	"lathe/ir/format"
)

// enoughSteps is how many steps an output should vary by.
const enoughSteps = 64

// Coarse warns of an output whose format has a step that is larger than what the output varies by, and names one that
// has not; empty where all is well. peak is its greatest magnitude.
func Coarse(name string, f format.Format, spread, peak float64) string {
	v, ok := format.IntegersOf(f)
	if !ok {
		return ""
	}
	step := v.Step.Float64()
	if spread == 0 && peak != 0 {
		return fmt.Sprintf("output %q is constant over these samples: nothing of it can be judged", name)
	}
	if spread == 0 || step <= spread {
		return ""
	}
	frac := int(math.Ceil(math.Log2(enoughSteps / spread)))
	width := 2 + frac + int(math.Floor(math.Log2(max(peak, spread))))
	return fmt.Sprintf("output %q varies by %s about its mean, less than a step of %s, %s: it is nearly constant; give "+
		"it more bits: [[output]] name = %q, format = \"fixed(%d,%d)\"", name, diag.Number(spread, 3), f,
		diag.Number(step, 3), name, max(2, width), frac)
}
