// SPDX-License-Identifier: Apache-2.0

//go:build !long

package kernels

// Numbers of cases for each operation; the build tag long has larger ones.
const (
	kernelCases   = 5
	libraryCases  = 4
	fusedCases    = 3
	kernelSamples = 30
)
