// SPDX-License-Identifier: Apache-2.0

package recur

import "lathe/ir"

// Recurs: the operation keeps a state from row to row of argument 0. Argument 1 holds the weights of the state, and
// argument 2, which may be missing, a bias; in quantized graphs both are constants in fixed formats.
func Recurs(o *ir.Op) bool { return o == LSTM || o == GRU || o == RNN }
