// SPDX-License-Identifier: Apache-2.0

package norm

import "lathe/ir"

// HasGains: argument 1, which may be missing, multiplies the elements of what is computed of argument 0, and argument
// 2, which may be missing, is added to them. In quantized graphs both are constants in fixed formats of up to 16 bits.
func HasGains(o *ir.Op) bool { return o == LayerNorm || o == RMSNorm }

// KeepsRanks: along Axis, elements of the result stand in the order of those of argument 0, the only one.
func KeepsRanks(o *ir.Op) bool { return o == Softmax || o == LogSoftmax }
