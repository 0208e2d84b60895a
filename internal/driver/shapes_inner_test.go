// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"strings"
	"testing"
)

// TestReshaping: where axes stand in another order, NumPy's transpose that is named gives the shape of the model.
func TestReshaping(t *testing.T) {
	for _, c := range []struct{ have, shape []int }{
		{[]int{20, 6, 7, 2}, []int{1, 2, 6, 7}}, {[]int{20, 2, 6, 7}, []int{1, 6, 7, 2}}, {[]int{20, 49, 3}, []int{1, 3, 49}},
		{[]int{20, 5, 6, 7, 3}, []int{3, 5, 6, 7}},
	} {
		_, text, ok := strings.Cut(reshaping(c.have, c.shape), "x.transpose(")
		var got []int
		for _, axis := range strings.Split(strings.TrimSuffix(text, ")"), ", ") {
			var i int
			fmt.Sscan(axis, &i)
			got = append(got, c.have[i])
		}
		want := append([]int{20}, c.shape[len(c.shape)-len(c.have)+1:]...)
		if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v for %v: %s, which gives %v", c.have, c.shape, text, got)
		}
	}
	if text := reshaping([]int{8, 20}, []int{1, 8}); !strings.HasSuffix(text, "x.T") {
		t.Error(text)
	}
	if text := reshaping([]int{20, 9}, []int{1, 8}); !strings.Contains(text, "wrong file") {
		t.Error(text)
	}
}
