// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"errors"
	"runtime"
	"slices"
	"unsafe"

	"lathe/cuda/ptx/tensor"
	"lathe/sim/gpu/libcuda"
)

// encode has the driver encode a map of a tensor.
func (d *Driver) encode(m *tensor.Map) (out [tensor.Size]byte, err error) {
	if err := m.Check(); err != nil {
		return out, err
	}
	if d.lib.TensorMapEncodeTiled == nil {
		return out, errors.New("the driver is older than CUDA 12 and knows no maps of tensors")
	}
	steps := slices.Repeat([]uint32{1}, len(m.Dims))
	var dims, strides []uint64
	var box []uint32
	fill := int32(0)
	if m.NaN {
		fill = 1
	}
	for i, n := range m.Steps {
		steps[i] = uint32(n)
	}
	for i, n := range m.Dims {
		dims, box = append(dims, uint64(n)), append(box, uint32(m.Box[i]))
	}
	for _, s := range append(slices.Clone(m.Strides), 0) { // one more, so that a vector has a list
		strides = append(strides, uint64(s))
	}
	room := new([tensor.Size + tensor.Align]byte)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(room)
	first := -uintptr(unsafe.Pointer(room)) % tensor.Align
	to := (*libcuda.TensorMap)(unsafe.Pointer(&room[first]))
	r := d.lib.TensorMapEncodeTiled(to, int32(m.Type), uint32(len(dims)), libcuda.Address(m.Address), &dims[0],
		&strides[0], &box[0], &steps[0], 0, int32(m.Swizzle), int32(m.Promotion), fill)
	if r != libcuda.Success {
		return out, d.failed("cuTensorMapEncodeTiled", r)
	}
	return *to, nil
}
