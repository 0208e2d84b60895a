// SPDX-License-Identifier: Apache-2.0

package slow

import (
	"encoding/binary"
	"math"

	"lathe/ir/hlo"
)

// value is a tensor, row-major: an integer as the bits of its int64 (UI64 by its own bits), a float as those of its
// float64, so that what only moves elements does not care.
type value struct {
	t hlo.Type
	x []uint64
}

func blank(t hlo.Type) value { return value{t, make([]uint64, t.Len())} }

// word is an integer type.
type word struct {
	spare  uint // bits of 64 that it does not have
	signed bool
	truth  bool
}

func wordOf(d hlo.DType) word {
	return word{spare: uint(64 - d.Bits()), signed: d.IsSigned(), truth: d == hlo.I1}
}

// wrap keeps the low bits; truth values stay 1 where they are added.
func (w word) wrap(v int64) int64 {
	switch {
	case w.truth:
		if v != 0 {
			return 1
		}
		return 0
	case w.signed:
		return v << w.spare >> w.spare
	}
	return int64(uint64(v) << w.spare >> w.spare)
}

// rounded is v in a float type.
func rounded(d hlo.DType, v float64) uint64 {
	if d == hlo.F32 {
		v = float64(float32(v))
	}
	return math.Float64bits(v)
}

// decode reads an array; one element stands for all of t.
func decode(t hlo.Type, a hlo.Array) value {
	v := blank(t)
	size := t.DType.Bytes()
	w := wordOf(t.DType)
	for i := range v.x {
		at := i * size
		if len(a.Data) == size {
			at = 0
		}
		var raw uint64
		switch size {
		case 1:
			raw = uint64(a.Data[at])
		case 4:
			raw = uint64(binary.LittleEndian.Uint32(a.Data[at:]))
		case 8:
			raw = binary.LittleEndian.Uint64(a.Data[at:])
		}
		v.x[i] = widen(t.DType, w, raw)
	}
	return v
}

// widen is an element of a value from the bits that an array has.
func widen(d hlo.DType, w word, raw uint64) uint64 {
	switch {
	case d == hlo.F32:
		return math.Float64bits(float64(math.Float32frombits(uint32(raw))))
	case d == hlo.F64:
		return raw
	}
	return uint64(w.wrap(int64(raw)))
}

// narrow is the bits that an array has of an element of a value.
func narrow(d hlo.DType, x uint64) uint64 {
	if d == hlo.F32 {
		return uint64(math.Float32bits(float32(math.Float64frombits(x))))
	}
	return x
}

// encode makes an array.
func (v value) encode() hlo.Array {
	size := v.t.DType.Bytes()
	data := make([]byte, 0, size*len(v.x))
	for _, x := range v.x {
		switch raw := narrow(v.t.DType, x); size {
		case 1:
			data = append(data, byte(raw))
		case 4:
			data = binary.LittleEndian.AppendUint32(data, uint32(raw))
		case 8:
			data = binary.LittleEndian.AppendUint64(data, raw)
		}
	}
	return hlo.Array{Type: v.t, Data: data}
}

func (v value) float(i int) float64 { return math.Float64frombits(v.x[i]) }

// index is a scalar of integers that names one of n places, moved to the nearest one.
func (v value) index(i, n int) int {
	at := int64(v.x[i])
	if v.t.DType == hlo.UI64 && at < 0 {
		return n - 1
	}
	return int(min(max(at, 0), int64(n-1)))
}
