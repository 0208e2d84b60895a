// SPDX-License-Identifier: Apache-2.0

package whole

import "lathe/ir"

// Converts: the result is argument 0 in another type.
func Converts(o *ir.Op) bool { return o == Convert }
