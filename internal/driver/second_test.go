// SPDX-License-Identifier: Apache-2.0

package driver

import "testing"

// TestQuick: Icarus runs as many samples unasked as take no more cycles than it simulates soon.
func TestQuick(t *testing.T) {
	for _, c := range []struct {
		latency int
		ii      float64
		want    int
	}{{quickCycles + 1, 1, 0}, {quickCycles, 1, 1}, {1000, 9500, 3}, {1000, 9501, 2}, {10, 0, quickCycles - 9}} {
		if got := (&Check{Latency: c.latency, II: c.ii}).quick(); got != c.want {
			t.Errorf("%d cycles of latency, %g a sample: %d samples, want %d", c.latency, c.ii, got, c.want)
		}
	}
}
