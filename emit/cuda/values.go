// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"encoding/binary"
	"math"

	"lathe/ir"
)

// Encode writes values, one a sample, as the buffers of the port hold them; scales is nil for scalar formats.
func (p Port) Encode(values []*ir.Tensor) (codes, scales []byte) {
	for _, v := range values {
		half, isHalf := p.Node.Type.Half()
		for _, x := range v.Floats {
			if isHalf {
				codes = binary.LittleEndian.AppendUint16(codes, half.Bits(x))
				continue
			}
			codes = binary.LittleEndian.AppendUint32(codes, math.Float32bits(x))
		}
		codes = p.Store.Append(codes, v.Codes...)
		scales = p.ScaleStore.Append(scales, v.BlockScales...)
	}
	return codes, scales
}

// Decode is the inverse of Encode for a number of samples.
func (p Port) Decode(codes, scales []byte, samples int) []*ir.Tensor {
	out := make([]*ir.Tensor, samples)
	size := p.Store.Bytes()
	for s := range out {
		v := ir.NewTensor(p.Node.Type)
		half, isHalf := p.Node.Type.Half()
		for i := range v.Floats {
			if isHalf {
				v.Floats[i] = half.Value(binary.LittleEndian.Uint16(codes))
			} else {
				v.Floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(codes))
			}
			codes = codes[size:]
		}
		for i := range v.Codes {
			v.Codes[i] = p.Store.Read(codes)
			codes = codes[size:]
		}
		for i := range v.BlockScales {
			v.BlockScales[i] = p.ScaleStore.Read(scales)
			scales = scales[p.ScaleStore.Bytes():]
		}
		out[s] = v
	}
	return out
}
