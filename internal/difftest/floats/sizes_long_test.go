// SPDX-License-Identifier: Apache-2.0

//go:build long

package floats

// Numbers of cases for each operation.
const (
	exactSamples = 20
	floatCases   = 200
)
