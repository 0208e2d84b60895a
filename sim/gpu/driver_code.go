// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/sim/gpu/libcuda"
)

// jitLog is the room for what the driver's assembler has to say.
const jitLog = 16 << 10

// plainShared is the dynamic shared memory that a kernel may use without being asked for.
const plainShared = 48 << 10

type driverCode struct {
	image     string
	module    libcuda.Module
	kernels   []Kernel
	functions []libcuda.Function
	allowed   []int // dynamic shared memory that was asked for
}

// Image says what was loaded.
func (c *driverCode) Image() string { return c.image }

// Kernels are those of the program.
func (c *driverCode) Kernels() []Kernel { return c.kernels }

// Load tries the images of a program that suit the GPU, best first: a driver may be too old for some.
func (d *Driver) Load(p *Program) (Code, error) {
	kernels, err := Signatures(p.Name, p.PTX)
	if err != nil {
		return nil, err
	}
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	var refusals []string
	for _, img := range p.images(d.facts.Arch) {
		m, r, log := d.module(img)
		switch r {
		case libcuda.Success:
			c := &driverCode{image: img.name, module: m, kernels: kernels}
			d.codes = append(d.codes, c)
			if err := d.inspect(p, c); err != nil {
				if r := d.lib.ModuleUnload(m); r == libcuda.Success { // else Close tries again
					d.codes = d.codes[:len(d.codes)-1]
				}
				return nil, err
			}
			return c, nil
		case libcuda.NoBinary, libcuda.InvalidPTX, libcuda.NewerPTX:
			refusals = append(refusals, img.name+": "+d.describe(r)+log)
		default:
			return nil, d.failed("cuModuleLoadDataEx", r)
		}
	}
	if len(refusals) == 0 {
		refusals = []string{"nothing for it"}
	}
	return nil, diag.New(diag.NoBinary, p.Name, "no code for %s, which is %s with a driver of %s: it has %s (%s)",
		d.facts.GPU,
		d.facts.Arch, d.facts.Driver, p.holds(), strings.Join(refusals, "; ")).
		WithHint("compile for %s too; kernels need sm_80 or later", d.facts.Arch)
}

// module gives an image to the driver; log is the first line of what its assembler says.
func (d *Driver) module(img image) (m libcuda.Module, r libcuda.Result, log string) {
	var pin runtime.Pinner
	defer pin.Unpin()
	text := make([]byte, jitLog)
	pin.Pin(&text[0])
	pin.Pin(&img.data[0])
	options := []libcuda.JITOption{libcuda.ErrorLog, libcuda.ErrorSize}
	values := []uintptr{uintptr(unsafe.Pointer(&text[0])), uintptr(len(text))}
	n := uint32(0)
	if img.text { // a cubin is not assembled
		n = uint32(len(options))
	}
	r = d.lib.ModuleLoadDataEx(&m, unsafe.Pointer(&img.data[0]), n, &options[0], &values[0])
	line, _, _ := bytes.Cut(bytes.TrimRight(text, "\x00"), []byte("\n"))
	if line, _, _ = bytes.Cut(line, []byte{0}); len(line) > 0 {
		log = ", " + string(line)
	}
	return m, r, log
}

// inspect finds the kernels of loaded code and reads what they use.
func (d *Driver) inspect(p *Program, c *driverCode) error {
	listed := c.kernels
	c.kernels = nil
	for _, k := range listed {
		var f libcuda.Function
		r := d.lib.ModuleGetFunction(&f, c.module, libcuda.CString(k.Name))
		if r == libcuda.NotFound { // a kernel that this architecture does not have
			continue
		}
		if r != libcuda.Success {
			return d.failed("cuModuleGetFunction", r, k.Name)
		}
		for _, a := range []struct {
			attribute libcuda.FunctionAttribute
			into      *int
		}{
			{libcuda.KernelThreads, &k.Threads}, {libcuda.KernelShared, &k.Shared},
			{libcuda.KernelRegisters, &k.Registers}, {libcuda.KernelLocal, &k.Local},
		} {
			var v int32
			if r := d.lib.FuncGetAttribute(&v, a.attribute, f); r != libcuda.Success {
				return d.failed("cuFuncGetAttribute", r, k.Name)
			}
			*a.into = int(v)
		}
		if k.Local > 0 && d.options.RefuseLocal {
			return diag.New(diag.LocalMemory, p.Name, "kernel %s of %s uses %d bytes of local memory a thread", k.Name, c.image,
				k.Local).WithHint("smaller tiles, or more registers a thread, keep its values in registers")
		}
		c.kernels = append(c.kernels, k)
		c.functions = append(c.functions, f)
		c.allowed = append(c.allowed, plainShared-k.Shared)
	}
	if len(c.kernels) == 0 {
		return diag.New(diag.NoBinary, p.Name, "%s holds none of the kernels that the PTX has", c.image).
			WithHint("compile both from one source")
	}
	return nil
}

// Unload forgets code.
func (d *Driver) Unload(c Code) error {
	at := slices.IndexFunc(d.codes, func(have *driverCode) bool { return Code(have) == c })
	if at < 0 {
		return foreign(d.facts.GPU, "unload: code that this device has not loaded")
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if r := d.lib.ModuleUnload(d.codes[at].module); r != libcuda.Success {
		return d.failed("cuModuleUnload", r, d.pending...)
	}
	d.codes = slices.Delete(d.codes, at, at+1)
	return nil
}

// Launch queues kernels.
func (d *Driver) Launch(c Code, buffers []Buffer, launches ...cuda.Launch) error {
	code, ok := c.(*driverCode)
	if !ok || !slices.Contains(d.codes, code) {
		return foreign(d.facts.GPU, "launch: code that this device has not loaded")
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	at := addresses(buffers)
	for i := range launches {
		if err := d.launch(code, at, &launches[i]); err != nil {
			return err
		}
		if d.options.Wait && !d.capture {
			if err := d.wait(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Driver) launch(c *driverCode, buffers []uint64, l *cuda.Launch) error {
	i, err := find(c.kernels, l, d.facts.SharedBytes)
	if err != nil || empty(l) {
		return err
	}
	if int(l.Shared) > c.allowed[i] {
		r := d.lib.FuncSetAttribute(c.functions[i], libcuda.DynamicShared, int32(l.Shared))
		if r != libcuda.Success {
			return d.failed("cuFuncSetAttribute", r, l.Kernel)
		}
		c.allowed[i] = int(l.Shared)
	}
	packed, err := l.PackMaps(buffers, d.encode)
	if err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	params := make([]unsafe.Pointer, len(l.Args)+1) // one more, so that a kernel without arguments has a list
	offset := 0
	for k, a := range l.Args {
		offset = (offset + a.Align() - 1) / a.Align() * a.Align()
		pin.Pin(&packed[offset])
		params[k] = unsafe.Pointer(&packed[offset])
		offset += a.Size
	}
	pin.Pin(&params[0])
	g, b := l.Grid, l.Block
	r := d.lib.LaunchKernel(c.functions[i], g[0], g[1], g[2], b[0], b[1], b[2], l.Shared, d.stream, &params[0], nil)
	if r != libcuda.Success {
		return d.failed("cuLaunchKernel", r, l.Kernel)
	}
	if d.pending = append(d.pending, l.Kernel); len(d.pending) > 8 { // the latest say enough
		d.pending = slices.Delete(d.pending, 0, 1)
	}
	return nil
}
