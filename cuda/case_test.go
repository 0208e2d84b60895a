// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"testing"

	"lathe/cuda"
)

// TestFloor is about 2e6 bytes and 4e6 operations.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		int8                bool
		bytes, flops, floor float64
	}{
		{false, 1e12, 1e12, 4}, {true, 1e12, 1e12, 2}, {true, 1e12, 0.5e12, 4}, {false, 1e11, 1e12, 20}, {false, 1e12, 0, 2},
		{true, 0, 1e12, 2}, {false, 0, 0, 0},
	} {
		one := cuda.Case{Bytes: 2e6, Flops: 4e6, Int8: c.int8}
		if got := one.Floor(c.bytes, c.flops); got != c.floor {
			t.Errorf("%+v: %v us", c, got)
		}
	}
}
