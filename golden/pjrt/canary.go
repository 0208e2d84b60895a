// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"fmt"

	"lathe/ir/hlo"
)

// The self-test multiplies f32 matrices [m,k] by [k,n], of which the second changes in place between runs. A plugin
// that keeps a packed copy of an operand under its address returns stale results. XLA does so where its cost model
// hands a dot to XNNPACK, which in 2025 it does on AMD Zen 2 and 3 for about these sizes (not for 64 or 256 in all
// three).
const (
	canaryM, canaryK, canaryN = 256, 256, 512
	canaryRounds              = 5
)

// canaryProgram is the product of two arguments.
func canaryProgram() (p *hlo.Program, x, w hlo.Type) {
	b := hlo.New("canary")
	x, w = hlo.TypeOf(hlo.F32, canaryM, canaryK), hlo.TypeOf(hlo.F32, canaryK, canaryN)
	y := b.DotGeneral(b.Arg("x", x), b.Arg("w", w), hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, hlo.F32)
	b.Return(y)
	return b.Program(), x, w
}

// canary fills w with one value a column, another in each round, and checks the product with a matrix of ones. All
// values are small integers, so that sums in any order are exact.
func canary(w []float32, product func() ([]float64, error)) error {
	value := func(column, round int) int { return (column + round) % 7 }
	for round := range canaryRounds {
		for i := range w {
			w[i] = float32(value(i%canaryN, round))
		}
		y, err := product()
		if err != nil {
			return err
		}
		if len(y) != canaryM*canaryN {
			return fmt.Errorf("an f32 dot has %d elements instead of %d", len(y), canaryM*canaryN)
		}
		for i, v := range y {
			if want := float64(canaryK * value(i%canaryN, round)); v != want {
				return fmt.Errorf("element %d of an f32 dot is %v instead of %v in run %d", i, v, want, round)
			}
		}
	}
	return nil
}
