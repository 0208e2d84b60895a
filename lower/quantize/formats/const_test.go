// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"
	"testing"

	"lathe/ir"
	"lathe/ir/op/sum"
)

// TestInfiniteConstant meets a constant that no calibration shows: intervals hide it behind a zero.
func TestInfiniteConstant(t *testing.T) {
	q := &quantizer{}
	n := &ir.Node{Name: "fc", Op: sum.Linear}
	if q.finite(n, n, []float32{1, float32(math.NaN())}) || len(q.errs) != 1 || q.errs[0].Code != "L0408" {
		t.Errorf("%v", q.errs)
	}
}
