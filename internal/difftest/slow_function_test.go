// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math/big"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
)

// TestUnknown: no definition of another operation stands in for one that is missing.
func TestUnknown(t *testing.T) {
	for _, f := range []format.Format{format.FP32, format.Fixed{W: 8, F: 4, Signed: true}} {
		for _, traits := range []ir.Traits{{Elementwise: true}, {Elementwise: true, FloatOnly: true}, {Table: true}} {
			n := &ir.Node{Name: "y", Op: &ir.Op{Name: "toy", Traits: traits}, Type: ir.Type{Shape: []int{1}, Format: f}}
			n.Args = []*ir.Node{{Name: "x", Op: n.Op, Type: n.Type}}
			x := value{n.Type.Shape, []*big.Rat{big.NewRat(1, 2)}}
			if y, err := slowResult(n, []value{x}); err == nil || !strings.Contains(err.Error(), "does not know toy") {
				t.Errorf("%s of 1/2: %v, %v", f, y, err)
			}
			if y, known := slowFunction(n, x.x[0]); known {
				t.Errorf("an operation without definition is %v at 1/2", y)
			}
		}
	}
	for _, o := range []*ir.Op{curve.Sigmoid, curve.Tanh} {
		if _, known := slowFunction(&ir.Node{Op: o}, big.NewRat(1, 2)); !known {
			t.Errorf("%s has no definition", o.Name)
		}
	}
}
