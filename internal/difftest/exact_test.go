// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"testing"
)

// TestExact compares the Eval column of every operation with the slow evaluator.
func TestExact(t *testing.T) {
	for _, o := range Ops() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			for i := range exactCases {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					g, r := Case(o, i)
					CompareSlow(t, g, r, exactSamples)
				})
			}
		})
	}
}
