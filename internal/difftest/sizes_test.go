// SPDX-License-Identifier: Apache-2.0

//go:build !long

package difftest

// Numbers of cases for each operation; the build tag long has larger ones.
const (
	exactCases   = 12
	exactSamples = 12
)
