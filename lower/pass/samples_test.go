// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
)

// TestPermute moves arrays between the layout of the caller and that of the graph, codes included.
func TestPermute(t *testing.T) {
	x := ir.NewTensor(ir.Type{Shape: []int{1, 2, 3}, Format: format.Fixed{W: 8, Signed: true}})
	for i := range x.Codes {
		x.Codes[i] = int64(i)
	}
	y := permute(x, []int{2, 0, 1})
	if !slices.Equal(y.Type.Shape, []int{3, 1, 2}) || !slices.Equal(y.Codes, []int64{0, 3, 1, 4, 2, 5}) {
		t.Errorf("%v %v", y.Type, y.Codes)
	}
	if z := permute(y, []int{1, 2, 0}); !slices.Equal(z.Codes, x.Codes) {
		t.Errorf("back: %v", z.Codes)
	}
}
