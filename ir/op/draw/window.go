// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"math/rand/v2"

	"lathe/ir/op/geometry"
)

// Window draws a channels-last image of one or two spatial axes and a window that has an element of the image at
// every position.
func Window(r *rand.Rand, ceil bool) (shape []int, w geometry.Window) {
	rank := 2 - r.IntN(4)/3
	for {
		shape = []int{1}
		if Chance(r, 10) {
			shape[0] = 2
		}
		w = geometry.Window{ChannelsLast: true, CeilMode: ceil, Pads: make([]int, 2*rank)}
		for i := range rank {
			k := Between(r, 1, 3)
			w.Kernel = append(w.Kernel, k)
			w.Strides = append(w.Strides, Between(r, 1, 3))
			w.Dilations = append(w.Dilations, 1+r.IntN(3)/2)
			if Chance(r, 60) {
				w.Pads[i], w.Pads[i+rank] = r.IntN(k), r.IntN(k)
			}
			shape = append(shape, Between(r, 1, 7))
		}
		shape = append(shape, []int{1, 2, 3, 4, 6}[r.IntN(5)])
		if g, err := geometry.New(shape, &w); err == nil && g.Empty() == nil {
			return shape, w
		}
	}
}
