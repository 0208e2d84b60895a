// SPDX-License-Identifier: Apache-2.0

//go:build !long

package hardware

import "lathe/internal/difftest"

// Numbers of cases for each operation; the build tag long has larger ones.
const (
	exactSamples    = 12
	rtlCases        = 2
	tableCases      = 1
	rtlSamples      = 30
	icarusDesigns   = 1
	chainCases      = 4
	chainsPerDesign = 4
	chainFrames     = 8
	residualCases   = difftest.Residuals
)
