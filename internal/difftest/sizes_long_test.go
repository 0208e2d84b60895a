// SPDX-License-Identifier: Apache-2.0

//go:build long

package difftest

// Numbers of cases for each operation.
const (
	exactCases   = 1500
	exactSamples = 20
)
