// SPDX-License-Identifier: Apache-2.0

// Package hardware writes the units of the RTL column: parameters, words of memory images, timing.
package hardware

import (
	"lathe/ir"
	"lathe/ir/op/lane"
)

// Counts is a count that divides size things.
func Counts(size int, things string) ir.Count {
	return ir.Count{Legal: lane.Divisors(size), Size: size, Things: things}
}
