// SPDX-License-Identifier: Apache-2.0

//go:build !long

package floats

// Numbers of cases for each operation; the build tag long has larger ones.
const (
	exactSamples = 12
	floatCases   = 3
)
