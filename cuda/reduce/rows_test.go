// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// encode writes words of a format, rounded to nearest even.
func encode(w word.Float, v []float64) []byte {
	switch w {
	case word.BFloat16:
		return cudatest.BF16Bytes(v)
	case word.Float32:
		b := cudatest.F32Bytes(v)
		for i, x := range v {
			if math.IsNaN(x) {
				binary.LittleEndian.PutUint32(b[4*i:], 0x7FFFFFFF) // as arithmetic gives it
			}
		}
		return b
	}
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint16(out, cudatest.F16Word(x))
	}
	return out
}

// decode reads words of a format.
func decode(w word.Float, b []byte) []float64 {
	switch w {
	case word.BFloat16:
		return cudatest.BF16(b)
	case word.Float32:
		return cudatest.F32(b)
	}
	var out []float64
	for ; len(b) > 0; b = b[2:] {
		out = append(out, cudatest.F16Value(binary.LittleEndian.Uint16(b)))
	}
	return out
}

// unit is half a unit in the last place of a format, relative to the value, and of its smallest numbers, absolute.
func unit(w word.Float) (relative, absolute float64) {
	switch w {
	case word.BFloat16:
		return 0x1p-8, 0x1p-134
	case word.Float16:
		return 0x1p-11, 0x1p-25
	}
	return 0x1p-24, 0x1p-149
}

// matrix makes rows of random values as a format holds them; rows 0 to 5 are special: a NaN, an infinity, zeros of both
// signs, one value everywhere, a large mean, and -Inf everywhere but the last place.
func matrix(seed uint64, w word.Float, rows, cols int) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]float64, rows*cols)
	for i := range v {
		v[i] = r.NormFloat64() * 3
	}
	row := func(k int, f func(i int) float64) {
		if k < rows {
			for i := range cols {
				v[k*cols+i] = f(i)
			}
		}
	}
	row(2, func(i int) float64 { return math.Copysign(0, float64(i%2)-0.5) })
	row(3, func(int) float64 { return -2.5 })
	row(4, func(int) float64 { return 100 + r.NormFloat64() })
	row(5, func(int) float64 { return math.Inf(-1) })
	if rows > 5 && cols > 0 {
		v[cols/2] = math.NaN()
		v[cols+cols/3] = math.Inf(1)
		v[5*cols+cols-1] = -300 // exp(0 - -300) overflows, where a sum starts at 0
	}
	return decode(w, encode(w, v))
}
