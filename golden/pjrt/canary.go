// SPDX-License-Identifier: Apache-2.0

//go:build cgo && linux

package pjrt

import (
	"fmt"

	"github.com/gomlx/gopjrt/dtypes"
	"github.com/gomlx/gopjrt/pjrt"

	"lathe/golden/hlo"
)

// canarySide is the side of the square matrices of the self-test, large enough for the fast paths of the plugin.
const canarySide = 256

// canaryRounds is how often the operand is swapped.
const canaryRounds = 8

// canary multiplies two f32 matrices, one of which changes in place between runs. A plugin that caches a packed copy of an
// operand under its address returns stale results here; the values are small integers, so any order of sums is exact.
func canary(client *pjrt.Client) error {
	b := hlo.New("canary")
	t := hlo.TypeOf(hlo.F32, canarySide, canarySide)
	x, w := b.Arg("x", t), b.Arg("w", t)
	b.Return(b.DotGeneral(x, w, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, hlo.F32))
	exec, err := client.Compile().WithStableHLO([]byte(b.Text())).Done()
	if err != nil {
		return err
	}
	defer exec.Destroy()
	ones := make([]float32, t.Len())
	for i := range ones {
		ones[i] = 1
	}
	lhs, err := toDevice(client, []hlo.Array{hlo.FromFloat32s(t.Dims, ones)})
	if err != nil {
		return err
	}
	defer destroy(lhs)
	rhs, flat, err := client.NewSharedBuffer(dtypes.Float32, t.Dims)
	if err != nil {
		return err
	}
	defer rhs.Destroy()
	shared, ok := flat.([]float32)
	if !ok {
		return fmt.Errorf("shared buffer of type %T", flat)
	}
	for round := range canaryRounds {
		for i := range shared {
			shared[i] = float32((i%canarySide + round) % 7)
		}
		got, err := exec.Execute(lhs[0], rhs).Done()
		if err != nil {
			return err
		}
		y, err := toHost(got[0])
		destroy(got)
		if err != nil {
			return err
		}
		for i, v := range y.Float64s() {
			if want := float64(canarySide * ((i%canarySide + round) % 7)); v != want {
				return fmt.Errorf("round %d: element %d of an f32 dot is %v instead of %v", round, i, v, want)
			}
		}
	}
	return nil
}
