// SPDX-License-Identifier: Apache-2.0

// Command emulated is a stand-in for libcuda.so.1, built by tests with -buildmode=c-shared: the functions of the driver
// that an emitted folder calls, over the PTX interpreter. It runs no machine code, so that programs load their PTX; it
// refuses what a driver refuses, and work that must not be captured.
package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"lathe/cuda/ptx"
)

// Results of the driver, as package sim/gpu/libcuda names them.
const (
	success        = 0
	invalidValue   = 1
	outOfMemory    = 2
	noDevice       = 100
	invalidDevice  = 101
	invalidContext = 201
	noBinary       = 209
	invalidPTX     = 218
	newerPTX       = 222
	invalidHandle  = 400
	notFound       = 500
	illegalAccess  = 700
	notInCapture   = 900
)

// The one context that there is, while it is retained.
const theContext = 1

// lastDefault is the last of the handles that stand for default streams: null, legacy, that of the thread.
const lastDefault = 2

// plainShared is the shared memory of a block that a kernel may use without being asked for.
const plainShared = 48 << 10

// module is loaded PTX.
type module struct {
	ptx *ptx.Module
}

// function is a kernel with the dynamic shared memory that was asked for.
type function struct {
	kernel  *ptx.Kernel
	allowed int
}

// stream is in a capture of the thread, or in none where that is 0.
type stream struct {
	capturing int
	work      []func() C.int
}

// state is that of the driver.
type state struct {
	sync.Mutex
	machine  *ptx.Machine
	settings map[string]int64
	retained int
	current  map[int][]C.uintptr_t // contexts of threads, by their ids
	// handles of what was made, in one count with their kinds.
	last      C.uintptr_t
	modules   map[C.uintptr_t]*module
	functions map[C.uintptr_t]*function
	streams   map[C.uintptr_t]*stream
	graphs    map[C.uintptr_t][]func() C.int
	buffers   map[uint64]int64 // sizes by addresses
	broken    bool             // a kernel went wrong: nothing works any more
}

var driver = state{
	last: lastDefault, machine: ptx.NewMachine(ptx.Options{}), current: map[int][]C.uintptr_t{},
	settings: map[string]int64{"devices": 1, "version": 12040, "major": 8, "minor": 0, "memory": 4 << 30},
	modules:  map[C.uintptr_t]*module{}, functions: map[C.uintptr_t]*function{},
	streams: map[C.uintptr_t]*stream{}, graphs: map[C.uintptr_t][]func() C.int{}, buffers: map[uint64]int64{},
}

func main() {}

// say tells what a result does not.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "emulated driver: "+format+"\n", args...)
}

func (s *state) handle() C.uintptr_t {
	s.last++
	return s.last
}

// begin takes the driver for a call that needs a context; end gives it back.
func (s *state) begin() C.int {
	s.Lock()
	stack := s.current[syscall.Gettid()]
	switch {
	case len(stack) == 0 || s.retained == 0:
		return invalidContext
	case s.broken:
		return illegalAccess
	}
	return success
}

// or is the result r, or another where r is success.
func or(r, other C.int) C.int {
	if r != success {
		return r
	}
	return other
}

// waiting is begin for a call that waits for work or changes memory, which a thread that captures must not do.
func (s *state) waiting() C.int {
	r := s.begin()
	for _, st := range s.streams {
		if r == success && st.capturing == syscall.Gettid() {
			return notInCapture
		}
	}
	return r
}

//export emulated_set
func emulated_set(name *C.char, value C.longlong) {
	driver.Lock()
	defer driver.Unlock()
	driver.settings[C.GoString(name)] = int64(value)
}

// emulated_live counts what is held: contexts, modules, buffers, streams, graphs.
//
//export emulated_live
func emulated_live() C.int {
	driver.Lock()
	defer driver.Unlock()
	return C.int(driver.retained + len(driver.modules) + len(driver.buffers) + len(driver.streams) + len(driver.graphs))
}

//export cuInit
func cuInit(C.uint) C.int {
	driver.Lock()
	defer driver.Unlock()
	if driver.settings["devices"] == 0 {
		return noDevice
	}
	return success
}

//export cuDriverGetVersion
func cuDriverGetVersion(version *C.int) C.int {
	driver.Lock()
	defer driver.Unlock()
	*version = C.int(driver.settings["version"])
	return success
}

// texts are the names of results, for good.
var texts sync.Map

//export cuGetErrorName
func cuGetErrorName(r C.int, name **C.char) C.int {
	text := map[C.int]string{invalidValue: "CUDA_ERROR_INVALID_VALUE", outOfMemory: "CUDA_ERROR_OUT_OF_MEMORY",
		invalidContext: "CUDA_ERROR_INVALID_CONTEXT", noBinary: "CUDA_ERROR_NO_BINARY_FOR_GPU",
		invalidPTX: "CUDA_ERROR_INVALID_PTX", newerPTX: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
		invalidHandle: "CUDA_ERROR_INVALID_HANDLE", notFound: "CUDA_ERROR_NOT_FOUND",
		illegalAccess: "CUDA_ERROR_ILLEGAL_ADDRESS", notInCapture: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}[r]
	if text == "" {
		return invalidValue
	}
	kept, _ := texts.LoadOrStore(text, unsafe.Pointer(C.CString(text)))
	*name = (*C.char)(kept.(unsafe.Pointer))
	return success
}

//export cuDeviceGetCount
func cuDeviceGetCount(n *C.int) C.int {
	driver.Lock()
	defer driver.Unlock()
	*n = C.int(driver.settings["devices"])
	return success
}

//export cuDeviceGet
func cuDeviceGet(device *C.int, ordinal C.int) C.int {
	driver.Lock()
	defer driver.Unlock()
	if ordinal < 0 || int64(ordinal) >= driver.settings["devices"] {
		return invalidDevice
	}
	*device = ordinal
	return success
}

//export cuDeviceGetAttribute
func cuDeviceGetAttribute(value *C.int, attribute, _ C.int) C.int {
	driver.Lock()
	defer driver.Unlock()
	switch attribute {
	case 75:
		*value = C.int(driver.settings["major"])
	case 76:
		*value = C.int(driver.settings["minor"])
	default:
		return invalidValue
	}
	return success
}

//export cuDevicePrimaryCtxRetain
func cuDevicePrimaryCtxRetain(context *C.uintptr_t, _ C.int) C.int {
	driver.Lock()
	defer driver.Unlock()
	driver.retained++
	*context = theContext
	return success
}

//export cuDevicePrimaryCtxRelease_v2
func cuDevicePrimaryCtxRelease_v2(C.int) C.int {
	driver.Lock()
	defer driver.Unlock()
	if driver.retained == 0 {
		return invalidContext
	}
	driver.retained--
	return success
}

//export cuCtxPushCurrent_v2
func cuCtxPushCurrent_v2(context C.uintptr_t) C.int {
	driver.Lock()
	defer driver.Unlock()
	if context != theContext || driver.retained == 0 {
		return invalidContext
	}
	id := syscall.Gettid()
	driver.current[id] = append(driver.current[id], context)
	return success
}

//export cuCtxPopCurrent_v2
func cuCtxPopCurrent_v2(context *C.uintptr_t) C.int {
	driver.Lock()
	defer driver.Unlock()
	id := syscall.Gettid()
	stack := driver.current[id]
	if len(stack) == 0 {
		return invalidContext
	}
	*context = stack[len(stack)-1]
	driver.current[id] = stack[:len(stack)-1]
	return success
}
