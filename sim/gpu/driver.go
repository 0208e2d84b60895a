// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"lathe/internal/diag"
	"lathe/sim/gpu/libcuda"
)

// oldest is the driver that the lowered PTX needs, and whose functions are bound: CUDA 11.4, driver 470.
const oldest = 11040

// DriverOptions say how a GPU is opened.
type DriverOptions struct {
	Library string // of the driver; libcuda.SystemName if empty
	Ordinal int    // which GPU
	// RefuseLocal has Load refuse kernels that spill registers or keep arrays in local memory, error L0983.
	RefuseLocal bool
	// Staging is the size in bytes of the pinned host memory through which data travel; 8 MiB if 0.
	Staging int
	// Wait has every launch wait for its end, so that an error names the kernel that caused it.
	Wait bool
}

// Facts are what a measurement depends on.
type Facts struct {
	GPU, Arch, Driver         string
	SMs, L2Bytes, SharedBytes int
	MemoryBytes               int64
}

// Driver is a GPU.
type Driver struct {
	lib     *libcuda.Library
	options DriverOptions
	device  libcuda.Device
	context libcuda.Context
	stream  libcuda.Stream
	events  [2]libcuda.Event
	staging unsafe.Pointer
	facts   Facts

	buffers []Buffer
	codes   []*driverCode
	graphs  []*driverGraph
	pending []string // kernels launched since the last Sync
	capture bool     // work is recorded, not done: nothing may wait
}

// OpenDriver opens a GPU. Errors: L0975 where there is no driver, only its stub, or no GPU, L0976 for a driver that is
// too old, L0979 for one that fails.
func OpenDriver(o DriverOptions) (*Driver, error) {
	if o.Library == "" {
		o.Library = libcuda.SystemName
	}
	if o.Staging <= 0 {
		o.Staging = 8 << 20
	}
	lib, err := libcuda.Open(o.Library)
	var missing *libcuda.MissingError
	switch {
	case errors.As(err, &missing):
		return nil, old("%v", err)
	case err != nil:
		return nil, none("no CUDA driver: %v", err)
	}
	d := &Driver{lib: lib, options: o}
	if err := d.open(); err != nil {
		_ = d.Close() // the first error is the one to tell
		return nil, err
	}
	return d, nil
}

// none is the error of a machine without a GPU, old that of a driver that is too old.
func none(msg string, args ...any) error {
	return diag.New(diag.NoGPU, "", msg, args...).WithHint("kernels run without a GPU too, on the emulated device")
}

func old(msg string, args ...any) error {
	return diag.New(diag.OldDriver, "", msg+"; CUDA 11.4 (driver 470) or later is needed", args...).
		WithHint("update the driver; kernels run without it too, on the emulated device")
}

func (d *Driver) open() error {
	switch r := d.lib.Init(0); r {
	case libcuda.Success:
	case libcuda.NoDevice:
		return none("no GPU: %s", d.describe(r))
	case libcuda.StubLibrary:
		return none("no CUDA driver: %s", d.describe(r))
	default: // a GPU may well be there: that it cannot be used must not pass unseen
		return d.failed("cuInit", r)
	}
	var version, n int32
	if r := d.lib.DriverGetVersion(&version); r != libcuda.Success {
		return d.failed("cuDriverGetVersion", r)
	}
	d.facts.Driver = libcuda.Version(version)
	if version < oldest {
		return old("the driver is of %s", d.facts.Driver)
	}
	if r := d.lib.DeviceGetCount(&n); r != libcuda.Success {
		return d.failed("cuDeviceGetCount", r)
	}
	if d.options.Ordinal < 0 || d.options.Ordinal >= int(n) {
		return none("GPU %d is asked for, there are %d", d.options.Ordinal, n)
	}
	if err := d.learn(); err != nil {
		return err
	}
	return d.begin()
}

// learn reads what the device is.
func (d *Driver) learn() error {
	if r := d.lib.DeviceGet(&d.device, int32(d.options.Ordinal)); r != libcuda.Success {
		return d.failed("cuDeviceGet", r)
	}
	name := make([]byte, 128)
	if r := d.lib.DeviceGetName(&name[0], int32(len(name)), d.device); r != libcuda.Success {
		return d.failed("cuDeviceGetName", r)
	}
	d.facts.GPU, _, _ = strings.Cut(string(name), "\x00")
	var total uint64
	if r := d.lib.DeviceTotalMem(&total, d.device); r != libcuda.Success {
		return d.failed("cuDeviceTotalMem_v2", r)
	}
	d.facts.MemoryBytes = int64(total)
	var major, minor int
	for _, a := range []struct {
		attribute libcuda.DeviceAttribute
		into      *int
	}{
		{libcuda.Major, &major}, {libcuda.Minor, &minor}, {libcuda.MultiProcessors, &d.facts.SMs},
		{libcuda.L2Bytes, &d.facts.L2Bytes}, {libcuda.SharedOptIn, &d.facts.SharedBytes},
	} {
		var v int32
		if r := d.lib.DeviceGetAttribute(&v, a.attribute, d.device); r != libcuda.Success {
			return d.failed("cuDeviceGetAttribute", r)
		}
		*a.into = int(v)
	}
	d.facts.Arch = fmt.Sprintf("sm_%d%d", major, minor)
	return nil
}

