// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"testing"

	"lathe/cuda"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
)

// TestTarget: groups are asked for of the target that kernels are for.
func TestTarget(t *testing.T) {
	hopper, err := cuda.FindArch("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target cuda.Target
		arch   string
		many   int
	}{{cuda.Portable(), "sm_80", 1}, {cuda.Target{Arch: hopper, Samples: 4}, "sm_90", 4}} {
		var asked []cuda.Target
		op := *pointwise.Relu
		was := op.CUDA
		op.CUDA = func(g *ir.Group, target cuda.Target) (*cuda.Unit, error) {
			asked = append(asked, target)
			return was(g, target)
		}
		b := lowertest.New(t, 1)
		g := b.Done(b.Add(&op, "r", nil, b.Input("x", 1, 8)))
		if _, _, err := Run(t.Context(), g, Precision{}, c.target, Options{}); err != nil {
			t.Fatal(err)
		}
		if len(asked) == 0 {
			t.Error("the column was not asked")
		}
		for _, a := range asked {
			if a.Arch.Name != c.arch || a.Samples != c.many {
				t.Errorf("asked for %s and %d samples, want %s and %d", a.Arch.Name, a.Samples, c.arch, c.many)
			}
		}
	}
}
