// SPDX-License-Identifier: Apache-2.0

package sequence

import "lathe/ir"

// TakesAngles: arguments 1 and 2 are cosines and sines. In quantized graphs both are constants of one fixed format.
func TakesAngles(o *ir.Op) bool { return o == Rotate }

// ReadsTable: elements of the result are elements of argument 0, a constant, and have its format.
func ReadsTable(o *ir.Op) bool { return o == Embedding }

// ByPosition: the result is argument 0, batch x heads x positions x elements, changed by what the other arguments say
// of positions: alike for all heads.
func ByPosition(o *ir.Op) bool { return o == Rotary }

// MaskOf is the argument, which may be missing, whose elements are 0 for the keys that are not there; 0: there is none.
func MaskOf(o *ir.Op) int {
	if o == AttendWeights {
		return 1
	}
	return 0
}

// Updates: the result is argument 0 with argument 1 written over a part of it; kernels write it where argument 0 lies.
func Updates(o *ir.Op) bool { return o == Append }

// ReadsStrides: kernels on a GPU find the rows of arguments by strides, so that moves in front of them cost nothing.
func ReadsStrides(o *ir.Op) bool { return o == Attention || o == Rotary || o == Append }
