// SPDX-License-Identifier: Apache-2.0

package libcuda_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"lathe/sim/gpu/gputest"
	"lathe/sim/gpu/libcuda"
)

func open(t *testing.T) (*gputest.Fake, *libcuda.Library) {
	t.Helper()
	runtime.LockOSThread() // the current context belongs to the thread
	t.Cleanup(runtime.UnlockOSThread)
	f := gputest.New(t)
	l, err := libcuda.Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	return f, l
}

func ok(t *testing.T, what string, r libcuda.Result) {
	t.Helper()
	if r != libcuda.Success {
		t.Fatalf("%s: %d", what, r)
	}
}

// begin makes the first device's context current.
func begin(t *testing.T, l *libcuda.Library) libcuda.Device {
	t.Helper()
	var d libcuda.Device
	var c libcuda.Context
	var n int32
	var total uint64
	name := make([]byte, 64)
	ok(t, "Init", l.Init(0))
	ok(t, "DeviceGetCount", l.DeviceGetCount(&n))
	ok(t, "DeviceGet", l.DeviceGet(&d, n-1))
	ok(t, "DeviceGetName", l.DeviceGetName(&name[0], int32(len(name)), d))
	ok(t, "DeviceTotalMem", l.DeviceTotalMem(&total, d))
	ok(t, "DevicePrimaryCtxRetain", l.DevicePrimaryCtxRetain(&c, d))
	ok(t, "CtxSetCurrent", l.CtxSetCurrent(c))
	if !strings.HasPrefix(string(name), "Fake H200\x00") || n != 1 || total != 64<<20 {
		t.Errorf("%q, %d devices, %d bytes", name, n, total)
	}
	for _, a := range []struct {
		attribute libcuda.DeviceAttribute
		want      int32
	}{
		{libcuda.Major, 9}, {libcuda.Minor, 0}, {libcuda.MultiProcessors, 132}, {libcuda.L2Bytes, 60 << 20},
		{libcuda.SharedOptIn, 232448},
	} {
		var v int32
		if ok(t, "DeviceGetAttribute", l.DeviceGetAttribute(&v, a.attribute, d)); v != a.want {
			t.Errorf("attribute %d: %d, want %d", a.attribute, v, a.want)
		}
	}
	return d
}

const (
	addWords  = "add_words(.param .u64 to, .param .u64 from, .param .u32 n, .param .u32 k)"
	copyWords = "copy_words(.param .u64 to, .param .u64 from, .param .u32 n)"
)

func load(t *testing.T, l *libcuda.Library, name string) (libcuda.Module, libcuda.Function) {
	t.Helper()
	image := gputest.Cubin(90, addWords, copyWords)
	info := make([]byte, 64)
	options := []libcuda.JITOption{libcuda.InfoLog, libcuda.InfoLogSize, libcuda.Verbose}
	values := []uintptr{uintptr(unsafe.Pointer(&info[0])), uintptr(len(info)), 1}
	var m libcuda.Module
	var k libcuda.Function
	ok(t, "ModuleLoadDataEx", l.ModuleLoadDataEx(&m, unsafe.Pointer(&image[0]), 3, &options[0], &values[0]))
	ok(t, "ModuleGetFunction", l.ModuleGetFunction(&k, m, libcuda.CString(name)))
	runtime.KeepAlive(info)
	return m, k
}

// arguments are the addresses of values, for a launch while the pinner holds them.
func arguments(p *runtime.Pinner, values ...any) *unsafe.Pointer {
	list := make([]unsafe.Pointer, len(values))
	for i, v := range values {
		p.Pin(v)
		list[i] = reflect.ValueOf(v).UnsafePointer()
	}
	p.Pin(&list[0])
	return &list[0]
}

func (m memory) check(t *testing.T, what string, want uint32) {
	t.Helper()
	got := make([]uint32, m.n)
	ok(t, "MemcpyDtoHAsync", m.l.MemcpyDtoHAsync(unsafe.Pointer(&got[0]), m.at, uint64(4*m.n), 0))
	for i, v := range got {
		if v != want {
			t.Fatalf("%s: word %d is %d, want %d", what, i, v, want)
		}
	}
}

