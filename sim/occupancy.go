// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
)

// Occupancy returns the most beats that each stream_fifo held at once, by its path in the simulation, of a run with
// Input.Occupancy.
func (r *Result) Occupancy() map[string]int {
	seen := map[string]int{}
	for _, line := range strings.Split(r.Log, "\n") {
		var path string
		var most, depth int
		if n, _ := fmt.Sscanf(line, "occupancy %s %d of %d", &path, &most, &depth); n == 3 {
			seen[path] = most
		}
	}
	return seen
}

// InCore says that a path of Occupancy is that of an instance in the core of an emitted design.
func InCore(path, instance string) bool { return strings.HasSuffix(path, ".core."+instance) }
