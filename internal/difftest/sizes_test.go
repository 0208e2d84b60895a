// SPDX-License-Identifier: Apache-2.0

//go:build !long

package difftest

// Numbers of cases for each operation; the build tag long has larger ones.
const (
	exactCases      = 40
	exactSamples    = 12
	floatCases      = 12
	pjrtCases       = 20
	pjrtSamples     = 100
	rtlCases        = 6
	tableCases      = 1
	rtlSamples      = 30
	icarusDesigns   = 2
	chainCases      = 14
	chainsPerDesign = 4
	chainFrames     = 8
	residualCases   = 2 * Residuals
	kernelCases     = 10
	libraryCases    = 6
	kernelSamples   = 30
)