type memory struct {
	l  *libcuda.Library
	at libcuda.Address
	n  int
}

func alloc(t *testing.T, l *libcuda.Library, n int) memory {
	t.Helper()
	m := memory{l: l, n: n}
	ok(t, "MemAlloc", l.MemAlloc(&m.at, uint64(4*n)))
	return m
}

// TestLaunch moves words through every way of copying and launching.
func TestLaunch(t *testing.T) {
	f, l := open(t)
	d := begin(t, l)
	m, k := load(t, l, "add_words")
	in, out := alloc(t, l, 1000), alloc(t, l, 1000)
	var s libcuda.Stream
	ok(t, "StreamCreate", l.StreamCreate(&s, libcuda.StreamNonBlocking))
	ok(t, "MemsetD32Async", l.MemsetD32Async(in.at, 40, 1000, s))
	in.check(t, "fill", 40)

	ok(t, "FuncSetAttribute", l.FuncSetAttribute(k, libcuda.DynamicShared, 100000))
	n, two := uint32(1000), uint32(2)
	var pin runtime.Pinner
	defer pin.Unpin()
	args := arguments(&pin, &out.at, &in.at, &n, &two)
	ok(t, "LaunchKernel", l.LaunchKernel(k, 4, 3, 2, 32, 8, 1, 90000, s, args, nil))
	out.check(t, "LaunchKernel", 42)

	two = 5
	attrs := [2]libcuda.LaunchAttribute{{ID: libcuda.LaunchCluster}, {ID: libcuda.LaunchProgrammatic}}
	copy(attrs[0].Value[:], []byte{2, 0, 0, 0, 1, 0, 0, 0, 1})
	attrs[1].Value[0] = 1
	c := &libcuda.LaunchConfig{Grid: [3]uint32{8, 1, 1}, Block: [3]uint32{128, 1, 1}, Shared: 70000, Stream: s, Count: 2}
	c.Attributes = unsafe.Pointer(&attrs[0])
	pin.Pin(&attrs[0])
	ok(t, "LaunchKernelEx", l.LaunchKernelEx(c, k, args, nil))
	out.check(t, "LaunchKernelEx", 45)
	var blocks int32
	if ok(t, "MaxActiveClusters", l.MaxActiveClusters(&blocks, k, c)); blocks != 66 {
		t.Errorf("%d clusters", blocks)
	}
	if ok(t, "MaxActiveBlocks", l.MaxActiveBlocks(&blocks, k, 256, 70000)); blocks != 8 {
		t.Errorf("%d blocks", blocks)
	}
	ok(t, "MemcpyDtoDAsync", l.MemcpyDtoDAsync(out.at, in.at, 4000, s))
	out.check(t, "MemcpyDtoDAsync", 40)
	ok(t, "MemsetD8Async", l.MemsetD8Async(out.at, 1, 4000, s))
	out.check(t, "MemsetD8Async", 0x01010101)

	ok(t, "MemFree", l.MemFree(in.at))
	ok(t, "MemFree", l.MemFree(out.at))
	ok(t, "StreamDestroy", l.StreamDestroy(s))
	ok(t, "ModuleUnload", l.ModuleUnload(m))
	ok(t, "DevicePrimaryCtxRelease", l.DevicePrimaryCtxRelease(d))
	if n, what := f.Live(); n != 0 {
		t.Error("left over: " + what)
	}
	log := f.Log()
	for _, want := range []string{"cuLaunchKernel(add_words,4,3,2,32,8,1,90000,stream,0)", "cuFuncSetAttribute(8,100000)",
		"cuLaunchKernelEx(add_words,8,1,1,128,1,1,70000,stream,4:2.1.1 6:1.0.0 )", "cuModuleLoadDataEx(cubin,3)"} {
		if !slices.Contains(log, want) {
			t.Errorf("no call %s in\n%s", want, strings.Join(log, "\n"))
		}
	}
}

