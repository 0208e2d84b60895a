// SPDX-License-Identifier: Apache-2.0

package format

import (
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/diag"
)

// TestSumRange finds the extremes of small rows by trying every input.
func TestSumRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Affine{W: 2, Scale: 1, Axis: PerTensor, Signed: rapid.Bool().Draw(t, "s"),
			Zero: rapid.Int64Range(-3, 3).Draw(t, "z")}
		row := rapid.SliceOfN(rapid.Int64Range(-16, 15), 0, 3).Draw(t, "row")
		lo, hi := int64(1<<60), int64(-1<<60)
		q := a.Integers()
		var try func(i int, sum int64)
		try = func(i int, sum int64) {
			if i == len(row) {
				lo, hi = min(lo, sum), max(hi, sum)
				return
			}
			for c := q.Min(); c <= q.Max(); c++ {
				try(i+1, sum+row[i]*(c-a.Zero))
			}
		}
		try(0, 0)
		pos, neg := SignedSums(row)
		l, h := SumRange(pos, neg, q.Min()-a.Zero, q.Max()-a.Zero)
		if l.Int64() != lo || h.Int64() != hi {
			t.Fatalf("row %v of %v: [%v, %v], want [%d, %d]", row, a, l, h, lo, hi)
		}
		want := 1
		for want < 64 && (lo < -1<<(want-1) || hi > 1<<(want-1)-1) {
			want++
		}
		if bits := SignedBits(l, h); bits != want {
			t.Fatalf("row %v of %v: %d bits, want %d", row, a, bits, want)
		}
	})
}

func TestDotErrors(t *testing.T) {
	m := NewMXInt(8, 2)
	one := []int64{1}
	if _, err := DotExact(m, one, nil, m, one, one); diag.CodeOf(err) != diag.FormatData {
		t.Errorf("missing scale: %v", err)
	}
	if _, err := DotExact(e4m3, one, nil, e4m3, nil, nil); diag.CodeOf(err) != diag.FormatData {
		t.Errorf("lengths: %v", err)
	}
	axis := Affine{W: 8, Axis: 0}
	if _, err := DotExact(e4m3, one, nil, axis, one, nil); diag.CodeOf(err) != diag.FormatData {
		t.Errorf("scales beside the codes: %v", err)
	}
}
