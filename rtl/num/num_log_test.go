// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// logs is minus the logarithm of d*2^(e-23) in 24 fraction bits, d from 2^23 to 2^24.
func logs(d int64, e int) int64 {
	if d == 1<<24 {
		d, e = d/2, e+1
	}
	point := func(i int64) int64 { return int64(math.Floor(math.Ldexp(math.Log1p(float64(i)/512), 24) + 0.5)) }
	i, rest := d>>14-512, d&(1<<14-1)
	octaves := (int64(e)*762123384786 + 1<<15) >> 16
	return -octaves - point(i) - ((point(i+1)-point(i))*rest+1<<13)>>14
}

// TestLog benches every point, the end of the line behind it, the ends of the range, and random numbers.
func TestLog(t *testing.T) {
	t.Parallel()
	for _, span := range []int{0, 1, 7, 16} {
		rtltest.Run(t, rtltest.Bench{
			Module: "num_log", Params: []rtl.Param{rtltest.P("SPAN", span)}, Frames: 3000, Pipeline: true,
			In:  []rtltest.Port{{Name: "in"}},
			Out: []rtltest.Port{{Name: "out", Signed: true}},
			Gen: func(r *rand.Rand, _, frame int) []int64 {
				x, up := 1<<23+r.Int64N(1<<23), r.Int64N(2)
				if frame < 1024 {
					x, up = 1<<23+int64(frame/2)<<14+int64(frame%2)*(1<<14-1), 0
				}
				if frame == 1024 {
					x, up = 1<<24-1, 1
				}
				return []int64{r.Int64N(int64(span)+1)<<25 | up<<24 | x}
			},
			Model: func(in [][]int64) [][]int64 {
				v := in[0][0]
				return [][]int64{{logs(v&(1<<24-1)+v>>24&1, span-int(v>>25))}}
			},
		})
	}
}
