// SPDX-License-Identifier: Apache-2.0

package pointwise

import "lathe/ir"

// Cuts: the result is argument 0, cut off at bounds, in one more rounding where its format is another.
func Cuts(o *ir.Op) bool { return o == Relu || o == Clip }
