// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/binary"

	"lathe/ir"
	"lathe/ir/format"
)

// blob stores a value of a float graph in the storage type of its format.
func blob(t *ir.Tensor) *ir.Blob {
	if t.Type.IsFloat() {
		return ir.FloatBlob(t.Floats)
	}
	return IntBlob(ir.StoredAs(t.Type.Format), t.Codes)
}

// IntBlob stores whole numbers in the given storage type, modulo its size.
func IntBlob(d ir.DType, values []int64) *ir.Blob {
	size := d.Size()
	bytes := make([]byte, size*len(values))
	var word [8]byte
	for i, v := range values {
		binary.LittleEndian.PutUint64(word[:], uint64(v))
		copy(bytes[i*size:(i+1)*size], word[:])
	}
	return &ir.Blob{DType: d, Bytes: bytes}
}

// PadValue is v as the constant of op.Pad for x, which is a float32; ok is false where whole numbers would be padded by
// another number. The bounds of a format can be had, although float32 rounds them: they saturate.
func PadValue(x *ir.Node, v float64) (value float32, ok bool) {
	value = float32(v)
	f := x.Type.Format
	return value, x.Type.IsFloat() || f.Encode(format.FromFloat32(value)) == f.Encode(format.FromFloat64(v))
}
