// SPDX-License-Identifier: Apache-2.0

//go:build !long

package kernels

// Numbers of cases for each operation; the build tag long has larger ones.
const (
	kernelCases   = 7
	libraryCases  = 6
	fusedCases    = 4
	kernelSamples = 30
)
