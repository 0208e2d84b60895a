// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"testing"

	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// productFaults are those of the kernels that multiply matrices.
var productFaults = map[diag.Code]func(t *testing.T) error{
	"L0990": func(*testing.T) error {
		return gemm.W8A16{M: 1, N: 3, K: 64, Epilogue: gemm.Epilogue{Out: word.BF16, Gate: true}}.Valid()
	},
}
