// SPDX-License-Identifier: Apache-2.0

// Package libcuda binds functions of the CUDA driver, libcuda.so.1, without cgo and without CUDA's headers: those that
// package sim/gpu makes a device of, which a driver must have, and others for clusters, tensor maps and updates of
// graphs, which nothing calls yet and which it may lack. It adds nothing to them.
package libcuda

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is an open driver library. Its functions are those of the CUDA driver API under the names without cu and
// version suffix, with its arguments. A pointer that an asynchronous function gets must stay valid until the stream is
// done; pointers inside of argument memory must be pinned. Functions that are
// Optional in Symbols may be nil.
type Library struct {
	Init             func(flags uint32) Result
	DriverGetVersion func(version *int32) Result
	GetErrorName     func(r Result, text *unsafe.Pointer) Result
	GetErrorString   func(r Result, text *unsafe.Pointer) Result

	DeviceGetCount          func(n *int32) Result
	DeviceGet               func(d *Device, ordinal int32) Result
	DeviceGetName           func(name *byte, size int32, d Device) Result
	DeviceGetAttribute      func(value *int32, a DeviceAttribute, d Device) Result
	DeviceTotalMem          func(bytes *uint64, d Device) Result
	DevicePrimaryCtxRetain  func(c *Context, d Device) Result
	DevicePrimaryCtxRelease func(d Device) Result
	CtxSetCurrent           func(c Context) Result
	CtxSynchronize          func() Result

	ModuleLoadDataEx     func(m *Module, image unsafe.Pointer, n uint32, options *JITOption, values *uintptr) Result
	ModuleUnload         func(m Module) Result
	ModuleGetFunction    func(f *Function, m Module, name *byte) Result
	ModuleGetGlobal      func(a *Address, bytes *uint64, m Module, name *byte) Result
	FuncGetAttribute     func(value *int32, a FunctionAttribute, f Function) Result
	FuncSetAttribute     func(f Function, a FunctionAttribute, value int32) Result
	MaxActiveBlocks      func(n *int32, f Function, threads int32, shared uint64) Result
	MaxActiveClusters    func(n *int32, f Function, c *LaunchConfig) Result
	TensorMapEncodeTiled func(m *TensorMap, kind int32, rank uint32, at Address, dims, strides *uint64,
		box, steps *uint32, interleave, swizzle, promotion, fill int32) Result

	MemAlloc            func(a *Address, bytes uint64) Result
	MemFree             func(a Address) Result
	MemHostAlloc        func(p *unsafe.Pointer, bytes uint64, flags uint32) Result
	MemFreeHost         func(p unsafe.Pointer) Result
	MemGetInfo          func(free, total *uint64) Result
	MemcpyHtoDAsync     func(to Address, from unsafe.Pointer, bytes uint64, s Stream) Result
	MemcpyDtoHAsync     func(to unsafe.Pointer, from Address, bytes uint64, s Stream) Result
	MemcpyDtoDAsync     func(to, from Address, bytes uint64, s Stream) Result
	MemsetD8Async       func(a Address, value uint8, n uint64, s Stream) Result
	MemsetD32Async      func(a Address, value uint32, n uint64, s Stream) Result
	PointerGetAttribute func(value unsafe.Pointer, attribute int32, a Address) Result

	StreamCreate      func(s *Stream, flags uint32) Result
	StreamDestroy     func(s Stream) Result
	StreamSynchronize func(s Stream) Result
	StreamWaitEvent   func(s Stream, e Event, flags uint32) Result
	EventCreate       func(e *Event, flags uint32) Result
	EventRecord       func(e Event, s Stream) Result
	EventSynchronize  func(e Event) Result
	EventElapsedTime  func(ms *float32, from, to Event) Result
	EventDestroy      func(e Event) Result

	LaunchKernel   func(f Function, gx, gy, gz, bx, by, bz, shared uint32, s Stream, params, extra *unsafe.Pointer) Result
	LaunchKernelEx func(c *LaunchConfig, f Function, params, extra *unsafe.Pointer) Result

	StreamBeginCapture        func(s Stream, mode int32) Result
	StreamEndCapture          func(s Stream, g *Graph) Result
	GraphInstantiateWithFlags func(x *GraphExec, g Graph, flags uint64) Result
	GraphUpload               func(x GraphExec, s Stream) Result
	GraphLaunch               func(x GraphExec, s Stream) Result
	GraphExecUpdate           func(x GraphExec, g Graph, info *GraphUpdate) Result
	GraphExecDestroy          func(x GraphExec) Result
	GraphDestroy              func(g Graph) Result
}

// Symbol is one function of the driver: its exported name, and where Library holds it.
type Symbol struct {
	Name     string
	Optional bool // nothing in Lathe calls it
	into     any
}

// Symbols lists what Open binds, in the order in which it does.
func (l *Library) Symbols() []Symbol {
	return append(l.contextSymbols(), l.workSymbols()...)
}

