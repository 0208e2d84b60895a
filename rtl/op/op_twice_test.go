// SPDX-License-Identifier: Apache-2.0

package op

import (
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

func TestTwice(t *testing.T) {
	for _, c := range []struct{ lanes, w int }{{1, 1}, {4, 8}, {3, 17}} {
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "op_twice", Params: []rtl.Param{p("LANES", c.lanes), p("W", c.w), p("BEATS", 3)},
			In:  []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: true, Beats: 3}},
			Out: []rtltest.Port{{Name: "out", Lanes: c.lanes, Signed: true}},
			Model: func(in [][]int64) [][]int64 {
				out := make([]int64, len(in[0]))
				for i, x := range in[0] {
					out[i] = 2 * x
				}
				return [][]int64{out}
			},
		})
	}
}
