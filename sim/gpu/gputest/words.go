// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"lathe/cuda"
	"lathe/sim/gpu"
)

// The kernels that the stand-in executes.
const (
	CopyWords  = "copy_words(.param .u64 to, .param .u64 from, .param .u32 n)"
	WrongWords = "wrong_words(.param .u64 to, .param .u64 from, .param .u32 n)"
	AddWords   = "add_words(.param .u64 to, .param .u64 from, .param .u32 n, .param .u32 k)"
	FaultWords = "fault_words()"
)

// Words is a program of these kernels: machine code for architectures such as 90, and PTX of a version.
func Words(version string, archs ...int) *gpu.Program {
	kernels := []string{CopyWords, WrongWords, AddWords, FaultWords}
	p := &gpu.Program{Name: "words.cu", PTX: PTX(version, kernels...)}
	for _, a := range archs {
		p.Cubins = append(p.Cubins, gpu.Cubin{Arch: arch(a), Data: Cubin(a, kernels...)})
	}
	return p
}

// Copy is a launch of copy_words, or of wrong_words: n words from the second buffer to the first.
func Copy(kernel string, n int) cuda.Launch {
	return cuda.Launch{Kernel: kernel, Grid: [3]uint32{uint32(n+255) / 256, 1, 1}, Block: [3]uint32{256, 1, 1},
		Args: []cuda.Arg{cuda.Buffer(0), cuda.Buffer(1), cuda.U32(uint32(n))}}
}

// Add is a launch of add_words, which adds k.
func Add(n, k int) cuda.Launch {
	l := Copy("add_words", n)
	l.Args = append(l.Args, cuda.U32(uint32(k)))
	return l
}
