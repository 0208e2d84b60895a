// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"slices"
	"unsafe"

	"lathe/internal/diag"
	"lathe/sim/gpu/libcuda"
)

// Alloc reserves device memory; of 0 bytes it reserves one, so that every buffer has an address of its own.
func (d *Driver) Alloc(bytes int64) (Buffer, error) {
	leave, err := d.enter()
	if err != nil {
		return Buffer{}, err
	}
	defer leave()
	var a libcuda.Address
	switch r := d.lib.MemAlloc(&a, uint64(max(bytes, 1))); {
	case r == libcuda.OutOfMemory:
		return Buffer{}, d.full(bytes)
	case r != libcuda.Success:
		return Buffer{}, d.failed("cuMemAlloc_v2", r)
	}
	b := Buffer{Addr: uint64(a), Bytes: bytes}
	d.buffers = append(d.buffers, b)
	return b, nil
}

// full is the error of an allocation that does not fit.
func (d *Driver) full(bytes int64) error {
	const hint = "end other programs on the GPU, or take one with more memory"
	var free, total uint64
	if r := d.lib.MemGetInfo(&free, &total); r != libcuda.Success {
		return diag.New(diag.GPUMemory, d.facts.GPU, "out of device memory: %d bytes needed", bytes).WithHint(hint)
	}
	return diag.New(diag.GPUMemory, d.facts.GPU, "out of device memory: %d bytes needed, %d of %d free", bytes, free,
		total).
		WithHint(hint)
}

// Free gives a buffer back.
func (d *Driver) Free(b Buffer) error {
	at := slices.Index(d.buffers, b)
	if at < 0 {
		return stray(d, "free", b)
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if r := d.lib.MemFree(libcuda.Address(b.Addr)); r != libcuda.Success {
		return d.failed("cuMemFree_v2", r, d.pending...)
	}
	d.buffers = slices.Delete(d.buffers, at, at+1)
	return nil
}

// stray is the error of a buffer that the device has not given out, or that is too short.
func stray(d Device, what string, b Buffer) error {
	return foreign(d.Name(), "%s: %d bytes at %#x are not in a buffer of this device", what, b.Bytes,
		b.Addr)
}

// foreign is the error of something that does not belong to a device.
func foreign(device, msg string, args ...any) error {
	return diag.New(diag.ForeignBuffer, device, msg, args...).
		WithHint("buffers, programs and graphs are those of the device that gave them, until they are given back")
}

// Write copies data to a buffer by way of pinned memory.
func (d *Driver) Write(to Buffer, data []byte) error {
	if !inside(d.buffers, to, len(data)) {
		return stray(d, "write", Buffer{to.Addr, int64(len(data))})
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	room := unsafe.Slice((*byte)(d.staging), d.options.Staging)
	for at := libcuda.Address(to.Addr); len(data) > 0; {
		n := copy(room, data)
		if r := d.lib.MemcpyHtoDAsync(at, d.staging, uint64(n), d.stream); r != libcuda.Success {
			return d.failed("cuMemcpyHtoDAsync_v2", r, d.pending...)
		}
		if err := d.wait(); err != nil {
			return err
		}
		at, data = at+libcuda.Address(n), data[n:]
	}
	return nil
}

// Read copies the content of a buffer by way of pinned memory.
func (d *Driver) Read(from Buffer, into []byte) error {
	if !inside(d.buffers, from, len(into)) {
		return stray(d, "read", Buffer{from.Addr, int64(len(into))})
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	room := unsafe.Slice((*byte)(d.staging), d.options.Staging)
	for at := libcuda.Address(from.Addr); len(into) > 0; {
		n := min(len(into), len(room))
		if r := d.lib.MemcpyDtoHAsync(d.staging, at, uint64(n), d.stream); r != libcuda.Success {
			return d.failed("cuMemcpyDtoHAsync_v2", r, d.pending...)
		}
		if err := d.wait(); err != nil {
			return err
		}
		copy(into, room[:n])
		at, into = at+libcuda.Address(n), into[n:]
	}
	return nil
}

// Fill sets the bytes of a buffer, in order with launches.
func (d *Driver) Fill(b Buffer, value byte) error {
	if !inside(d.buffers, b, int(b.Bytes)) {
		return stray(d, "fill", b)
	}
	if b.Bytes == 0 {
		return nil
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	at, words := libcuda.Address(b.Addr), uint64(b.Bytes)/4
	if b.Addr%4 == 0 && b.Bytes%4 == 0 { // four bytes at a time reach the bandwidth of the memory
		if r := d.lib.MemsetD32Async(at, 0x01010101*uint32(value), words, d.stream); r != libcuda.Success {
			return d.failed("cuMemsetD32Async", r, d.pending...)
		}
		return nil
	}
	if r := d.lib.MemsetD8Async(at, value, uint64(b.Bytes), d.stream); r != libcuda.Success {
		return d.failed("cuMemsetD8Async", r, d.pending...)
	}
	return nil
}

// Copy copies a buffer to another one of the device, in order with launches.
func (d *Driver) Copy(to, from Buffer) error {
	if !inside(d.buffers, to, int(from.Bytes)) || !inside(d.buffers, from, int(from.Bytes)) {
		return stray(d, "copy", from)
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	r := d.lib.MemcpyDtoDAsync(libcuda.Address(to.Addr), libcuda.Address(from.Addr), uint64(from.Bytes), d.stream)
	if r != libcuda.Success {
		return d.failed("cuMemcpyDtoDAsync_v2", r, d.pending...)
	}
	return nil
}

// MemInfo returns free and total bytes of device memory.
func (d *Driver) MemInfo() (free, total int64, err error) {
	leave, err := d.enter()
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	var f, t uint64
	if r := d.lib.MemGetInfo(&f, &t); r != libcuda.Success {
		return 0, 0, d.failed("cuMemGetInfo_v2", r, d.pending...)
	}
	return int64(f), int64(t), nil
}

// Sync waits for all work.
func (d *Driver) Sync() error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.wait()
}

// wait is Sync inside of enter.
func (d *Driver) wait() error {
	if r := d.lib.StreamSynchronize(d.stream); r != libcuda.Success {
		return d.failed("cuStreamSynchronize", r, d.pending...)
	}
	d.pending = d.pending[:0]
	return nil
}
