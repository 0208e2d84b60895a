// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"lathe/ir"
	"lathe/ir/format"
)

// PackValue makes the beats of one value of the given lanes. A beat of a block format carries the scale of its block
// above its elements; no beat belongs to two blocks.
func PackValue(v *ir.Tensor, lanes int) []byte {
	t, w := v.Type, v.Type.Format.Width()
	b, blocks := t.Format.(format.Block)
	if !blocks {
		return Pack(v.Codes, lanes, w)
	}
	size := (t.BeatWidth(lanes) + 7) / 8
	out := make([]byte, len(v.Codes)/lanes*size)
	for i, code := range v.Codes {
		beat := out[i/lanes*size:]
		put(beat, i%lanes*w, w, code)
		if i%lanes == 0 {
			put(beat, lanes*w, b.ScaleWidth(), v.BlockScales[t.Block(i)])
		}
	}
	return out
}

// UnpackValues takes the beats of n values of type t apart, the inverse of PackValue. A block whose beats
// carry different scales gets -1, which is no scale. It returns nil where the stream is too short.
func UnpackValues(stream []byte, t ir.Type, lanes, n int) []*ir.Tensor {
	w, size := t.Format.Width(), (t.BeatWidth(lanes)+7)/8
	beats, signed := t.Elems()/lanes, format.SignedCodes(t.Format)
	if len(stream) < n*beats*size {
		return nil
	}
	b, blocks := t.Format.(format.Block)
	values := make([]*ir.Tensor, n)
	for s := range values {
		v := &ir.Tensor{Type: t, Codes: make([]int64, t.Elems())}
		frame := stream[s*beats*size:]
		if blocks {
			v.BlockScales = make([]int64, t.Blocks())
		}
		for i := range v.Codes {
			beat := frame[i/lanes*size:]
			v.Codes[i] = get(beat, i%lanes*w, w, signed)
			if blocks && i%lanes == 0 {
				takeScale(v, i, get(beat, lanes*w, b.ScaleWidth(), false))
			}
		}
		values[s] = v
	}
	return values
}

// takeScale enters the scale that the beat of element i carries.
func takeScale(v *ir.Tensor, i int, scale int64) {
	k := v.Type.Block(i)
	if i > 0 && v.Type.Block(i-1) == k && v.BlockScales[k] != scale {
		scale = -1 // and stays so: no beat carries it
	}
	v.BlockScales[k] = scale
}
