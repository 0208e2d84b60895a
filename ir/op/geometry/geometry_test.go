// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"testing"
)

// TestWindows counts window positions one by one: those that end inside the padded elements, and in ceil mode one more
// that ends beyond them, if it starts before the end padding does.
func TestWindows(t *testing.T) {
	for code := range 7 * 3 * 3 * 2 * 3 * 3 * 2 {
		next := func(n int) (v int) { v, code = code%n, code/n; return v }
		in, k, s, d, begin, end, ceil := 1+next(7), 1+next(3), 1+next(3), 1+next(2), next(3), next(3), next(2) == 1
		reach, want := (k-1)*d+1, 0
		for start := 0; ; start += s {
			if start+reach > in+begin+end {
				if over := start - s + reach; ceil && want > 0 && over < in+begin+end && start < in+begin {
					want++
				}
				break
			}
			want++
		}
		got, err := windows(in, k, s, d, begin, end, ceil)
		if (err != nil) != (want == 0) || got != want {
			t.Errorf("in %d, kernel %d, stride %d, dilation %d, pads %d %d, ceil %t: %d windows (%v), want %d",
				in, k, s, d, begin, end, ceil, got, err, want)
		}
	}
}

// TestEmptyWindows: pools refuse windows that see padding only.
func TestEmptyWindows(t *testing.T) {
	w := &Window{Kernel: []int{2}, Strides: []int{1}, Pads: []int{1, 1}, Dilations: []int{3}, ChannelsLast: true}
	for in, empty := range map[int]bool{2: true, 3: false} {
		g, err := New([]int{1, in, 1}, w)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Empty(); (err != nil) != empty {
			t.Errorf("%d elements: %v", in, err)
		}
	}
}
