// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"testing"

	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// TestZeroWeights: layers with many zeros are named, the emptiest first; a dense model is not spoken of.
func TestZeroWeights(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 4)
	dense := b.Add(sum.Linear, "dense", nil, x, b.Const([]int{2, 4}, 1, 2, 3, 4, 5, 6, 7, 8))
	half := b.Add(sum.Linear, "half", nil, x, b.Const([]int{2, 4}, 1, 0, 3, 0, 0, 6, 7, 0))
	most := b.Add(sum.Linear, "most", nil, x, b.Const([]int{2, 4}, 0, 0, 0, 0, 0, 6, 0, 0))
	for _, c := range []struct {
		name string
		want string
	}{
		{"all", "weights: 45.8 % are zero: most 87.5 %, half 50.0 %\n"},
		{"dense", ""},
	} {
		g := b.Done(dense, half, most)
		if c.name == "dense" {
			b := lowertest.New(t, 1)
			g = b.Done(b.Add(sum.Linear, "dense", nil, b.Input("x", 1, 4), b.Const([]int{2, 4}, 1, 2, 3, 4, 5, 6, 7, 8)))
		}
		list, err := zeroWeights(g)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		(&App{Out: &out}).printZeros(list)
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, out.String(), c.want)
		}
	}
}
