// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"math/rand/v2"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// recip is a bench of num_recip on divisors at the ends of their range, at multiples of powers of two, whose quotients
// have long runs, and on random ones.
func recip(span, frames int, seed uint64) rtltest.Bench {
	const least, most = 1 << 23, 1<<24 - 1
	ends := []int64{least, least + 1, most - 1, most, least + least/2, least + 5793}
	return rtltest.Bench{
		Module: "num_recip", Params: []rtl.Param{rtltest.P("SPAN", span)}, Frames: frames, Seed: seed,
		In:  []rtltest.Port{{Name: "in"}},
		Out: []rtltest.Port{{Name: "out"}},
		Gen: func(r *rand.Rand, _, frame int) []int64 {
			x := least + r.Int64N(least)
			switch {
			case frame/2 < len(ends):
				x = ends[frame/2]
			case frame%3 == 0:
				x = x >> r.IntN(23) << r.IntN(23) & most
				x |= least
			}
			return []int64{r.Int64N(int64(span)+1)<<25 | int64(frame%2)<<24 | x}
		},
		Model: func(in [][]int64) [][]int64 {
			v := in[0][0]
			d := v&(1<<24-1) + v>>24&1
			return [][]int64{{1 << 47 / d << (v >> 25)}}
		},
	}
}

func TestRecip(t *testing.T) {
	t.Parallel()
	for _, span := range []int{0, 7, 16} {
		rtltest.Run(t, recip(span, 600, uint64(span)))
	}
}
