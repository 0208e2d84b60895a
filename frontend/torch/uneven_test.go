// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"
	"math"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/npz"
)

// TestUneven holds adaptive pools with parts of different sizes, which may overlap, to their definition.
func TestUneven(t *testing.T) {
	const high, wide = 7, 5
	x := make([]float32, 2*high*wide)
	for i := range x {
		x[i] = float32((i*i*7+i*29)%61) - 30
	}
	for _, out := range [][2]int{{3, 2}, {3, 5}, {1, 2}, {2, 1}, {4, 8}} {
		for _, kind := range []string{"avg", "max"} {
			text := fmt.Sprintf("input x f32 1x2x%dx%d\ny f32 1x2x%dx%d = adaptive_%s_pool2d.default self=%%x "+
				"output_size=[%d,%d]\noutput y\n", high, wide, out[0], out[1], kind, out[0], out[1])
			g, err := Parse("m.pt2", pt2test.New(text).Archive(), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			file := &npz.File{Arrays: []npz.Array{npz.Float32Array("x", []int{1, 2, high, wide}, x)}}
			got := compute(t, g, file)[0].Floats
			for i, v := range got {
				c, row, column := i/(out[0]*out[1]), i/out[1]%out[0], i%out[1]
				sum, most, count := 0.0, math.Inf(-1), 0.0
				for r := row * high / out[0]; r < ((row+1)*high+out[0]-1)/out[0]; r++ {
					for w := column * wide / out[1]; w < ((column+1)*wide+out[1]-1)/out[1]; w++ {
						v := float64(x[c*high*wide+r*wide+w])
						sum, most, count = sum+v, max(most, v), count+1
					}
				}
				want := sum / count
				if kind == "max" {
					want = most
				}
				if math.Abs(float64(v)-want) > 1e-5 {
					t.Errorf("%s to %v, element %d: %g, want %g", kind, out, i, v, want)
				}
			}
			if g.Out[0].Node.Name != "y" {
				t.Errorf("%s to %v: the result is called %q", kind, out, g.Out[0].Node.Name)
			}
		}
	}
}
