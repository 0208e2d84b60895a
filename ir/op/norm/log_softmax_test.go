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
	"lathe/ir/op/arith"
)

// logRowsOf plans log-softmax from one format to another.
func logRowsOf(t *testing.T, in, out format.Format) *LogRows {
	t.Helper()
	x := &ir.Node{Name: "x", Type: ir.Type{Format: in}}
	r, err := PlanLogRows(&ir.Node{Name: "y", Op: LogSoftmax, Args: []*ir.Node{x}, Type: ir.Type{Format: out}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLogRows compares worked values: of the table, of logarithms, one of them of a sum that is rounded up to the next
// octave, and of rows.
func TestLogRows(t *testing.T) {
	table, ln2 := logs()
	if table[0] != 0 || table[1] != 32736 || table[256] != 6802576 || table[512] != 11629080 || ln2 != 762123384786 {
		t.Errorf("the table begins %d, then %d, %d, %d", table[:2], table[256], table[512], ln2)
	}
	for sum, want := range map[int64]int64{1 << 32: 0, 1<<33 - 1: 11629080, 1 << 48: 186065279, 3 << 31: 6802576} {
		if got := logOf(sum); got != want {
			t.Errorf("the logarithm of %d is %d, want %d", sum, got, want)
		}
	}
	in, y := format.Fixed{W: 8, F: 4, Signed: true}, make([]int64, 5)
	for frac, want := range map[int][]int64{4: {-38, -54, -70, -14, -14}, 11: {-4809, -6857, -8905, -1737, -1737}} {
		out := format.Fixed{W: 16, F: frac, Signed: true}
		r, encode := logRowsOf(t, in, out), arith.Encoder(out, -eBits)
		r.Row(y, []int64{16, 0, -16, 40, 40})
		for i := range y {
			y[i] = encode(y[i])
		}
		if !slices.Equal(y, want) || r.Step != 1<<23 || r.StepShift != 3 {
			t.Errorf("%d fraction bits: %d, want %d; a step is %d >> %d", frac, y, want, r.Step, r.StepShift)
		}
	}
}

// TestLogRowsError measures how far results are from the real function, in their last place; the long form takes more
// rows.
func TestLogRowsError(t *testing.T) {
	for _, c := range []struct {
		in, frac int
		bound    float64
	}{{8, 3, 0.5001}, {16, 3, 0.5001}, {8, 11, 0.502}, {16, 11, 0.502}, {8, 16, 0.57}, {16, 16, 0.57}} {
		t.Run(fmt.Sprintf("%d-%d", c.in, c.frac), func(t *testing.T) {
			t.Parallel()
			in, out := format.Fixed{W: c.in, F: c.in - 4, Signed: true}, format.Fixed{W: 24, F: c.frac, Signed: true}
			r, rnd := logRowsOf(t, in, out), rand.New(rand.NewPCG(uint64(c.in), uint64(c.frac)))
			encode, worst, count := arith.Encoder(out, -eBits), 0.0, 0
			for count < errorOutputs {
				x := drawRow(rnd, in, 1+rnd.IntN(300))
				y, total, top := make([]int64, len(x)), 0.0, slices.Max(x)
				r.Row(y, x)
				for _, v := range x {
					total += math.Exp(math.Ldexp(float64(v-top), -in.F))
				}
				for i, v := range x {
					real := math.Ldexp(float64(v-top), -in.F) - math.Log(total)
					worst = max(worst, math.Abs(math.Ldexp(real, c.frac)-float64(encode(y[i]))))
				}
				count += len(x)
			}
			if t.Logf("%d results, at most %.4f of the last place from the real ones", count, worst); worst > c.bound {
				t.Errorf("%.4f is more than %g", worst, c.bound)
			}
		})
	}
}
