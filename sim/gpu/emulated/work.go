// SPDX-License-Identifier: Apache-2.0

package main

/*
#include <stdint.h>
#include <stddef.h>
*/
import "C"

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"lathe/cuda/ptx"
)

//export cuModuleLoadData
func cuModuleLoadData(handle *C.uintptr_t, image unsafe.Pointer) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	if r != success {
		return r
	}
	if bytes.Equal(C.GoBytes(image, 4), []byte("\x7fELF")) {
		return noBinary
	}
	text := C.GoString((*C.char)(image))
	var major, minor int64
	for line := range bytes.Lines([]byte(text)) {
		if n, _ := fmt.Sscanf(string(line), ".version %d.%d", &major, &minor); n == 2 {
			break
		}
	}
	// PTX 7.4 is that of CUDA 11.4, and 8.x that of 12.x.
	if (major+4)*1000+minor*10 > driver.settings["version"] {
		return newerPTX
	}
	m, err := ptx.Parse("PTX", []byte(text))
	if err != nil {
		say("%v", err)
		return invalidPTX
	}
	*handle = driver.handle()
	driver.modules[*handle] = &module{m}
	return success
}

//export cuModuleUnload
func cuModuleUnload(handle C.uintptr_t) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	m := driver.modules[handle]
	if r != success || m == nil {
		return or(r, invalidHandle)
	}
	delete(driver.modules, handle)
	if err := driver.machine.Unload(m.ptx); err != nil {
		say("%v", err)
		return invalidValue
	}
	return success
}

//export cuModuleGetFunction
func cuModuleGetFunction(handle *C.uintptr_t, of C.uintptr_t, name *C.char) C.int {
	r := driver.begin()
	defer driver.Unlock()
	m := driver.modules[of]
	if r != success || m == nil {
		return or(r, invalidHandle)
	}
	k := m.ptx.Kernel(C.GoString(name))
	if k == nil {
		return notFound
	}
	*handle = driver.handle()
	driver.functions[*handle] = &function{kernel: k, allowed: plainShared - int(k.Static)}
	return success
}

//export cuFuncSetAttribute
func cuFuncSetAttribute(handle C.uintptr_t, attribute, value C.int) C.int {
	r := driver.begin()
	defer driver.Unlock()
	f := driver.functions[handle]
	const dynamicShared = 8
	switch {
	case r != success || f == nil:
		return or(r, invalidHandle)
	case attribute != dynamicShared || value < 0 || int(value)+int(f.kernel.Static) > ptx.MaxShared:
		return invalidValue
	}
	f.allowed = int(value)
	return success
}

//export cuMemAlloc_v2
func cuMemAlloc_v2(address *C.uint64_t, bytes C.size_t) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	if r != success || bytes == 0 {
		return or(r, invalidValue)
	}
	used := int64(bytes)
	for _, b := range driver.buffers {
		used += b
	}
	if used > driver.settings["memory"] {
		return outOfMemory
	}
	at, err := driver.machine.Alloc(int64(bytes), ptx.AllocOptions{})
	if err != nil {
		say("%v", err)
		return outOfMemory
	}
	driver.buffers[at] = int64(bytes)
	*address = C.uint64_t(at)
	return success
}

//export cuMemFree_v2
func cuMemFree_v2(address C.uint64_t) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	if _, ok := driver.buffers[uint64(address)]; r != success || !ok {
		return or(r, invalidValue)
	}
	delete(driver.buffers, uint64(address))
	if err := driver.machine.Free(uint64(address)); err != nil {
		say("%v", err)
		return invalidValue
	}
	return success
}

//export cuMemcpyHtoD_v2
func cuMemcpyHtoD_v2(to C.uint64_t, from unsafe.Pointer, n C.size_t) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	if r != success {
		return r
	}
	return transferred(driver.machine.Write(uint64(to), unsafe.Slice((*byte)(from), int(n))))
}

//export cuMemcpyDtoH_v2
func cuMemcpyDtoH_v2(to unsafe.Pointer, from C.uint64_t, n C.size_t) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	if r != success {
		return r
	}
	return transferred(driver.machine.Read(uint64(from), unsafe.Slice((*byte)(to), int(n))))
}

func transferred(err error) C.int {
	if err != nil {
		say("%v", err)
		return invalidValue
	}
	return success
}

// do does work of a stream now, or keeps it for the graph that the stream captures.
func (s *state) do(handle C.uintptr_t, work func() C.int) C.int {
	if handle <= lastDefault {
		for _, st := range s.streams {
			if st.capturing == syscall.Gettid() {
				return notInCapture
			}
		}
		return work()
	}
	st := s.streams[handle]
	switch {
	case st == nil:
		return invalidHandle
	case st.capturing != 0:
		st.work = append(st.work, work)
		return success
	}
	return work()
}

//export cuMemcpyDtoDAsync_v2
func cuMemcpyDtoDAsync_v2(to, from C.uint64_t, n C.size_t, stream C.uintptr_t) C.int {
	r := driver.begin()
	defer driver.Unlock()
	if r != success {
		return r
	}
	return driver.do(stream, func() C.int {
		data := make([]byte, n)
		if r := transferred(driver.machine.Read(uint64(from), data)); r != success {
			return r
		}
		return transferred(driver.machine.Write(uint64(to), data))
	})
}

