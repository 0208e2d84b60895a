// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"encoding/binary"
	"math"
)

// BF16 is the value of a word of bfloat16.
func BF16(word uint16) float64 { return float64(math.Float32frombits(uint32(word) << 16)) }

// BF16At is the value of word i of a buffer.
func BF16At(b []byte, i int64) float64 { return BF16(binary.LittleEndian.Uint16(b[2*i:])) }

// BF16Word is the word of the bfloat16 nearest to x, ties to even; a NaN is 0x7FFF, as cvt.rn.bf16.f32 gives it.
func BF16Word(x float64) uint16 {
	if math.IsNaN(x) {
		return 0x7FFF
	}
	b := math.Float64bits(x)
	f := math.Float32bits(float32(x))
	// Round to odd where fp32 is inexact, so that the second rounding sees which side x lies on.
	if back := float64(math.Float32frombits(f)); back != x && f&1 == 0 && !math.IsInf(back, 0) {
		if math.Abs(back) > math.Abs(x) {
			f--
		} else {
			f++
		}
	} else if math.IsInf(back, 0) && !math.IsInf(x, 0) {
		f = uint32(b>>63)<<31 | 0x7F7FFFFF
	}
	return uint16((f + 0x7FFF + f>>16&1) >> 16)
}
