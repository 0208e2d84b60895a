// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMinifloat has the shortest float of random integers hold them all, and no shorter one; and codes of formats mean
// what their decoder says.
func TestMinifloat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		sig, up := 1+r.IntN(5), 1+r.IntN(20)
		ints := []int64{0}
		for range 1 + r.IntN(12) {
			ints = append(ints, (r.Int64N(1<<sig)-1<<(sig-1))<<r.IntN(up))
		}
		m := ShortestMinifloat(slices.Values(ints))
		f := Float{E: m.Field, M: m.Bits - 1 - m.Field}
		step, _, _ := f.Lattice()
		for _, v := range ints {
			if got, _ := f.Decode(m.Code(v)).Int64(step); got != v {
				t.Fatalf("%v: %d has code %#x, which is %d", f, v, m.Code(v), got)
			}
		}
		for _, less := range []Float{{E: f.E - 1, M: f.M}, {E: f.E, M: f.M - 1}} {
			if less.E < 1 || less.M < 0 {
				continue
			}
			step, _, _ := less.Lattice()
			if !slices.ContainsFunc(ints, func(v int64) bool {
				return less.Decode(less.Encode(FromInt(v, step))).Cmp(FromInt(v, step)) != 0
			}) {
				t.Fatalf("%v holds %v, not only %v", less, ints, f)
			}
		}
	}
	for _, f := range []Format{E4M3, E3M2, Log{W: 5}} {
		m, ok := MinifloatOf(f)
		step, _, _ := f.Lattice()
		for code := range int64(1) << (f.Width() - 1) {
			v, whole := f.Decode(code).Int64(step)
			if !ok || whole && m.Code(v) != code && !(m.NaN && code == 1<<(f.Width()-1)-1) {
				t.Fatalf("%v: %d has code %#x, not %#x", f, v, m.Code(v), code)
			}
		}
	}
	if m, ok := MinifloatOf(E5M2); ok {
		t.Errorf("a float with infinities: %+v", m)
	}
}