// TestGraphs captures a launch, times it by events, and updates it.
func TestGraphs(t *testing.T) {
	_, l := open(t)
	begin(t, l)
	_, k := load(t, l, "copy_words")
	in, out := alloc(t, l, 4096), alloc(t, l, 4096)
	var s libcuda.Stream
	ok(t, "StreamCreate", l.StreamCreate(&s, 0))
	ok(t, "MemsetD32Async", l.MemsetD32Async(in.at, 7, 4096, s))
	ok(t, "MemsetD32Async", l.MemsetD32Async(out.at, 0, 4096, s))
	var pin runtime.Pinner
	defer pin.Unpin()
	n := uint32(4096)
	capture := func(count int) (g libcuda.Graph) {
		ok(t, "StreamBeginCapture", l.StreamBeginCapture(s, libcuda.CaptureThreadLocal))
		for range count {
			args := arguments(&pin, &out.at, &in.at, &n)
			ok(t, "LaunchKernel", l.LaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, s, args, nil))
		}
		ok(t, "StreamEndCapture", l.StreamEndCapture(s, &g))
		return g
	}
	g := capture(2)
	out.check(t, "captured, not run", 0)
	var x libcuda.GraphExec
	var from, to libcuda.Event
	var ms float32
	ok(t, "GraphInstantiateWithFlags", l.GraphInstantiateWithFlags(&x, g, 0))
	ok(t, "GraphUpload", l.GraphUpload(x, s))
	ok(t, "EventCreate", l.EventCreate(&from, libcuda.EventDefault))
	ok(t, "EventCreate", l.EventCreate(&to, libcuda.EventDefault))
	ok(t, "EventRecord", l.EventRecord(from, s))
	ok(t, "GraphLaunch", l.GraphLaunch(x, s))
	ok(t, "EventRecord", l.EventRecord(to, s))
	ok(t, "StreamWaitEvent", l.StreamWaitEvent(s, to, 0))
	ok(t, "EventSynchronize", l.EventSynchronize(to))
	ok(t, "EventElapsedTime", l.EventElapsedTime(&ms, from, to))
	ok(t, "StreamSynchronize", l.StreamSynchronize(s))
	ok(t, "CtxSynchronize", l.CtxSynchronize())
	if out.check(t, "graph", 7); ms < 0.010 || ms > 0.011 {
		t.Errorf("two launches took %g ms, want 0.010", ms)
	}
	var info libcuda.GraphUpdate
	g2, g3 := capture(2), capture(3)
	ok(t, "GraphExecUpdate", l.GraphExecUpdate(x, g2, &info))
	if r := l.GraphExecUpdate(x, g3, &info); r != 910 || info.Kind != 2 {
		t.Errorf("another shape: %d, %+v", r, info)
	}
	for _, g := range []libcuda.Graph{g, g2, g3} {
		ok(t, "GraphDestroy", l.GraphDestroy(g))
	}
	ok(t, "GraphExecDestroy", l.GraphExecDestroy(x))
	ok(t, "EventDestroy", l.EventDestroy(from))
	ok(t, "EventDestroy", l.EventDestroy(to))
}

