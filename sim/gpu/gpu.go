// SPDX-License-Identifier: Apache-2.0

// Package gpu runs kernels: on a GPU through the CUDA driver, or on a CPU by interpreting their PTX. Both are a Device;
// package sim/gpu/record makes a third of any of them, which writes down what it is asked for, so that another machine
// can replay it.
package gpu

import (
	"strings"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Device holds buffers and code, and launches kernels on them. All work of a device is done in the order in which it
// was asked for; Launch and Fill may return before it is done. A device is used by one goroutine at a time. Close frees
// whatever is left.
type Device interface {
	// Name is that of the GPU, or "emulated".
	Name() string
	// Arch is "sm_90".
	Arch() string
	// Alloc returns that many bytes of unspecified content; 0 is allowed. Error L0977 when there is no room.
	Alloc(bytes int64) (Buffer, error)
	Free(b Buffer) error
	// Write copies data to the start of a buffer, Read fills into from there; both are done when they return.
	Write(to Buffer, data []byte) error
	Read(from Buffer, into []byte) error
	// Fill sets every byte of a buffer.
	Fill(b Buffer, value byte) error
	// Load makes the kernels of a program known. Error L0978 when no part of it suits the device.
	Load(p *Program) (Code, error)
	Unload(c Code) error
	// Launch runs kernels of c one after the other. Arguments name buffers by their index. A launch of a grid without
	// blocks does nothing. Errors: L0981 for a kernel that c lacks, L0982 for a launch that does not fit it, L0979 and
	// L0980 from the driver, those of package ptx from the interpreter.
	Launch(c Code, buffers []Buffer, launches ...cuda.Launch) error
	// Sync waits until everything is done, and tells of kernels that went wrong.
	Sync() error
	// MemInfo returns free and total bytes.
	MemInfo() (free, total int64, err error)
	Close() error
}

// Timer is a Device that measures.
type Timer interface {
	Device
	// Facts tells what the measurements were taken on.
	Facts() Facts
	// Copy copies the bytes of a buffer to another of the same size.
	Copy(to, from Buffer) error
	// Elapsed returns how long work took in microseconds. It is what the device was asked for after before, whose own
	// work keeps the device busy while the host asks, so that no gap of the host is measured.
	Elapsed(before, work func() error) (float64, error)
	// Capture records what work asks for, launches and fills only, without doing it.
	Capture(work func() error) (Graph, error)
}

// Graph is captured work, launched as one.
type Graph interface {
	Launch() error
	Close() error
}

// Buffer is a part of device memory.
type Buffer struct {
	Addr  uint64
	Bytes int64
}

// Slice is the part of n bytes from offset on; both are the caller's to keep inside of b.
func (b Buffer) Slice(offset, n int64) Buffer { return Buffer{Addr: b.Addr + uint64(offset), Bytes: n} }

// Code is a loaded program.
type Code interface {
	// Image says what was loaded: "cubin sm_90a", "PTX sm_80".
	Image() string
	// Kernels are those of the program, in its order.
	Kernels() []Kernel
}

// Kernel is what a device knows of a kernel. What an emulated device cannot know is 0.
type Kernel struct {
	Name   string
	Params []int // sizes in bytes
	// Threads is the most that a block can have; Shared is static shared memory in bytes; Local is what a thread spills.
	Threads, Shared, Registers, Local int
}

// addresses are those of buffers.
func addresses(buffers []Buffer) []uint64 {
	out := make([]uint64, len(buffers))
	for i, b := range buffers {
		out[i] = b.Addr
	}
	return out
}

// inside says whether the first n bytes of part lie in one of the buffers that a device has given out.
func inside(given []Buffer, part Buffer, n int) bool {
	for _, b := range given {
		if part.Addr >= b.Addr && part.Addr-b.Addr <= uint64(b.Bytes) && int64(n) <= b.Bytes-int64(part.Addr-b.Addr) {
			return int64(n) <= part.Bytes
		}
	}
	return false
}

// find returns the kernel of a launch once the launch fits it: its arguments, its block, and shared memory up to limit
// bytes a block. Errors L0981, L0982.
func find(kernels []Kernel, l *cuda.Launch, limit int) (int, error) {
	at := -1
	var names []string
	for i, k := range kernels {
		if names = append(names, k.Name); k.Name == l.Kernel {
			at = i
		}
	}
	if at < 0 {
		err := diag.New(diag.UnknownLaunch, "", "no kernel %q in the program", l.Kernel).
			WithHint("it has %s", strings.Join(names, ", "))
		if near := diag.Nearest(l.Kernel, names); near != "" {
			err = err.WithHint("did you mean %s?", near)
		}
		return 0, err
	}
	k := &kernels[at]
	refuse := func(msg string, args ...any) (int, error) {
		return 0, diag.New(diag.GPULaunch, "kernel "+k.Name, msg, args...).
			WithHint("it takes arguments of %v bytes, and up to %d threads a block", k.Params, k.Threads)
	}
	if len(l.Args) != len(k.Params) {
		return refuse("takes %d arguments, the launch has %d", len(k.Params), len(l.Args))
	}
	for i, a := range l.Args {
		if a.Size != k.Params[i] {
			return refuse("argument %d has %d bytes, the launch gives %d", i, k.Params[i], a.Size)
		}
	}
	threads := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
	if threads == 0 || threads > uint64(k.Threads) {
		return refuse("takes 1 to %d threads a block, the launch has %d", k.Threads, threads)
	}
	if n := int(l.Shared) + k.Shared; n > limit {
		return refuse("needs %d bytes of shared memory a block, the device has %d", n, limit)
	}
	if l.Grid[0] > 1<<31-1 || l.Grid[1] > cuda.MaxGridY || l.Grid[2] > cuda.MaxGridY {
		return refuse("no GPU has a grid of %d x %d x %d blocks", l.Grid[0], l.Grid[1], l.Grid[2])
	}
	return at, nil
}

// empty says whether a launch has no blocks.
func empty(l *cuda.Launch) bool { return l.Grid[0] == 0 || l.Grid[1] == 0 || l.Grid[2] == 0 }
