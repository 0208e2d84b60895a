// SPDX-License-Identifier: Apache-2.0

//go:build long

package difftest

// Numbers of cases for each operation.
const (
	exactCases      = 1500
	exactSamples    = 20
	floatCases      = 200
	pjrtCases       = 500
	pjrtSamples     = 400
	rtlCases        = 60
	tableCases      = 10
	rtlSamples      = 100
	icarusDesigns   = 20
	chainCases      = 140
	chainsPerDesign = 4
	chainFrames     = 30
	residualCases   = 12 * Residuals
	kernelCases     = 120
	libraryCases    = 120
	kernelTexts     = 300
	kernelSamples   = 60
)
