// SPDX-License-Identifier: Apache-2.0

package driver

import "testing"

// TestSplit: some are held out where that is asked for, and some stay.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		n, held int
		percent float64
	}{{10, 0, 0}, {10, 3, 30}, {10, 1, 1}, {1, 0, 50}, {2, 1, 90}} {
		d := Data{HoldOut: c.percent}
		if use, held := d.split(c.n); len(held) != c.held || len(use) != c.n-c.held {
			t.Errorf("%+v: %v and %v", c, use, held)
		}
	}
}
