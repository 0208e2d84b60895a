// SPDX-License-Identifier: Apache-2.0

package op

import (
	"testing"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// TestHasHardware looks through expansions: a rotation and a norm of groups consist of what has units, attention of
// products of matrices.
func TestHasHardware(t *testing.T) {
	for o, want := range map[*ir.Op]bool{pointwise.Relu: true, sum.BatchNorm: true, norm.LogSoftmax: true,
		sequence.Rotary: true,
		norm.LayerNorm:  true, norm.RMSNorm: true, norm.GroupNorm: true, sum.MatMul: false, norm.Softmax: true,
		sequence.Attention: false,
		leaf.Input:         false} {
		if HasHardware(o) != want {
			t.Errorf("%s: hardware %v, want %v", o.Name, !want, want)
		}
	}
}
