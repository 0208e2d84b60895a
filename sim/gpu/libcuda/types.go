// SPDX-License-Identifier: Apache-2.0

package libcuda

import "unsafe"

// Result is a CUresult: 0 is success, everything else an error.
type Result int32

// The results that callers tell apart.
const (
	Success       Result = 0
	OutOfMemory   Result = 2
	StubLibrary   Result = 34 // what toolkits ship to link against, in the place of a driver
	NoDevice      Result = 100
	InvalidCtx    Result = 201
	NoBinary      Result = 209 // the module has no code for this GPU
	InvalidPTX    Result = 218
	NewerPTX      Result = 222 // the PTX is newer than the driver
	NotFound      Result = 500
	IllegalAccess Result = 700 // and its neighbours: a kernel went wrong, and the context is lost
	LaunchFailed  Result = 719
)

// Broken says whether r is the trace of a kernel that went wrong, after which every call in the context fails.
func (r Result) Broken() bool { return r >= IllegalAccess && r <= LaunchFailed && r != 701 }

// What the driver hands out: numbers of devices, addresses in device memory, and handles.
type (
	Device    int32
	Address   uint64
	Context   uintptr
	Module    uintptr
	Function  uintptr
	Stream    uintptr // 0 is the default stream
	Event     uintptr
	Graph     uintptr
	GraphExec uintptr
)

// DeviceAttribute is a CUdevice_attribute.
type DeviceAttribute int32

// The attributes of a device that are read.
const (
	MaxThreadsPerBlock DeviceAttribute = 1
	MultiProcessors    DeviceAttribute = 16
	L2Bytes            DeviceAttribute = 38
	Major              DeviceAttribute = 75
	Minor              DeviceAttribute = 76
	SharedOptIn        DeviceAttribute = 97 // bytes of shared memory that a block can ask for
)

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// The attributes of a kernel that are read or set.
const (
	KernelThreads   FunctionAttribute = 0 // most threads a block
	KernelShared    FunctionAttribute = 1 // static shared memory in bytes
	KernelLocal     FunctionAttribute = 3 // local memory a thread in bytes: spills and stack
	KernelRegisters FunctionAttribute = 4
	DynamicShared   FunctionAttribute = 8 // must be set before a launch with more than 48 KiB
)

// JITOption is a CUjit_option.
type JITOption int32

// The options of ModuleLoadDataEx: two buffers for text, each with its size in bytes, and whether it is to be wordy.
const (
	InfoLog     JITOption = 3
	InfoLogSize JITOption = 4
	ErrorLog    JITOption = 5
	ErrorSize   JITOption = 6
	Verbose     JITOption = 12
)

// Flags of streams, events, host memory and captures.
const (
	StreamNonBlocking  uint32 = 1
	EventDefault       uint32 = 0
	CaptureThreadLocal int32  = 1
	ContextOfPointer   int32  = 1 // attribute of PointerGetAttribute: the context in which memory was allocated
)

// LaunchConfig is a CUlaunchConfig of 56 bytes. Attributes points to Count LaunchAttributes.
type LaunchConfig struct {
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory in bytes
	_           uint32
	Stream      Stream
	Attributes  unsafe.Pointer
	Count       uint32
	_           uint32
}

// The kinds of LaunchAttribute in use.
const (
	LaunchCluster       int32 = 4 // Value begins with x, y, z as 32-bit words
	LaunchProgrammatic  int32 = 6 // Value begins with a 32-bit flag
	launchAttributeSize       = 72
	launchConfigSize          = 56
	tensorMapSize             = 128
)

// LaunchAttribute is a CUlaunchAttribute of 72 bytes.
type LaunchAttribute struct {
	ID    int32
	_     uint32
	Value [64]byte
}

// TensorMap is a CUtensorMap: 128 bytes that the driver fills, at an address that is a multiple of 64 on the host.
type TensorMap [tensorMapSize]byte

// GraphUpdate is a CUgraphExecUpdateResultInfo: what kept a graph from being updated.
type GraphUpdate struct {
	Kind  int32
	_     uint32
	Node  uintptr
	From  uintptr
	Spare uintptr // room for what later drivers may add
}

// The layouts that the driver expects; the program does not compile where they differ.
var (
	_ [launchConfigSize]byte    = [unsafe.Sizeof(LaunchConfig{})]byte{}
	_ [launchAttributeSize]byte = [unsafe.Sizeof(LaunchAttribute{})]byte{}
)