//export cuMemsetD32Async
func cuMemsetD32Async(to C.uint64_t, value C.uint, n C.size_t, stream C.uintptr_t) C.int {
	r := driver.begin()
	defer driver.Unlock()
	if r != success || to%4 != 0 {
		return or(r, invalidValue)
	}
	return driver.do(stream, func() C.int {
		var data []byte
		for range n {
			data = binary.LittleEndian.AppendUint32(data, uint32(value))
		}
		return transferred(driver.machine.Write(uint64(to), data))
	})
}

//export cuLaunchKernel
func cuLaunchKernel(handle C.uintptr_t, gx, gy, gz, bx, by, bz, shared C.uint, stream C.uintptr_t,
	params *unsafe.Pointer, _ *unsafe.Pointer) C.int {
	r := driver.begin()
	defer driver.Unlock()
	f := driver.functions[handle]
	if r != success || f == nil {
		return or(r, invalidHandle)
	}
	k, threads := f.kernel, int(bx*by*bz)
	if gx == 0 || gy == 0 || gz == 0 || threads == 0 || threads > 1024 || gy > 65535 || gz > 65535 || gx > 1<<31-1 ||
		k.MaxThreads > 0 && threads > k.MaxThreads || int(shared) > f.allowed {
		say("kernel %s is launched with a grid of %d x %d x %d, %d threads, %d bytes of shared memory", k.Name, gx, gy, gz,
			threads, shared)
		return invalidValue
	}
	packed := make([]byte, k.ParamBytes())
	for i, at := range unsafe.Slice(params, len(k.Params)) {
		p := k.Params[i]
		copy(packed[p.Offset:], unsafe.Slice((*byte)(at), p.Size))
	}
	if driver.settings["record"] != 0 {
		say("launch %s %d %d %d %d %d %x", k.Name, gx, gy, gz, threads, shared, packed)
	}
	grid, block := [3]uint32{uint32(gx), uint32(gy), uint32(gz)}, [3]uint32{uint32(bx), uint32(by), uint32(bz)}
	return driver.do(stream, func() C.int {
		if _, err := driver.machine.Launch(k, grid, block, uint32(shared), packed); err != nil {
			say("%v", err)
			driver.broken = true
			return illegalAccess
		}
		return success
	})
}

//export cuStreamSynchronize
func cuStreamSynchronize(handle C.uintptr_t) C.int {
	r := driver.waiting()
	defer driver.Unlock()
	if handle > lastDefault && driver.streams[handle] == nil {
		return or(r, invalidHandle)
	}
	return r // all work is done when it is asked for
}

//export cuStreamCreate
func cuStreamCreate(handle *C.uintptr_t, _ C.uint) C.int {
	r := driver.begin()
	defer driver.Unlock()
	if r != success {
		return r
	}
	*handle = driver.handle()
	driver.streams[*handle] = &stream{}
	return success
}

//export cuStreamDestroy_v2
func cuStreamDestroy_v2(handle C.uintptr_t) C.int {
	r := driver.begin()
	defer driver.Unlock()
	if driver.streams[handle] == nil {
		return or(r, invalidHandle)
	}
	delete(driver.streams, handle)
	return r
}

//export cuStreamBeginCapture_v2
func cuStreamBeginCapture_v2(handle C.uintptr_t, _ C.int) C.int {
	r := driver.begin()
	defer driver.Unlock()
	st := driver.streams[handle]
	if r != success || st == nil || st.capturing != 0 {
		return or(r, invalidHandle)
	}
	st.capturing, st.work = syscall.Gettid(), nil
	return success
}

//export cuStreamEndCapture
func cuStreamEndCapture(handle C.uintptr_t, graph *C.uintptr_t) C.int {
	r := driver.begin()
	defer driver.Unlock()
	st := driver.streams[handle]
	if r != success || st == nil || st.capturing != syscall.Gettid() {
		return or(r, invalidHandle)
	}
	st.capturing = 0
	*graph = driver.handle()
	driver.graphs[*graph] = st.work
	return success
}

//export cuGraphInstantiateWithFlags
func cuGraphInstantiateWithFlags(exec *C.uintptr_t, graph C.uintptr_t, _ C.ulonglong) C.int {
	r := driver.begin()
	defer driver.Unlock()
	work, ok := driver.graphs[graph]
	if r != success || !ok {
		return or(r, invalidHandle)
	}
	*exec = driver.handle()
	driver.graphs[*exec] = work
	return success
}

//export cuGraphLaunch
func cuGraphLaunch(exec, stream C.uintptr_t) C.int {
	r := driver.begin()
	defer driver.Unlock()
	work, ok := driver.graphs[exec]
	if r != success || !ok {
		return or(r, invalidHandle)
	}
	for _, w := range work {
		if r := driver.do(stream, w); r != success {
			return r
		}
	}
	return success
}

//export cuGraphExecDestroy
func cuGraphExecDestroy(exec C.uintptr_t) C.int { return cuGraphDestroy(exec) }

//export cuGraphDestroy
func cuGraphDestroy(graph C.uintptr_t) C.int {
	r := driver.begin()
	defer driver.Unlock()
	if _, ok := driver.graphs[graph]; !ok {
		return or(r, invalidHandle)
	}
	delete(driver.graphs, graph)
	return r
}
