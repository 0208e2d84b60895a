// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/binary"

	"lathe/ir"
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
