// SPDX-License-Identifier: Apache-2.0

//go:build long

package kernels

// Numbers of cases for each operation.
const (
	kernelCases   = 120
	libraryCases  = 120
	fusedCases    = 80
	kernelTexts   = 300
	kernelSamples = 60
)
