// SPDX-License-Identifier: Apache-2.0

package diag

var products = []Entry{
	{"L0990", "No kernel for products of matrices can take these sizes or this epilogue.",
		"gemm.W8A16{M: 1, N: 3, K: 64, Epilogue: gemm.Epilogue{Out: gemm.BF16, Gate: true}}.Valid(arch)"},
}
