// SPDX-License-Identifier: Apache-2.0

//go:build long

package op_test

import (
	"testing"

	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// TestAttendRandom benches points of every kind.
func TestAttendRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		rtltest.Run(t, attendPoint(seed))
	}
}

// TestAttendLarge benches rows of many tiles, in block RAM.
func TestAttendLarge(t *testing.T) {
	t.Parallel()
	c := attend{queries: 33, keys: 37, heads: 3, groups: 3, size: 32, row: 40, f: 16, r: 5, aW: 8, bW: 8, bSigned: true,
		pipe: 2, cast: num.Cast{Shift: 8, Width: 8, Signed: true}}
	rtltest.Run(t, c.bench("op_attend_sum"))
	c.aSigned, c.causal, c.offset = true, true, 4
	rtltest.Run(t, c.bench("op_attend_scores"))
}
