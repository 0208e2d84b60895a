// SPDX-License-Identifier: Apache-2.0

package gpu

import "lathe/internal/memory"

// The emulated device has half of what this machine has free, since data lie in files and arrays of the program too;
// no more than a GPU has, and little where it is not known.
const (
	mostEmulated    = 32 << 30
	unknownEmulated = 4 << 30
)

// emulatedMemory is the size of the emulated device's memory in bytes, where so many are free.
func emulatedMemory(free int64) int64 {
	if free == memory.Unknown {
		return unknownEmulated
	}
	return min(free/2, mostEmulated)
}
