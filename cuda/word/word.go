// SPDX-License-Identifier: Apache-2.0

// Package word names what lies in device memory: integers and floats in little endian.
package word

import "encoding/binary"

// Type is the type of a value in memory, by its name in the text of kernels.
type Type string

// The types. The last two are floats of 16 bits, which a kernel holds as the word U16.
const (
	Bool Type = "bool"
	I8   Type = "i8"
	I16  Type = "i16"
	I32  Type = "i32"
	I64  Type = "i64"
	U8   Type = "u8"
	U16  Type = "u16"
	U32  Type = "u32"
	U64  Type = "u64"
	F32  Type = "f32"
	F64  Type = "f64"
	BF16 Type = "bf16"
	F16  Type = "f16"
)

// For is the smallest integer of at least the given bits. Codes of more than 32 bits are raw bits in I64.
func For(bits int, signed bool) Type {
	switch {
	case bits > 32:
		return I64
	case bits > 16 && signed:
		return I32
	case bits > 16:
		return U32
	case bits > 8 && signed:
		return I16
	case bits > 8:
		return U16
	case signed:
		return I8
	}
	return U8
}

// Bytes is the size of a value.
func (t Type) Bytes() int {
	switch t {
	case Bool, I8, U8:
		return 1
	case I16, U16, BF16, F16:
		return 2
	case I32, U32, F32:
		return 4
	}
	return 8
}

// IsFloat reports the floats.
func (t Type) IsFloat() bool { return t == F32 || t == F64 || t == BF16 || t == F16 }

// IsSigned reports the signed integers.
func (t Type) IsSigned() bool { return t == I8 || t == I16 || t == I32 || t == I64 }

// Append writes the low bytes of values.
func (t Type) Append(to []byte, values ...int64) []byte {
	for _, v := range values {
		switch t.Bytes() {
		case 1:
			to = append(to, byte(v))
		case 2:
			to = binary.LittleEndian.AppendUint16(to, uint16(v))
		case 4:
			to = binary.LittleEndian.AppendUint32(to, uint32(v))
		default:
			to = binary.LittleEndian.AppendUint64(to, uint64(v))
		}
	}
	return to
}

// Read is the integer at the start of b, sign-extended where the type is signed; of a float its bits.
func (t Type) Read(b []byte) int64 {
	v := uint64(0)
	for i := range t.Bytes() {
		v |= uint64(b[i]) << (8 * i)
	}
	if n := 64 - 8*t.Bytes(); t.IsSigned() {
		return int64(v<<n) >> n
	}
	return int64(v)
}

// Float is a float that kernels compute on, by the number that their parameters have for it.
type Float int

// The floats.
const (
	Float32 Float = iota
	BFloat16
	Float16
)

// Type is how it lies in memory.
func (f Float) Type() Type { return [...]Type{F32, BF16, F16}[f] }

// String is the name of its type.
func (f Float) String() string { return string(f.Type()) }
