// SPDX-License-Identifier: Apache-2.0

package maptest

import (
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
)

// Dequant is the kernel over all pairs of scale and element, again and again: element i has the byte i, block b the
// scale
// b/8. Errors as those of the
// plan.
func Dequant(d pointwise.Dequant, timed bool) (cuda.Case, error) {
	return caseOf(d, pointwise.Operands{X: cuda.Buffer(0), XScales: cuda.Buffer(1), Y: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("dequant/%s/n=%d", d.Out, d.N),
		Shape: fmt.Sprintf("n=%d", d.N), Formats: "mxint8 -> " + string(d.Out), Timed: timed,
		Buffers: []cuda.CaseBuffer{
			{Name: "q", Bytes: d.N, Fill: func(b []byte) {
				for i := range b {
					b[i] = byte(i)
				}
			}},
			{Name: "X", Bytes: (d.N + 31) / 32, Fill: func(b []byte) {
				for i := range b {
					b[i] = byte(i / 8)
				}
			}},
			{Name: "y", Bytes: int64(d.Out.Bytes()) * d.N, Output: true},
		},
		Check: func(out [][]byte) cuda.Verdict { return checkDequant(d, out[0]) },
	})
}

// caseOf is a case of a problem that one kernel solves on every architecture, with the rest as in c.
func caseOf[O any](p cuda.Problem[O], o O, c cuda.Case) (cuda.Case, error) {
	plan, err := p.Plan(cuda.Arch{})
	if err != nil {
		return cuda.Case{}, err
	}
	one := cuda.CaseOf(p, plan, o)
	c.Instances, c.Launches, c.Bytes, c.Flops = one.Instances, one.Launches, one.Bytes, one.Flops
	return c, nil
}

// checkDequant demands every bit, but those of a NaN.
func checkDequant(d pointwise.Dequant, y []byte) cuda.Verdict {
	v := cuda.Verdict{BitEqual: true}
	for i := range d.N {
		want := Value(byte(i), byte(i/256))
		var got float64
		if d.Out == "bf16" {
			got = cuda.BF16At(y, i)
		} else {
			got = float64(math.Float32frombits(binary.LittleEndian.Uint32(y[4*i:])))
		}
		if !same(got, want) {
			v.BitEqual, v.Wrong = false, fmt.Sprintf("element %d is %v, want %v", i, got, want)
			return v
		}
	}
	return v
}

// same compares values to the sign of zero; all NaN are one.
func same(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b)
}

// Value is that of an element of MXINT8 with its scale, q * 2^(x-133) or NaN, after rounding to bf16 or fp32: exact but
// for -2^128, which is -Inf there.
func Value(q, x byte) float64 {
	if x == 255 {
		return math.NaN()
	}
	return float64(float32(math.Ldexp(float64(int8(q)), int(x)-133)))
}
