// SPDX-License-Identifier: Apache-2.0

package diag

var graphKernels = []Entry{
	{"L0945", "A node of the graph is made of operations that have no kernels.",
		"cuda.Emit(g, cuda.Options{}) // emit/cuda; an operation whose StableHLO holds one that this version does not know"},
	{"L0946", "A value is too large for a kernel of the graph.",
		"cuda.Emit(g, cuda.Options{}) // emit/cuda; a relu of 2^29 elements"},
}
