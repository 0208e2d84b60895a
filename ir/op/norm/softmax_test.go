// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
)

// rowsOf plans softmax from one format to another.
func rowsOf(t *testing.T, in, out format.Format) *Rows {
	t.Helper()
	x := &ir.Node{Name: "x", Type: ir.Type{Format: in}}
	r, err := PlanRows(&ir.Node{Name: "y", Op: Softmax, Args: []*ir.Node{x}, Type: ir.Type{Format: out}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRows compares worked values: of the table, of the factor, and of rows in 8 and in 16 bits.
func TestRows(t *testing.T) {
	sum := int64(0)
	for _, v := range powers() {
		sum += v
	}
	if p := powers(); p[0] != 16777216 || p[1] != 16731851 || p[128] != 11863283 || p[256] != 8388608 ||
		sum != 3110748820 {
		t.Errorf("the table begins %d and sums to %d", p[:2], sum)
	}
	for frac, want := range map[int][]int64{8: {24, 9, 3, 110, 110}, 16: {6261, 2303, 847, 28062, 28062}} {
		r := rowsOf(t, format.Fixed{W: 8, F: 4, Signed: true}, format.Fixed{W: frac, F: frac})
		y := make([]int64, 5)
		if r.Row(y, []int64{16, 0, -16, 40, 40}, nil); r.K != 12102203 || r.Shift != 7 || !slices.Equal(y, want) {
			t.Errorf("%d bits: K = %d, shift %d, row %d, want %d", frac, r.K, r.Shift, y, want)
		}
	}
}

// TestRowsMasked gives rows of which nothing takes part, and keeps what is masked out of the maximum.
func TestRowsMasked(t *testing.T) {
	r := rowsOf(t, format.Fixed{W: 8, F: 4, Signed: true}, format.Fixed{W: 8, F: 8})
	y := []int64{1, 2, 3}
	if r.Row(y, []int64{5, 6, 7}, func(int) bool { return false }); !slices.Equal(y, []int64{0, 0, 0}) {
		t.Errorf("a row of which nothing takes part gives %d", y)
	}
	if r.Row(y, []int64{5, 127, 5}, func(i int) bool { return i != 1 }); !slices.Equal(y, []int64{128, 0, 128}) {
		t.Errorf("without the greatest element the row is %d", y)
	}
}

// TestRowsError measures how far results are from the real function, in their last place; the long form takes more
// rows.
func TestRowsError(t *testing.T) {
	for _, c := range []struct {
		in, out int
		bound   float64
	}{{8, 8, 0.5005}, {16, 8, 0.5005}, {8, 16, 0.526}, {16, 16, 0.526}} {
		t.Run(fmt.Sprintf("%d-%d", c.in, c.out), func(t *testing.T) {
			t.Parallel()
			in := format.Fixed{W: c.in, F: c.in - 4, Signed: true}
			r, rnd := rowsOf(t, in, format.Fixed{W: c.out, F: c.out}), rand.New(rand.NewPCG(uint64(c.in), uint64(c.out)))
			worst, count := 0.0, 0
			for count < errorOutputs {
				x := drawRow(rnd, in, 1+rnd.IntN(300))
				worst = max(worst, r.worst(x, in.F))
				count += len(x)
			}
			if t.Logf("%d results, at most %.4f of the last place from the real ones", count, worst); worst > c.bound {
				t.Errorf("%.4f is more than %g", worst, c.bound)
			}
		})
	}
}

// drawRow draws a row of codes: normal, uniform, flat or one-hot.
func drawRow(rnd *rand.Rand, f format.Fixed, n int) []int64 {
	x, kind, spread := make([]int64, n), rnd.IntN(4), math.Ldexp(rnd.Float64(), f.W-2)
	for i := range x {
		switch kind {
		case 0:
			x[i] = int64(rnd.NormFloat64() * spread)
		case 1:
			x[i] = rnd.Int64N(2*f.Max()) - f.Max()
		case 2:
			x[i] = int64(spread)
		}
		x[i] = min(max(x[i], f.Min()), f.Max())
	}
	if kind == 3 {
		x[rnd.IntN(n)] = f.Max()
	}
	return x
}

// worst is the greatest distance of the results of a row of codes, of frac fraction bits, from the real ones, in steps
// of a result. What saturates has none.
func (r *Rows) worst(x []int64, frac int) float64 {
	y, total, worst := make([]int64, len(x)), 0.0, 0.0
	r.Row(y, x, nil)
	top := slices.Max(x)
	real := func(v int64) float64 { return math.Exp(math.Ldexp(float64(v-top), -frac)) }
	for _, v := range x {
		total += real(v)
	}
	for i, v := range x {
		if want := math.Ldexp(real(v)/total, r.Frac); want < float64(r.Max) {
			worst = max(worst, math.Abs(want-float64(y[i])))
		}
	}
	return worst
}
