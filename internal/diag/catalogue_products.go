// SPDX-License-Identifier: Apache-2.0

package diag

var products = []Entry{
	{NoKernelTakes, "No kernel of the library takes the problem: its sizes, formats, strides, masks or functions.",
		"Change the sizes, formats or strides as the message says; docs/kernels.md lists what each kernel takes.",
		"gemm.W8A16{M: 1, N: 3, K: 64, Epilogue: gemm.Epilogue{Out: word.BF16, Gate: true}}.Valid()"},
}