func (l *Library) contextSymbols() []Symbol {
	return []Symbol{
		{"cuInit", false, &l.Init},
		{"cuDriverGetVersion", false, &l.DriverGetVersion},
		{"cuGetErrorName", false, &l.GetErrorName},
		{"cuGetErrorString", false, &l.GetErrorString},
		{"cuDeviceGetCount", false, &l.DeviceGetCount},
		{"cuDeviceGet", false, &l.DeviceGet},
		{"cuDeviceGetName", false, &l.DeviceGetName},
		{"cuDeviceGetAttribute", false, &l.DeviceGetAttribute},
		{"cuDeviceTotalMem_v2", false, &l.DeviceTotalMem},
		{"cuDevicePrimaryCtxRetain", false, &l.DevicePrimaryCtxRetain},
		{"cuDevicePrimaryCtxRelease_v2", false, &l.DevicePrimaryCtxRelease},
		{"cuCtxSetCurrent", false, &l.CtxSetCurrent},
		{"cuCtxSynchronize", true, &l.CtxSynchronize},
		{"cuModuleLoadDataEx", false, &l.ModuleLoadDataEx},
		{"cuModuleUnload", false, &l.ModuleUnload},
		{"cuModuleGetFunction", false, &l.ModuleGetFunction},
		{"cuModuleGetGlobal_v2", true, &l.ModuleGetGlobal},
		{"cuFuncGetAttribute", false, &l.FuncGetAttribute},
		{"cuFuncSetAttribute", false, &l.FuncSetAttribute},
		{"cuOccupancyMaxActiveBlocksPerMultiprocessor", true, &l.MaxActiveBlocks},
		{"cuOccupancyMaxActiveClusters", true, &l.MaxActiveClusters},
		{"cuTensorMapEncodeTiled", true, &l.TensorMapEncodeTiled},
	}
}

func (l *Library) workSymbols() []Symbol {
	return []Symbol{
		{"cuMemAlloc_v2", false, &l.MemAlloc},
		{"cuMemFree_v2", false, &l.MemFree},
		{"cuMemHostAlloc", false, &l.MemHostAlloc},
		{"cuMemFreeHost", false, &l.MemFreeHost},
		{"cuMemGetInfo_v2", false, &l.MemGetInfo},
		{"cuMemcpyHtoDAsync_v2", false, &l.MemcpyHtoDAsync},
		{"cuMemcpyDtoHAsync_v2", false, &l.MemcpyDtoHAsync},
		{"cuMemcpyDtoDAsync_v2", false, &l.MemcpyDtoDAsync},
		{"cuMemsetD8Async", false, &l.MemsetD8Async},
		{"cuMemsetD32Async", false, &l.MemsetD32Async},
		{"cuPointerGetAttribute", true, &l.PointerGetAttribute},
		{"cuStreamCreate", false, &l.StreamCreate},
		{"cuStreamDestroy_v2", false, &l.StreamDestroy},
		{"cuStreamSynchronize", false, &l.StreamSynchronize},
		{"cuStreamWaitEvent", true, &l.StreamWaitEvent},
		{"cuEventCreate", false, &l.EventCreate},
		{"cuEventRecord", false, &l.EventRecord},
		{"cuEventSynchronize", false, &l.EventSynchronize},
		{"cuEventElapsedTime", false, &l.EventElapsedTime},
		{"cuEventDestroy_v2", false, &l.EventDestroy},
		{"cuLaunchKernel", false, &l.LaunchKernel},
		{"cuLaunchKernelEx", true, &l.LaunchKernelEx},
		{"cuStreamBeginCapture_v2", false, &l.StreamBeginCapture},
		{"cuStreamEndCapture", false, &l.StreamEndCapture},
		{"cuGraphInstantiateWithFlags", false, &l.GraphInstantiateWithFlags},
		{"cuGraphUpload", false, &l.GraphUpload},
		{"cuGraphLaunch", false, &l.GraphLaunch},
		{"cuGraphExecUpdate_v2", true, &l.GraphExecUpdate},
		{"cuGraphExecDestroy", false, &l.GraphExecDestroy},
		{"cuGraphDestroy", false, &l.GraphDestroy},
	}
}

// SystemName is the driver library as the loader of the system finds it.
const SystemName = "libcuda.so.1"

// Open loads the library of that name or path for good, since a driver keeps threads of its own, which must not lose
// their code, and binds its functions. A *MissingError tells which of them it lacks;
// any other error says that there is no such library.
func Open(path string) (*Library, error) {
	if path == "" { // the loader would take this program itself for the library
		return nil, fmt.Errorf("no library is named")
	}
	runtime.LockOSThread() // the loader keeps the reason of a failure for the thread that called it
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l := &Library{}
	missing := &MissingError{}
	for _, s := range l.Symbols() {
		at, err := purego.Dlsym(handle, s.Name)
		switch {
		case err == nil:
			purego.RegisterFunc(s.into, at)
		case !s.Optional:
			missing.Names = append(missing.Names, s.Name)
		}
	}
	if len(missing.Names) > 0 {
		if l.DriverGetVersion != nil {
			_ = l.DriverGetVersion(&missing.Version) // stays 0 where the driver cannot tell
		}
		_ = purego.Dlclose(handle) // what is missing is the error to tell
		return nil, missing
	}
	return l, nil
}

// MissingError is a driver that lacks functions.
type MissingError struct {
	Names   []string
	Version int32 // as DriverGetVersion gives it: 12040 is CUDA 12.4; 0 if unknown
}

// Error names the functions.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the driver (%s) lacks %s", Version(e.Version), strings.Join(e.Names, ", "))
}

// Version prints a version of the driver API: 12040 as "CUDA 12.4".
func Version(v int32) string {
	if v <= 0 {
		return "CUDA of unknown version"
	}
	return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
}

// Text returns the name of a result and what it means, such as "CUDA_ERROR_OUT_OF_MEMORY" and "out of memory"; a number
// that this driver does not know is its own name.
func (l *Library) Text(r Result) (name, meaning string) {
	var at unsafe.Pointer
	if l.GetErrorName(r, &at) != Success || at == nil {
		return fmt.Sprintf("CUDA error %d", r), ""
	}
	name, at = text(at), nil
	if l.GetErrorString(r, &at) == Success && at != nil {
		meaning = text(at)
	}
	return name, meaning
}

// text copies a C string.
func text(at unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(at, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// CString returns s with a zero byte at its end.
func CString(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }
