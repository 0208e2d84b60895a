// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"slices"
	"strings"
	"testing"

	"lathe/rtl/cmvm/cmvmtest"
)

// TestLive counts the bits of each row of registers once more: those that are made before it and needed behind it.
func TestLive(t *testing.T) {
	p := Problem{Matrix: cmvmtest.Matrix(16, 16, 6), Inputs: same(16, Range{-128, 127}), Group: 5}
	g := agrees(t, p, 64)
	pipe := g.Pipeline(3, 2)
	made, last := make([]int, g.Nets), make([]int, g.Nets)
	for i := range g.Chains {
		c := &g.Chains[i]
		for _, n := range c.nets() {
			made[n], last[n] = pipe.Of[i], pipe.Of[i]
		}
		for _, cell := range c.Cells {
			last[cell.A] = max(last[cell.A], pipe.Of[i])
			for _, b := range cell.B.Of {
				last[b.Net] = max(last[b.Net], pipe.Of[i])
			}
		}
	}
	for _, w := range g.Outputs {
		for _, b := range w.Bits {
			last[b.Net] = pipe.Rows
		}
	}
	want := make([]int, pipe.Rows)
	for n := 1; n < g.Nets; n++ {
		for k := made[n]; k < last[n]; k++ {
			want[k]++
		}
	}
	if got := pipe.Live(g); !slices.Equal(got, want) || len(got) < 2 {
		t.Errorf("rows of %d bits, counted again %d", got, want)
	}
}

// TestShared: sums are shared where they have a name of their own and several others read them.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		m    [][]int64
		want int
	}{
		{[][]int64{{1, 0}, {0, 1}}, 0},
		{[][]int64{{3, 5}, {-6, -10}}, 1}, // a row twice
		{cmvmtest.Matrix(16, 16, 8), -1},
	} {
		g := agrees(t, Problem{Matrix: c.m, Inputs: same(len(c.m[0]), Range{-128, 127}), Group: 5}, 16)
		named := map[string]bool{}
		for _, chain := range g.Chains {
			if strings.HasPrefix(chain.Name, "s") || strings.HasPrefix(chain.Name, "r") {
				named[chain.Name] = true
			}
		}
		if g.Shared != len(named) || c.want >= 0 && g.Shared != c.want || c.want < 0 && g.Shared < 16 {
			t.Errorf("%d shared sums, %d with a name, %d expected", g.Shared, len(named), c.want)
		}
	}
}
