// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"lathe/ir/format"
)

// DType is the storage type of a blob.
type DType string

// Storage types. Codes of quantized constants use the narrowest signed integer that holds them.
const (
	F32 DType = "f32"
	F64 DType = "f64"
	F16 DType = "f16"
	BF  DType = "bf16"
	I8  DType = "i8"
	I16 DType = "i16"
	I32 DType = "i32"
	I64 DType = "i64"
	U8  DType = "u8"
	U16 DType = "u16"
	U32 DType = "u32"
	U64 DType = "u64"
	B1  DType = "bool"
)

// Size is the bytes of one element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case I8, U8, B1:
		return 1
	case F16, BF, I16, U16:
		return 2
	case F32, I32, U32:
		return 4
	case F64, I64, U64:
		return 8
	}
	return 0
}

// Blob is constant data, little-endian and row-major: often a view of a mapped file, never written to.
type Blob struct {
	DType DType
	Bytes []byte

	once   sync.Once
	digest string
	kept   sync.Map
}

// Keep is what made gives, which is called for the first of a key: a place beside the data for what is computed of them
// many times.
func (b *Blob) Keep(key any, made func() any) any {
	if v, known := b.kept.Load(key); known {
		return v
	}
	v, _ := b.kept.LoadOrStore(key, made())
	return v
}

// Len is the number of elements.
func (b *Blob) Len() int { return len(b.Bytes) / b.DType.Size() }

// Digest is "sha256:" and the hash of type and bytes. It is computed when first asked for: hashing every weight at
// import would cost more than the import.
func (b *Blob) Digest() string {
	b.once.Do(func() {
		h := sha256.New()
		h.Write([]byte(b.DType))
		h.Write([]byte{0})
		h.Write(b.Bytes)
		b.digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	})
	return b.digest
}

// FloatBlob stores values as f32.
func FloatBlob(values []float32) *Blob {
	bytes := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(bytes[4*i:], math.Float32bits(v))
	}
	return &Blob{DType: F32, Bytes: bytes}
}

// Halves is the blob with elements rounded to h, a float of 16 bits, and stored so.
func (b *Blob) Halves(h format.Half) *Blob {
	to, values := StoredAs(h), b.Floats()
	if b.DType == to {
		return b
	}
	bytes := make([]byte, 0, 2*len(values))
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint16(bytes, h.Bits(v))
	}
	return &Blob{DType: to, Bytes: bytes}
}

// DoubleBlob stores values as f64.
func DoubleBlob(values []float64) *Blob {
	bytes := make([]byte, 8*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint64(bytes[8*i:], math.Float64bits(v))
	}
	return &Blob{DType: F64, Bytes: bytes}
}

// CodeBlob stores integer codes in the narrowest of i8, i16, i32, i64 that holds them all.
func CodeBlob(codes []int64) *Blob {
	d := I8
	var wide int64 // a bit is set where some code differs from its sign there
	for _, c := range codes {
		wide |= c ^ c>>63
	}
	switch {
	case wide>>31 != 0:
		d = I64
	case wide>>15 != 0:
		d = I32
	case wide>>7 != 0:
		d = I16
	}
	bytes := make([]byte, len(codes)*d.Size())
	for i, c := range codes {
		switch d {
		case I8:
			bytes[i] = byte(c)
		case I16:
			binary.LittleEndian.PutUint16(bytes[2*i:], uint16(c))
		case I32:
			binary.LittleEndian.PutUint32(bytes[4*i:], uint32(c))
		default:
			binary.LittleEndian.PutUint64(bytes[8*i:], uint64(c))
		}
	}
	return &Blob{DType: d, Bytes: bytes}
}

// Ints reads integer (or bool) elements as int64; a float blob is an error.
func (b *Blob) Ints() ([]int64, error) {
	out := make([]int64, b.Len())
	return out, b.IntsAt(out, 0)
}

