// SPDX-License-Identifier: Apache-2.0

//go:build long

package hardware

import "lathe/internal/difftest"

// Numbers of cases for each operation.
const (
	exactSamples    = 20
	rtlCases        = 60
	tableCases      = 10
	rtlSamples      = 100
	icarusDesigns   = 20
	chainCases      = 140
	chainsPerDesign = 4
	chainFrames     = 30
	residualCases   = 12 * difftest.Residuals
)
