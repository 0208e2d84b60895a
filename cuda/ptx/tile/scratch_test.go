// SPDX-License-Identifier: Apache-2.0

package tile

import (
	"math/rand/v2"
	"testing"

	"lathe/cuda/ptx/lane"
)

// TestScratch passes a few fragments again and again, in every format and depth: what one scratch remembers of them
// changes no result. Some fragments differ in one lane only, and registers change under a fragment's address.
func TestScratch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	drawn := func(n int) []*lane.Row {
		out := rows(n)
		for _, row := range out {
			for l := range row {
				row[l] = uint64(r.Uint32()) & 0xBFFFBFFF // neither NaN nor Inf in any format
			}
		}
		return out
	}
	clone := func(from []*lane.Row) []*lane.Row {
		out := rows(len(from))
		for i := range out {
			*out[i] = *from[i]
		}
		return out
	}
	var as, bs [6][]*lane.Row
	for i := range as {
		as[i], bs[i] = drawn(4), drawn(2)
		if i%2 == 1 {
			as[i], bs[i] = clone(as[i-1]), clone(bs[i-1])
			as[i][3][31] ^= 1
			bs[i][1][0] ^= 1 << 16
		}
	}
	var kept Scratch
	c := drawn(4)
	for i := range 4000 {
		a, b := as[r.IntN(6)], bs[r.IntN(6)]
		if r.IntN(50) == 0 {
			a[r.IntN(4)][r.IntN(32)] ^= 1 << 5
		}
		k, kind := 16-8*r.IntN(2), r.IntN(8)
		a, b = a[:k/4], b[:k/8]
		got, want := rows(4), rows(4)
		var fresh Scratch
		for _, one := range []struct {
			s *Scratch
			d []*lane.Row
		}{{&kept, got}, {&fresh, want}} {
			switch kind {
			case 0:
				one.s.Tensor32(Shape{4, 32}, one.d, as[0][:2], bs[0][:1], c)
			case 1:
				one.s.FloatHalf(Shape{k, 16}, one.d[:2], a, b, c[:2])
			default:
				one.s.Float(Shape{k, 16}, kind%2 == 0, one.d, a, b, c)
			}
		}
		for reg := range got {
			if *got[reg] != *want[reg] {
				t.Fatalf("product %d, kind %d, depth %d: register %d differs", i, kind, k, reg)
			}
		}
	}
}
