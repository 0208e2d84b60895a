// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/lane"
)

func TestCheckLanes(t *testing.T) {
	n := &ir.Node{Name: "fc", Op: Linear}
	for lanes, hint := range map[int]string{
		-1: "use 1", 0: "use 1", 1: "", 4: "", 5: "use 4 or 6", 7: "use 6 or 12", 12: "", 13: "use 12", 24: "use 12",
	} {
		e := lane.CheckDivisor(n, "in_lanes", lanes, 12, "inputs")
		switch {
		case e == nil && hint != "":
			t.Errorf("%d lanes of 12 are taken", lanes)
		case e != nil && (hint == "" || e.Code != "L0412" || e.Hint != hint):
			t.Errorf("%d lanes of 12: %v", lanes, e)
		}
	}
	if e := lane.Check(n, "in_lanes", 3, nil, 0, "inputs"); e == nil || e.Hint != "" {
		t.Errorf("nothing is legal: %v", e)
	}
}

// TestConvLanes lists what the window generator can give a convolution, and which beats it takes.
func TestConvLanes(t *testing.T) {
	w := geometry.Window{Kernel: []int{3, 3}, Strides: []int{1, 1}, Pads: []int{1, 1, 1, 1}, Dilations: []int{1, 1},
		ChannelsLast: true}
	g, err := geometry.New([]int{1, 8, 8, 4}, &w)
	if err != nil {
		t.Fatal(err)
	}
	if got := kernelLanes(g, 1); !slices.Equal(got, []int{1, 2, 4, 12, 36}) {
		t.Errorf("one group: %v", got)
	}
	if got := kernelLanes(g, 2); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("two groups: %v", got)
	}
	if got := tapLanes(g); !slices.Equal(got, []int{1, 2, 4, 12, 36}) {
		t.Errorf("depthwise: %v", got)
	}
	for in, want := range map[int][]int{4: {1, 2, 4, 12}, 2: {1, 2, 4, 6, 12}, 6: {1, 2, 3, 6, 12}, 3: {1, 3, 6, 12},
		12: {1, 2, 3, 4, 6, 12}} {
		if got := pixelLanes(12, in); !slices.Equal(got, want) {
			t.Errorf("12 channels, in %d: %v", in, got)
		}
	}
}

func TestDivisors(t *testing.T) {
	for n, want := range map[int][]int{1: {1}, 2: {1, 2}, 9: {1, 3, 9}, 12: {1, 2, 3, 4, 6, 12}} {
		if got := lane.Divisors(n); !slices.Equal(got, want) {
			t.Errorf("%d: %v", n, got)
		}
	}
}
