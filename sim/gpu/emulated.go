// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"errors"
	"slices"

	"lathe/cuda"
	"lathe/cuda/ptx"
	"lathe/internal/diag"
	"lathe/internal/memory"
)

// EmulatedOptions say how kernels are interpreted. Options are those of the interpreter: schedule, seed, copies, races,
// workers, and the channel that ends a launch, which then returns context.Canceled.
type EmulatedOptions struct {
	ptx.Options
	// Memory is the size of the device's memory in bytes; if 0, half of what this machine has free, up to 32 GiB.
	Memory int64
}

// Emulation is a device that interprets the PTX of its programs on the CPU. Outputs start poisoned, buffers lie far
// apart, and an access outside of them is an error of the launch. Its arithmetic is an ideal: integer results are those
// of every GPU, those of floating-point tensor cores and approximate functions may differ from them in the last bits.
type Emulation struct {
	machine *ptx.Machine
	memory  int64
	buffers []Buffer
	codes   []*emulatedCode
}

type emulatedCode struct {
	image   string
	module  *ptx.Module
	kernels []Kernel
}

// Image says what is interpreted.
func (c *emulatedCode) Image() string { return c.image }

// Kernels are those of the program.
func (c *emulatedCode) Kernels() []Kernel { return c.kernels }

// Emulated returns an emulated device.
func Emulated(o EmulatedOptions) *Emulation {
	if o.Memory == 0 {
		o.Memory = emulatedMemory(memory.Free("/"))
	}
	return &Emulation{machine: ptx.NewMachine(o.Options), memory: o.Memory}
}

// EmulatedName is the name of every emulated device.
const EmulatedName = "emulated"

// Name is EmulatedName.
func (e *Emulation) Name() string { return EmulatedName }

// Arch is the target of the PTX that is interpreted.
func (e *Emulation) Arch() string { return "sm_80" }

// Alloc makes a buffer of bytes 0xFF.
func (e *Emulation) Alloc(bytes int64) (Buffer, error) {
	free, total, _ := e.MemInfo() // does not fail
	if bytes > free {
		return Buffer{}, diag.New(diag.GPUMemory, e.Name(), "out of device memory: %d bytes needed, %d of %d free", bytes,
			free,
			total).WithHint("a GPU, or a machine with more free memory, may have room")
	}
	at, err := e.machine.Alloc(bytes, ptx.AllocOptions{})
	if err != nil {
		return Buffer{}, err
	}
	b := Buffer{Addr: at, Bytes: bytes}
	e.buffers = append(e.buffers, b)
	return b, nil
}

// Free gives a buffer back.
func (e *Emulation) Free(b Buffer) error {
	at := slices.Index(e.buffers, b)
	if at < 0 {
		return stray(e, "free", b)
	}
	e.buffers = slices.Delete(e.buffers, at, at+1)
	return e.machine.Free(b.Addr)
}

// Write copies data to a buffer.
func (e *Emulation) Write(to Buffer, data []byte) error {
	if !inside(e.buffers, to, len(data)) {
		return stray(e, "write", Buffer{to.Addr, int64(len(data))})
	}
	if len(data) == 0 {
		return nil
	}
	return e.machine.Write(to.Addr, data)
}

// Read copies the content of a buffer.
func (e *Emulation) Read(from Buffer, into []byte) error {
	if !inside(e.buffers, from, len(into)) {
		return stray(e, "read", Buffer{from.Addr, int64(len(into))})
	}
	if len(into) == 0 {
		return nil
	}
	return e.machine.Read(from.Addr, into)
}

// Fill sets the bytes of a buffer.
func (e *Emulation) Fill(b Buffer, value byte) error {
	const chunk = 1 << 20
	for at := int64(0); at < b.Bytes; at += chunk {
		part := b.Slice(at, min(chunk, b.Bytes-at))
		if err := e.Write(part, slices.Repeat([]byte{value}, int(part.Bytes))); err != nil {
			return err
		}
	}
	return nil
}

// Load parses the PTX of a program.
func (e *Emulation) Load(p *Program) (Code, error) {
	kernels, err := Signatures(p.Name, p.PTX)
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse(p.Name, p.PTX)
	if err != nil {
		return nil, err
	}
	for i := range kernels {
		if k := m.Kernel(kernels[i].Name); k != nil {
			kernels[i].Shared = int(k.Static)
		}
	}
	c := &emulatedCode{image: "PTX " + target(p.PTX), module: m, kernels: kernels}
	e.codes = append(e.codes, c)
	return c, nil
}

// Unload forgets code and its variables.
func (e *Emulation) Unload(c Code) error {
	at := slices.IndexFunc(e.codes, func(have *emulatedCode) bool { return Code(have) == c })
	if at < 0 {
		return foreign(e.Name(), "unload: code that this device has not loaded")
	}
	code := e.codes[at]
	e.codes = slices.Delete(e.codes, at, at+1)
	return e.machine.Unload(code.module)
}

// Launch interprets kernels, and returns when they are done.
func (e *Emulation) Launch(c Code, buffers []Buffer, launches ...cuda.Launch) error {
	code, ok := c.(*emulatedCode)
	if !ok || !slices.Contains(e.codes, code) {
		return foreign(e.Name(), "launch: code that this device has not loaded")
	}
	at := addresses(buffers)
	for i := range launches {
		l := &launches[i]
		if _, err := find(code.kernels, l, ptx.MaxShared); err != nil {
			return err
		}
		if empty(l) {
			continue
		}
		packed, err := l.Pack(at)
		if err != nil {
			return err
		}
		if _, err := e.machine.Launch(code.module.Kernel(l.Kernel), l.Grid, l.Block, l.Shared, packed); err != nil {
			return err
		}
	}
	return nil
}

// Sync has nothing to wait for.
func (e *Emulation) Sync() error { return nil }

// MemInfo counts the bytes of the buffers.
func (e *Emulation) MemInfo() (free, total int64, err error) {
	free = e.memory
	for _, b := range e.buffers {
		free -= b.Bytes
	}
	return free, e.memory, nil
}

// Close forgets everything.
func (e *Emulation) Close() error {
	var first error
	for _, b := range e.buffers {
		if err := e.machine.Free(b.Addr); first == nil {
			first = err
		}
	}
	for _, c := range e.codes {
		if err := e.machine.Unload(c.module); first == nil {
			first = err
		}
	}
	e.buffers, e.codes = nil, nil
	return first
}

// Choose opens a GPU, or else the emulated device; then note is one line that says so and why.
func Choose(o DriverOptions, e EmulatedOptions) (d Device, note string, err error) {
	driver, err := OpenDriver(o)
	if err == nil {
		return driver, "", nil
	}
	var why *diag.Error
	if !errors.As(err, &why) || why.Code != diag.NoGPU && why.Code != diag.OldDriver {
		return nil, "", err
	}
	return Emulated(e), "no GPU (" + why.Msg + "): the kernels run on the emulated device", nil
}
