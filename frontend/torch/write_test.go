// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
)

// TestWrites: assignments to parts of a tensor, as exported and as run_decompositions writes them, are the tensor put
// together anew, by moves alone. x is 2x3x4; the numbers of y tell which element of x stands there, or which of v less
// 100, and 50 is a constant.
func TestWrites(t *testing.T) {
	const k = "k f32 2x3x2 = full.default size=[2,3,2] fill_value=50\n"
	row := func(at ...float64) []float64 { // the same places in all rows of 4
		var out []float64
		for i := range 6 {
			for _, p := range at {
				if p >= 0 && p < 50 {
					p += float64(4 * i)
				}
				out = append(out, p)
			}
		}
		return out
	}
	plane := slices.Concat([]float64{0, 1, 2, 3}, slices.Repeat([]float64{50}, 4), []float64{8, 9, 10, 11, 12, 13, 14, 15},
		slices.Repeat([]float64{50}, 4), []float64{20, 21, 22, 23})
	const slice = "p f32 2x3x2 = slice.Tensor self=%a dim=2 start=1 end=3\n"
	for _, c := range []struct {
		text string
		want []float64
	}{
		{k + "y f32 2x3x4 = slice_scatter.default self=%a src=%k dim=2 start=1 end=3", row(0, 50, 50, 3)},
		{k + "y f32 2x3x4 = slice_scatter.default self=%a src=%k dim=-1 start=0 end=4 step=2", row(50, 1, 50, 3)},
		{k + "y f32 2x3x4 = slice_scatter.default self=%a src=%k dim=2 start=-2", row(0, 1, 50, 50)},
		{"y f32 2x3x4 = slice_scatter.default self=%a src=%v dim=0", row(100, 100, 100, 100)},
		{"s f32 2x4 = full.default size=[2,4] fill_value=50\n" +
			"y f32 2x3x4 = select_scatter.default self=%a src=%s dim=1 index=-2", plane},
		{slice + "q f32 2x3x2 = fill_.Scalar self=%p value=50\ny f32 2x3x4 = alias.default self=%a", row(0, 50, 50, 3)},
		{slice + "q f32 2x3x2 = zero_.default self=%p\nr f32 2x3x2 = add_.Scalar self=%q other=50\n" +
			"y f32 2x3x4 = alias.default self=%a", row(0, 50, 50, 3)},
		{slice + "r f32 12 = view.default self=%p size=[12]\nq f32 12 = fill_.Scalar self=%r value=50\n" +
			"y f32 2x3x4 = alias.default self=%a", row(0, 50, 50, 3)},
		{"p f32 4x3x2 = permute.default self=%a dims=[2,1,0]\nq f32 3x2 = select.int self=%p dim=0 index=3\n" +
			"r f32 3x2 = fill_.Scalar self=%q value=50\ny f32 2x3x4 = alias.default self=%a", row(0, 1, 2, 50)},
		{"p f32 2x4 = select.int self=%a dim=1 index=1\nq f32 2x4 = copy_.default self=%p src=%s\n" +
			"y f32 2x3x4 = alias.default self=%a", plane},
		{"y f32 2x3x4 = copy.default self=%a src=%v", row(100, 100, 100, 100)},
		{"y f32 2x3x4 = index_put.default self=%a indices=[none,none,%i] values=%c", row(50, 1, 2, 50)},
		{"y f32 2x3x4 = index_put_.default self=%a indices=[none,none,%i] values=%c", row(50, 1, 2, 50)},
	} {
		g := load(t, "input x f32 2x3x4\nbuffer v f32 1 values=100\nbuffer s f32 1x4 values=50,50,50,50\n"+
			"buffer i i64 2 values=3,-4\nbuffer c f32 1 values=50\na f32 2x3x4 = clone.default self=%x\n"+c.text+
			"\noutput y", source.Options{})
		ramp := pt2test.Ramp(24)
		for i, y := range run(t, g)[0] {
			if want := c.want[i]; want < 50 && y != ramp[int(want)] || want >= 50 && y != want {
				t.Errorf("%s: element %d is %g, want that of %g", c.text, i, y, want)
				break
			}
		}
		for _, n := range g.Nodes {
			if n.Op.Traits.FloatOnly || strings.Contains(n.Op.Name, "scatter") {
				t.Errorf("%s: %s (%s) has no hardware", c.text, n.Name, n.Op.Name)
			}
		}
	}
}
