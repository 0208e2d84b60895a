// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"math"
	"strconv"
	"strings"
)

func decimal(o Operand, text string) (Operand, bool) {
	o.Kind = KindInt
	digits := strings.TrimSuffix(text, "U")
	if strings.ContainsRune(digits, '_') {
		return o, false // Go's separators are none of PTX
	}
	if v, err := strconv.ParseUint(digits, 0, 64); err == nil {
		o.Val = v
		return o, true
	}
	if strings.ContainsAny(text, ".") && !strings.HasPrefix(text, ".") {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			o.Kind, o.Val = KindF64, math.Float64bits(v)
			return o, true
		}
	}
	return o, false
}

// sizes of types in bytes.
func typeSize(t string) (int64, bool) {
	switch t {
	case "b8", "u8", "s8":
		return 1, true
	case "b16", "u16", "s16", "f16", "bf16":
		return 2, true
	case "b32", "u32", "s32", "f32", "f16x2", "bf16x2":
		return 4, true
	case "b64", "u64", "s64", "f64":
		return 8, true
	case "b128":
		return 16, true
	}
	return 0, false
}

// negate gives a constant its minus.
func negate(o Operand) (Operand, bool) {
	switch o.Kind {
	case KindInt:
		o.Val = -o.Val
	case KindF32:
		o.Val ^= 1 << 31
	case KindF64:
		o.Val ^= 1 << 63
	default:
		return o, false
	}
	return o, true
}
