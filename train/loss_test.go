// SPDX-License-Identifier: Apache-2.0

package train

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// TestLabels refuses labels of which none counts, or one is no class, and takes those of which some count.
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		labels []int64
		want   string
	}{
		{[]int64{0, -1, 2}, ""},
		{[]int64{-1, -1, -5}, "all 3 labels are below 0"},
		{[]int64{0, 3, 1}, "a label of sample 1 is 3, and the output has 3 classes"},
	} {
		err := CrossEntropy.checkTarget(hlo.FromInt64s(hlo.I32, []int{3}, c.labels), 3, []int{1, 3}, "y.npy")
		if c.want == "" {
			if err != nil {
				t.Errorf("%v: %v", c.labels, err)
			}
			continue
		}
		if diag.CodeOf(err) != diag.TrainLabels || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.labels, err, c.want)
		}
	}
}
