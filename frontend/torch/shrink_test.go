// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
)

// TestShrink: shrinks make 0 of small values, and the soft one moves the others.
func TestShrink(t *testing.T) {
	for name, by := range map[string]float64{"hard": 0, "soft": 0.375} {
		g := load(t, "input x f32 24\ny f32 24 = "+name+"shrink.default self=%x lambd=0.375\noutput y", source.Options{})
		for i, x := range pt2test.Ramp(24) {
			want := 0.0
			if v := float64(x); math.Abs(v) > 0.375 {
				want = v - math.Copysign(by, v)
			}
			if got := run(t, g)[0][i]; math.Abs(got-want) > 1e-6 {
				t.Errorf("%sshrink of %g is %g, want %g", name, x, got, want)
			}
		}
	}
}

// TestTransposedVolume: each element of a volume gives the kernel, at its place, to the result.
func TestTransposedVolume(t *testing.T) {
	g := load(t, "input x f32 1x1x2x2x2\nparam w f32 1x1x2x1x2 values=1,2,3,4\n"+
		"y f32 1x1x4x2x3 = conv_transpose3d.input input=%x weight=%w stride=[2,1,1]\noutput y", source.Options{})
	x, w := pt2test.Ramp(8), []float64{1, 2, 3, 4}
	want := make([]float64, 24)
	for i, v := range x {
		for k, f := range w {
			want[(i/4*2+k/2)*6+i/2%2*3+i%2+k%2] += float64(v) * f
		}
	}
	for i, got := range run(t, g)[0] {
		if math.Abs(got-want[i]) > 1e-6 {
			t.Errorf("element %d is %g, want %g", i, got, want[i])
		}
	}
}

// TestRepeatInterleave: each element of an axis stands several times in a row.
func TestRepeatInterleave(t *testing.T) {
	for text, want := range map[string][]int{
		"y f32 2x6 = repeat_interleave.self_int self=%x repeats=2 dim=-1": {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5},
		"y f32 4x3 = repeat_interleave.self_int self=%x repeats=2 dim=0":  {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5},
		"y f32 12 = repeat_interleave.self_int self=%x repeats=2":         {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5},
	} {
		got := run(t, load(t, "input x f32 2x3\n"+text+"\noutput y", source.Options{}))[0]
		x := pt2test.Ramp(6)
		if len(got) != len(want) {
			t.Fatalf("%s: %d elements, want %d", text, len(got), len(want))
		}
		for i, at := range want {
			if got[i] != float64(x[at]) {
				t.Errorf("%s: element %d is %g, want %g", text, i, got[i], x[at])
			}
		}
	}
}
