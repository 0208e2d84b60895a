// SPDX-License-Identifier: Apache-2.0

package simplify

import "testing"

// TestPerChannel: constants of more axes than the value, a scalar among them, are none of its channels.
func TestPerChannel(t *testing.T) {
	for _, c := range []struct {
		c, x []int
		axis int
		want bool
	}{{nil, []int{2, 3}, 1, true}, {[]int{3}, []int{2, 3}, 1, true}, {[]int{2}, []int{2, 3}, 1, false},
		{[]int{3, 1}, []int{2, 3, 5}, 1, true}, {[]int{4}, nil, -1, false}, {nil, nil, -1, false},
		{[]int{2, 3}, []int{3}, 0, false}} {
		if got := perChannel(c.c, c.x, c.axis); got != c.want {
			t.Errorf("%v on %v, axis %d: %v", c.c, c.x, c.axis, got)
		}
	}
}