// TestMemory covers host memory, symbols, attributes and tensor maps.
func TestMemory(t *testing.T) {
	f, l := open(t)
	begin(t, l)
	m, k := load(t, l, "copy_words")
	var host unsafe.Pointer
	ok(t, "MemHostAlloc", l.MemHostAlloc(&host, 4096, 0))
	words := unsafe.Slice((*uint32)(host), 1024)
	for i := range words {
		words[i] = 9
	}
	out := alloc(t, l, 1024)
	ok(t, "MemcpyHtoDAsync", l.MemcpyHtoDAsync(out.at, host, 4096, 0))
	out.check(t, "MemcpyHtoDAsync", 9)
	ok(t, "MemFreeHost", l.MemFreeHost(host))
	var free, total, size uint64
	if ok(t, "MemGetInfo", l.MemGetInfo(&free, &total)); total-free != 4096 {
		t.Errorf("%d of %d free", free, total)
	}
	var at libcuda.Address
	if ok(t, "ModuleGetGlobal", l.ModuleGetGlobal(&at, &size, m, libcuda.CString("table"))); at != 4096 || size != 12 {
		t.Errorf("global at %d, %d bytes", at, size)
	}
	var registers int32
	if ok(t, "FuncGetAttribute", l.FuncGetAttribute(&registers, libcuda.KernelRegisters, k)); registers != 40 {
		t.Errorf("%d registers", registers)
	}
	var context libcuda.Context
	r := l.PointerGetAttribute(unsafe.Pointer(&context), libcuda.ContextOfPointer, out.at)
	if ok(t, "PointerGetAttribute", r); context == 0 {
		t.Error("memory without a context")
	}
	room := make([]byte, 256)
	odd := uintptr(unsafe.Pointer(&room[0])) % 128
	tensor := (*libcuda.TensorMap)(unsafe.Pointer(&room[(128-odd)%128]))
	dims, strides, box, steps := [2]uint64{64, 32}, [1]uint64{128}, [2]uint32{64, 8}, [2]uint32{1, 2}
	r = l.TensorMapEncodeTiled(tensor, 9, 2, 4096, &dims[0], &strides[0], &box[0], &steps[0], 1, 3, 2, 4)
	ok(t, "TensorMapEncodeTiled", r)
	if tensor[0] != 0xAB || tensor[127] != 0xAB {
		t.Error("the tensor map is not filled")
	}
	if want := "cuTensorMapEncodeTiled(9,2,4096,64,32,128,64,8,2,1,3,2,4)"; !slices.Contains(f.Log(), want) {
		t.Errorf("no call %s", want)
	}
}

func TestText(t *testing.T) {
	_, l := open(t)
	var v int32
	if ok(t, "DriverGetVersion", l.DriverGetVersion(&v)); libcuda.Version(v) != "CUDA 12.9" {
		t.Error(libcuda.Version(v))
	}
	for _, c := range []struct {
		r             libcuda.Result
		name, meaning string
	}{{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}, {12345, "CUDA error 12345", ""}} {
		if name, meaning := l.Text(c.r); name != c.name || meaning != c.meaning {
			t.Errorf("%d: %q, %q", c.r, name, meaning)
		}
	}
	if !libcuda.Result(700).Broken() || libcuda.Result(701).Broken() || libcuda.OutOfMemory.Broken() {
		t.Error("which errors lose the context?")
	}
}

// TestOpen has no library, one that is none, and one that lacks functions.
func TestOpen(t *testing.T) {
	if _, err := libcuda.Open(""); err == nil {
		t.Error("the program itself is taken for a driver")
	}
	_, err := libcuda.Open("libcuda-of-no-machine.so.1")
	if err == nil || !strings.Contains(err.Error(), "cannot open shared object") {
		t.Error(err)
	}
	f := gputest.New(t)
	dir := t.TempDir()
	stub, short := filepath.Join(dir, "stub.cc"), filepath.Join(dir, "short.so")
	text := "extern \"C\" { int cuInit(unsigned) { return 0; } int cuDriverGetVersion(int *v) { *v = 9020; return 0; } }\n"
	if err := os.WriteFile(stub, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("g++", "-shared", "-fPIC", "-o", short, stub).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, err = libcuda.Open(short)
	var missing *libcuda.MissingError
	if !errors.As(err, &missing) || missing.Version != 9020 || !strings.Contains(err.Error(), "(CUDA 9.2) lacks cuGetE") ||
		slices.Contains(missing.Names, "cuInit") || slices.Contains(missing.Names, "cuLaunchKernelEx") ||
		slices.Contains(missing.Names, "cuCtxSynchronize") {
		t.Error(err)
	}
	l, err := libcuda.Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	// Every function field is bound under a name of its own.
	names := map[string]bool{}
	for _, s := range l.Symbols() {
		names[s.Name] = true
	}
	fields := 0
	for i := range reflect.TypeFor[libcuda.Library]().NumField() {
		if v := reflect.ValueOf(l).Elem().Field(i); v.Kind() == reflect.Func {
			if fields++; v.IsNil() {
				t.Errorf("%s is not bound", reflect.TypeFor[libcuda.Library]().Field(i).Name)
			}
		}
	}
	if len(names) != fields {
		t.Errorf("%d names for %d functions", len(names), fields)
	}
}
