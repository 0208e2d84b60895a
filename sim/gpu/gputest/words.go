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

// AddPTX is add_words as a compiler would print it: to[i] = from[i] + k for i below n.
const AddPTX = `.version 7.4
.target sm_80
.address_size 64
.visible .entry add_words(
	.param .u64 add_words_param_0,
	.param .u64 add_words_param_1,
	.param .u32 add_words_param_2,
	.param .u32 add_words_param_3
)
.maxntid 256, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [add_words_param_0];
	ld.param.u64 %rd2, [add_words_param_1];
	ld.param.u32 %r1, [add_words_param_2];
	ld.param.u32 %r2, [add_words_param_3];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r3, 256, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra $L_1;
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mul.wide.u32 %rd5, %r5, 4;
	add.s64 %rd6, %rd4, %rd5;
	ld.global.u32 %r6, [%rd6];
	add.s32 %r7, %r6, %r2;
	add.s64 %rd7, %rd3, %rd5;
	st.global.u32 [%rd7], %r7;
$L_1:
	ret;
}
`
