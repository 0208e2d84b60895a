// SPDX-License-Identifier: Apache-2.0

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"unsafe"

	"lathe/cuda/ptx/tensor"
)

//export cuTensorMapEncodeTiled
func cuTensorMapEncodeTiled(to unsafe.Pointer, kind C.int, rank C.uint, address C.uint64_t, dims, strides *C.uint64_t,
	box, steps *C.uint32_t, interleave, swizzle, promotion, fill C.int) C.int {
	if to == nil || uintptr(to)%tensor.Align != 0 || rank < 1 || rank > tensor.MaxRank {
		return invalidValue
	}
	m := tensor.Map{Type: tensor.Type(kind), Address: uint64(address), Swizzle: tensor.Swizzle(swizzle), NaN: fill != 0,
		Interleave: uint8(interleave), Promotion: uint8(promotion)}
	for i := range int(rank) {
		m.Dims = append(m.Dims, int64(unsafe.Slice(dims, rank)[i]))
		m.Box = append(m.Box, int64(unsafe.Slice(box, rank)[i]))
		m.Steps = append(m.Steps, int64(unsafe.Slice(steps, rank)[i]))
		if i > 0 {
			m.Strides = append(m.Strides, int64(unsafe.Slice(strides, rank-1)[i-1]))
		}
	}
	words, err := m.Encode()
	if err != nil {
		say("%v", err)
		return invalidValue
	}
	copy(unsafe.Slice((*byte)(to), tensor.Size), words[:])
	return success
}