// IntsAt is Ints of the elements from from on, as many as out holds.
func (b *Blob) IntsAt(out []int64, from int) error {
	le := binary.LittleEndian
	data := b.Bytes[from*b.DType.Size():]
	if b.DType == I8 { // most weights
		for i, v := range data[:len(out)] {
			out[i] = int64(int8(v))
		}
		return nil
	}
	for i := range out {
		p := data[i*b.DType.Size():]
		switch b.DType {
		case U8:
			out[i] = int64(p[0])
		case B1:
			out[i] = int64(min(p[0], 1)) // any other byte is true, too
		case I16:
			out[i] = int64(int16(le.Uint16(p)))
		case U16:
			out[i] = int64(le.Uint16(p))
		case I32:
			out[i] = int64(int32(le.Uint32(p)))
		case U32:
			out[i] = int64(le.Uint32(p))
		case I64, U64:
			out[i] = int64(le.Uint64(p))
		default:
			return fmt.Errorf("data of type %s where integers are needed", b.DType)
		}
	}
	return nil
}

// Floats reads the elements as float32; wider types are rounded to nearest even.
func (b *Blob) Floats() []float32 {
	out := make([]float32, b.Len())
	b.FloatsAt(out, 0)
	return out
}

// FloatsAt is Floats of the elements from from on, as many as out holds.
func (b *Blob) FloatsAt(out []float32, from int) {
	size, le := b.DType.Size(), binary.LittleEndian
	data := b.Bytes[size*from:][:size*len(out)]
	switch b.DType {
	case F32:
		for i := range out {
			out[i] = math.Float32frombits(le.Uint32(data[4*i:]))
		}
	case BF, F16:
		h, _ := HalfOf(b.DType)
		for i := range out {
			out[i] = h.Value(le.Uint16(data[2*i:]))
		}
	case F64:
		for i := range out {
			out[i] = float32(math.Float64frombits(le.Uint64(data[8*i:])))
		}
	case U64:
		for i := range out {
			out[i] = float32(le.Uint64(data[8*i:]))
		}
	default:
		ints := make([]int64, min(len(out), 1<<12))
		for at := 0; at < len(out); at += len(ints) {
			part := ints[:min(len(ints), len(out)-at)]
			if b.IntsAt(part, from+at) != nil { // an unknown type
				return
			}
			for i, v := range part {
				out[at+i] = float32(v)
			}
		}
	}
}

// FloatBytes are the elements as float32 in little-endian bytes: those of the blob where it holds such.
func (b *Blob) FloatBytes() []byte {
	if b.DType == F32 {
		return b.Bytes
	}
	out, part := make([]byte, 0, 4*b.Len()), make([]float32, 1<<12)
	for at := 0; at < b.Len(); at += len(part) {
		part = part[:min(len(part), b.Len()-at)]
		b.FloatsAt(part, at)
		for _, v := range part {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out
}

// Floats64 reads the elements as float64: exactly, but for integers beyond 53 bits.
func (b *Blob) Floats64() []float64 {
	out := make([]float64, b.Len())
	if b.DType == F64 {
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b.Bytes[8*i:]))
		}
		return out
	}
	if ints, err := b.Ints(); err == nil {
		for i, v := range ints {
			out[i] = float64(v)
		}
		return out
	}
	for i, v := range b.Floats() {
		out[i] = float64(v)
	}
	return out
}

// sameKey is where a blob keeps what Node.Uniform says of it.
type sameKey struct{}

// same is the number that all elements have.
type same struct {
	v  float64
	ok bool
}

// same compares the elements as they are stored.
func (b *Blob) same() same {
	size := b.DType.Size()
	if size == 0 || len(b.Bytes) < size {
		return same{}
	}
	first := b.Bytes[:size]
	for at := size; at < len(b.Bytes); at += size {
		if !bytes.Equal(b.Bytes[at:at+size], first) {
			return same{}
		}
	}
	return same{v: (&Blob{DType: b.DType, Bytes: first}).Floats64()[0], ok: true}
}

// Tensor reads the blob as a value of type t.
func (b *Blob) Tensor(t Type) (*Tensor, error) {
	if b.Len() != t.Elems() {
		return nil, fmt.Errorf("constant has %d elements, its shape %s needs %d", b.Len(), ShapeString(t.Shape), t.Elems())
	}
	if format.IsFloat(t.Format) {
		return &Tensor{Type: t, Floats: b.Floats()}, nil
	}
	codes, err := b.Ints()
	if err != nil {
		return nil, err
	}
	v := &Tensor{Type: t, Codes: codes}
	if _, block := t.BlockFormat(); block {
		v.BlockScales, err = t.blockScales()
	}
	return v, err
}
