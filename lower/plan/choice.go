// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"lathe/ir/format"
)

// Choice is a format that the plan asks for.
type Choice struct {
	Pattern format.Pattern
	// From says who asks: `plan.toml:9 [[quantize.rule]] name = "fc1"`, or that it is the default.
	From string
	// Given says that the plan asks for it, and not only the default: then it stands above what the model itself says.
	Given bool

	Calibrated bool // values of calibration completed it
}

// Blocks returns the block format that choice c asks for.
func (c Choice) Blocks() (format.Block, bool) {
	b, ok := c.Pattern.Format.(format.Block)
	return b, ok
}
