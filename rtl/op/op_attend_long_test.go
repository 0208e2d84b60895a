// SPDX-License-Identifier: Apache-2.0

//go:build long

package op

import (
	"testing"

	"lathe/rtl/rtltest"
)

// TestAttendRandom benches points of every kind.
func TestAttendRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		rtltest.Run(t, attendPoint(seed))
	}
}
