// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"math"
	"strconv"
	"strings"

	"lathe/ir"
)

// float reads a decimal number, or the bits of one in hexadecimal digits, as bits of the element type.
func (r *reader) float(s string) (uint64, bool) {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		v, err := strconv.ParseUint(digits, 16, 8*r.size)
		return v, err == nil
	}
	if len(s) == 0 || strings.ContainsAny(s, "_xXpPnN") {
		return 0, false // no number of MLIR, though one of Go
	}
	width := 64
	if r.dtype == ir.F32 {
		width = 32
	}
	v, err := strconv.ParseFloat(s, width)
	if err != nil {
		return 0, false
	}
	switch r.dtype {
	case ir.F32:
		return uint64(math.Float32bits(float32(v))), true
	case ir.F16:
		return narrow(v, 5, 10), true
	case ir.BF:
		return narrow(v, 8, 7), true
	}
	return math.Float64bits(v), true
}

// narrow rounds v, half to even, to a float of IEEE 754 with the given bits of exponent and fraction.
func narrow(v float64, exp, frac int) uint64 {
	sign := uint64(0)
	if math.Signbit(v) {
		sign = 1 << (exp + frac)
	}
	v = math.Abs(v)
	bias := 1<<(exp-1) - 1
	top := uint64(1<<exp-1) << frac
	if v == 0 || math.IsInf(v, 0) {
		if v != 0 {
			sign |= top
		}
		return sign
	}
	e := max(math.Ilogb(v), 1-bias)
	q := uint64(math.RoundToEven(math.Ldexp(v, frac-e))) // the fraction with its hidden bit, which may carry
	bits := q + uint64(e+bias-1)<<frac
	return sign | min(bits, top)
}