// begin makes what every use of the device needs.
func (d *Driver) begin() error {
	if r := d.lib.DevicePrimaryCtxRetain(&d.context, d.device); r != libcuda.Success {
		d.context = 0
		return d.failed("cuDevicePrimaryCtxRetain", r)
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if r := d.lib.StreamCreate(&d.stream, libcuda.StreamNonBlocking); r != libcuda.Success {
		d.stream = 0
		return d.failed("cuStreamCreate", r)
	}
	for i := range d.events {
		if r := d.lib.EventCreate(&d.events[i], libcuda.EventDefault); r != libcuda.Success {
			d.events[i] = 0
			return d.failed("cuEventCreate", r)
		}
	}
	if r := d.lib.MemHostAlloc(&d.staging, uint64(d.options.Staging), 0); r != libcuda.Success {
		d.staging = nil
		return d.failed("cuMemHostAlloc", r)
	}
	return nil
}

// enter makes the context that of this thread until leave is called.
func (d *Driver) enter() (leave func(), err error) {
	runtime.LockOSThread()
	if r := d.lib.CtxSetCurrent(d.context); r != libcuda.Success {
		runtime.UnlockOSThread()
		return nil, d.failed("cuCtxSetCurrent", r)
	}
	return runtime.UnlockOSThread, nil
}

// describe prints a result: "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory".
func (d *Driver) describe(r libcuda.Result) string {
	name, meaning := d.lib.Text(r)
	if meaning == "" {
		return name
	}
	return fmt.Sprintf("%s (%d), %s", name, r, meaning)
}

// failed is the error of a call of the driver; kernels are those that it may concern. One line and
// a hint.
func (d *Driver) failed(call string, r libcuda.Result, kernels ...string) error {
	code, text, hint := diag.DriverFailed, call, "nvidia-smi shows the state of the GPU and of its driver"
	if len(kernels) > 0 {
		text = "kernel " + strings.Join(slices.Compact(slices.Clone(kernels)), ", ") + ": " + call
	}
	text += " gives " + d.describe(r)
	if r.Broken() {
		code = diag.GPUFault
		text += "; the device must be opened anew"
		hint = "on the emulated device the same launch names the thread and the access that are wrong"
	}
	if d.facts.Driver != "" {
		text += " [driver of " + d.facts.Driver + "]"
	}
	return diag.New(code, d.facts.GPU, "%s", text).WithHint("%s", hint)
}

// Name is that of the GPU.
func (d *Driver) Name() string { return d.facts.GPU }

// Arch is such as sm_90.
func (d *Driver) Arch() string { return d.facts.Arch }

// Facts tells what measurements depend on.
func (d *Driver) Facts() Facts { return d.facts }

// Close frees what is left and gives the context back. It goes on after an error, and returns the first. The library
// stays loaded.
func (d *Driver) Close() error {
	if d.lib == nil {
		return nil
	}
	var err error
	if d.context != 0 {
		err = d.release()
	}
	d.lib = nil
	return err
}

// release ends what lives in the context, and the context itself, which takes along whatever could not be ended.
func (d *Driver) release() error {
	var first error
	check := func(call string, r libcuda.Result) {
		if r != libcuda.Success && first == nil {
			first = d.failed(call, r)
		}
	}
	leave, err := d.enter()
	if err != nil {
		first, leave = err, func() {}
	}
	for _, g := range slices.Clone(d.graphs) {
		check("cuGraphExecDestroy", d.lib.GraphExecDestroy(g.exec))
	}
	for _, c := range d.codes {
		check("cuModuleUnload", d.lib.ModuleUnload(c.module))
	}
	for _, b := range d.buffers {
		check("cuMemFree_v2", d.lib.MemFree(libcuda.Address(b.Addr)))
	}
	if d.staging != nil {
		check("cuMemFreeHost", d.lib.MemFreeHost(d.staging))
	}
	for _, e := range d.events {
		if e != 0 {
			check("cuEventDestroy_v2", d.lib.EventDestroy(e))
		}
	}
	if d.stream != 0 {
		check("cuStreamDestroy_v2", d.lib.StreamDestroy(d.stream))
	}
	check("cuCtxSetCurrent", d.lib.CtxSetCurrent(0)) // the thread must not keep a context that is gone
	leave()
	check("cuDevicePrimaryCtxRelease_v2", d.lib.DevicePrimaryCtxRelease(d.device))
	d.buffers, d.codes, d.graphs, d.context = nil, nil, nil, 0
	return first
}
