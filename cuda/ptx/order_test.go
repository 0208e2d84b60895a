// SPDX-License-Identifier: Apache-2.0

package ptx

import "testing"

// TestOrders demands every block once, whatever the order.
func TestOrders(t *testing.T) {
	for n := int64(1); n < 70; n++ {
		for _, o := range []Options{{}, {Blocks: Descending}, {Blocks: Shuffled}, {Blocks: Shuffled, Seed: uint64(n)}} {
			o.First = 5
			seen, same := make([]bool, n), true
			for i := range n {
				at := o.block(i, n) - 5
				if at < 0 || at >= n || seen[at] {
					t.Fatalf("%d blocks, order %d: block %d comes at %d", n, o.Blocks, at, i)
				}
				seen[at], same = true, same && at == i
			}
			if same != (n == 1 || o.Blocks == Ascending) && n > 4 {
				t.Errorf("%d blocks, order %d is ascending: %v", n, o.Blocks, same)
			}
		}
	}
}
