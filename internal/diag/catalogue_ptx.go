// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of kernels that run in the interpreter.
var interpreter = []Entry{
	{"L0960", "The text is not valid PTX.",
		"ptx.Parse(\"k.ptx\", []byte(\".version 8.8\")) // and nothing else"},
	{"L0961", "The interpreter does not execute an opcode, modifier or operand of a kernel.",
		"ptx.Parse(\"k.ptx\", text) // with a wgmma"},
	{"L0962", "Invalid kernel launch: too many threads, too much shared memory, parameters of wrong length.",
		"machine.Launch(k, grid, block, 0, nil) // of a kernel with parameters"},
	{"L0963", "A buffer of the interpreter cannot be made, or a copy from or to it leaves it.",
		"machine.Read(0x1000, data) // where no buffer is"},
	{"L0964", "A kernel reads or writes outside the memory it was given.",
		"machine.Launch(k, grid, block, 0, params) // one block more than the buffer holds"},
	{"L0965", "A kernel accesses memory at an address that is not aligned.",
		"machine.Launch(k, grid, block, 0, params) // with the address of an element plus one"},
	{"L0966", "The lanes of a warp execute separately an instruction that they must execute together.",
		"machine.Launch(k, grid, block, 0, params) // a barrier after a branch"},
	{"L0967", "Two warps access a byte of shared or global memory, one of them writes it, and nothing orders the two.",
		"machine.Launch(k, grid, block, 0, params) // a warp reads what another one has written"},
	{"L0968", "A kernel reads shared memory that was never written.",
		"machine.Launch(k, grid, block, 0, params) // a load from shared memory, and no store"},
	{"L0969", "A block is stuck: all its warps wait.",
		"machine.Launch(k, grid, block, 0, params) // a barrier for more warps than there are"},
	{"L0970", "A kernel exceeds the limit on instructions.",
		"machine.Launch(k, grid, block, 0, params) // a loop without an end"},
	{"L0971", "A kernel executes a trap.",
		"machine.Launch(k, grid, block, 0, params) // of a kernel with a trap"},
	{"L0972", "A barrier is used with different numbers of threads, or by a warp twice, or does not exist.",
		"machine.Launch(k, grid, block, 0, params) // barrier 99"},
	{"L0973", "A kernel accesses shared memory that an asynchronous copy is still writing.",
		"machine.Launch(k, grid, block, 0, params) // a cp.async, a load, and no wait"},
	{"L0974", "Two lanes of a warp write different values to one address at once.",
		"machine.Launch(k, grid, block, 0, params) // every thread stores its number in the same place"},
}
