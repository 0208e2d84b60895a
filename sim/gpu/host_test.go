// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"testing"

	"lathe/internal/memory"
)

// TestEmulatedMemory: half of what is free, within bounds.
func TestEmulatedMemory(t *testing.T) {
	for free, want := range map[int64]int64{memory.Unknown: 4 << 30, 1 << 40: 32 << 30, 8 << 30: 4 << 30, 0: 0} {
		if got := emulatedMemory(free); got != want {
			t.Errorf("%d bytes free: %d, want %d", free, got, want)
		}
	}
}
