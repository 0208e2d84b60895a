// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of kernels that run in the interpreter.
var interpreter = []Entry{
	{WgmmaRegister,
		"A kernel uses a register that a wgmma in flight reads or writes, or gives one to a wgmma without a fence.",
		"Put a wgmma.fence in front of the wgmma, and a wgmma.wait_group for it before its registers are used.",
		"machine.Launch(k, grid, block, 0, params) // sums are stored before wgmma.wait_group"},
	{ProxyFence, "The asynchronous proxy accesses shared memory that threads wrote without fence.proxy.async.",
		"Put fence.proxy.async after the writes and before the barrier, or behind the barrier in the reader.",
		"machine.Launch(k, grid, block, 0, params) // stores, a barrier, and a bulk copy of what was stored"},
	{MatrixDescriptor, "A matrix descriptor of wgmma, or a tensor map, is invalid or misaligned.",
		"Correct the address, strides or swizzle in the message: boxes and patterns begin at aligned addresses, " +
			"in limits that docs/ptx.md describes.",
		"machine.Launch(k, grid, block, 0, params) // a box at an address that is no multiple of 128"},
	{PTXSyntax, "The text is not valid PTX.",
		"Pass the PTX as NVRTC has printed it, or correct the line in the message.",
		"ptx.Parse(\"k.ptx\", []byte(\".version 8.8\")) // and nothing else"},
	{PTXUnsupported, "The interpreter does not execute an opcode, modifier or operand of a kernel.",
		"Compile for compute_80, or write the kernel without the opcode or modifier; docs/ptx.md lists what is " +
			"executed.",
		"ptx.Parse(\"k.ptx\", text) // with a tcgen05.mma"},
	{PTXLaunch, "Invalid kernel launch: too many threads, too much shared memory, parameters of wrong length.",
		"Launch with threads, shared memory and parameter bytes within what the message says the kernel takes.",
		"machine.Launch(k, grid, block, 0, nil) // of a kernel with parameters"},
	{PTXBuffer, "A buffer of the interpreter cannot be made, or a copy from or to it leaves it.",
		"Allocate the buffer first, at a multiple of 256 bytes and clear of others, and copy within its length.",
		"machine.Read(0x1000, data) // where no buffer is"},
	{OutOfBounds, "A kernel reads or writes outside the memory it was given.",
		"Guard the access in the kernel by the number of elements, or launch fewer blocks; the message gives the " +
			"offset, the buffer and its size.",
		"machine.Launch(k, grid, block, 0, params) // one block more than the buffer holds"},
	{Misaligned, "A kernel accesses memory at an address that is not aligned.",
		"Align the address to the bytes of the access, or use a narrower load or store.",
		"machine.Launch(k, grid, block, 0, params) // with the address of an element plus one"},
	{Diverged, "The lanes of a warp execute separately an instruction that they must execute together.",
		"Move the instruction out of the branch so that all lanes reach it, or give it a mask of the lanes that " +
			"do.",
		"machine.Launch(k, grid, block, 0, params) // a barrier after a branch"},
	{DataRace, "Two warps access a byte of shared or global memory, one of them writes it, and nothing orders the two.",
		"Put a barrier between the two accesses that the message names; between blocks, use atomics and fences or " +
			"a second launch.",
		"machine.Launch(k, grid, block, 0, params) // a warp reads what another one has written"},
	{SharedUnwritten, "A kernel reads shared memory that was never written.",
		"Write the byte of shared memory before it is read, or skip the read where nothing was stored.",
		"machine.Launch(k, grid, block, 0, params) // a load from shared memory, and no store"},
	{BlockStuck, "A block is stuck: all its warps wait.",
		"Let all warps that the barrier counts arrive at it: the notes say where each warp waits.",
		"machine.Launch(k, grid, block, 0, params) // a barrier for more warps than there are"},
	{InstructionLimit, "A kernel exceeds the limit on instructions.",
		"Look for a loop without an end at the line in the message, or raise Limit of ptx.Options if the kernel " +
			"is sound.",
		"machine.Launch(k, grid, block, 0, params) // a loop without an end"},
	{Trap, "A kernel executes a trap.",
		"Look up why the kernel traps at the line in the message: an assertion of its source does not hold for " +
			"these arguments.",
		"machine.Launch(k, grid, block, 0, params) // of a kernel with a trap"},
	{BarrierMisuse, "A barrier or mbarrier does not exist, or is used with wrong numbers of threads, arrivals or bytes.",
		"Initialise the mbarrier once before its use, and announce exactly the threads, arrivals and bytes that " +
			"come.",
		"machine.Launch(k, grid, block, 0, params) // barrier 99"},
	{CopyInFlight, "A kernel accesses shared memory that an asynchronous copy is still writing.",
		"Wait for the copy before the access: cp.async.wait_group, the phase of its mbarrier, or bulk wait_group, " +
			"for enough groups.",
		"machine.Launch(k, grid, block, 0, params) // a cp.async, a load, and no wait"},
	{LanesConflict, "Two lanes of a warp write different values to one address at once.",
		"Let one lane store, or give each lane an address of its own; use an atomic if all must add up.",
		"machine.Launch(k, grid, block, 0, params) // every thread stores its number in the same place"},
}
