// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"encoding/binary"
	"math"

	"lathe/emit/cuda/kernel"
	"lathe/ir"
)

// Encode writes values, one a sample, as the buffers of the port hold them; scales is nil for scalar formats.
func (p Port) Encode(values []*ir.Tensor) (codes, scales []byte) {
	for _, v := range values {
		for _, x := range v.Floats {
			codes = binary.LittleEndian.AppendUint32(codes, math.Float32bits(x))
		}
		codes = appendWords(codes, p.Store, v.Codes)
		scales = appendWords(scales, p.ScaleStore, v.BlockScales)
	}
	return codes, scales
}

func appendWords(to []byte, t kernel.Type, values []int64) []byte {
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

// Decode is the inverse of Encode for a number of samples.
func (p Port) Decode(codes, scales []byte, samples int) []*ir.Tensor {
	out := make([]*ir.Tensor, samples)
	size := p.Store.Bytes()
	for s := range out {
		v := ir.NewTensor(p.Node.Type)
		for i := range v.Floats {
			v.Floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(codes))
			codes = codes[size:]
		}
		for i := range v.Codes {
			v.Codes[i] = word64(codes, p.Store)
			codes = codes[size:]
		}
		for i := range v.BlockScales {
			v.BlockScales[i] = word64(scales, p.ScaleStore)
			scales = scales[p.ScaleStore.Bytes():]
		}
		out[s] = v
	}
	return out
}

// word64 reads an element of type t.
func word64(b []byte, t kernel.Type) int64 {
	switch t {
	case kernel.I8:
		return int64(int8(b[0]))
	case kernel.U8:
		return int64(b[0])
	case kernel.I16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case kernel.U16:
		return int64(binary.LittleEndian.Uint16(b))
	case kernel.I32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case kernel.U32:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b))
}
