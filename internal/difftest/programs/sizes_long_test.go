// SPDX-License-Identifier: Apache-2.0

//go:build long

package programs

// Numbers of cases for each operation.
const (
	exactSamples = 20
	pjrtCases    = 500
)
