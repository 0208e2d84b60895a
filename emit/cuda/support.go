// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math/rand/v2"

	"lathe/ir"
)

// HasKernels says that an operation has kernels: those of a random node of it can be made, in one of the formats that
// it takes.
func HasKernels(o *ir.Op) bool {
	if o.Gen == nil {
		return false
	}
	for seed := range uint64(8) {
		if _, err := Emit(o.Gen(rand.New(rand.NewPCG(seed, 1)), o), Options{}); err == nil {
			return true
		}
	}
	return false
}
