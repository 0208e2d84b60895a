// SPDX-License-Identifier: Apache-2.0

package diag

var graphKernels = []Entry{
	{NoKernels, "A node of the graph is made of operations that have no kernels.",
		"Run the model with `--engine ref` or `pjrt`, or end it before the operation with `--outputs`.",
		"cuda.Emit(g, cuda.Options{}) // emit/cuda; an operation whose StableHLO holds one that this version does not know"},
	{KernelValueTooLarge, "A value is too large for a kernel of the graph.",
		"Give the model smaller inputs: `--shape`, or `--seq` and `--max-seq` for a Hugging Face folder.",
		"cuda.Emit(g, cuda.Options{}) // emit/cuda; a relu of 2^29 elements"},
	{KernelGroups, "Nodes of a graph cannot be computed in the groups that they are put into.",
		"Report the model and the message: Lathe chooses the groups, and no model should break them.",
		"group.New(g, anchors) // a group of a first and a last node, without the one between them"},
	{SlowSum, "The kernel library has nothing for a large sum of products, and a thread a result would be slow.",
		"Pass `--act bf16 --weight bf16`, for which the library may have a kernel, or accept the slow one with " +
			"`--allow-slow`.",
		"lathe emit-cuda model.onnx -o out/ --act fp32 // a linear layer of 1024 x 1024 weights"},
	{NoCacheKernel, "No kernel takes a cache of keys or values, or writes it where it lies.",
		"Pass `--kv bf16`, which has kernels for more head dimensions, or `--past`, which leaves the caches to " +
			"the caller.",
		"lathe emit-cuda llama --max-seq 64 -o out/ // heads of 8 elements: kernels write rows of multiples of 16"},
}
