// SPDX-License-Identifier: Apache-2.0

package pjrt_test

import (
	"slices"
	"testing"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// TestDevices sums parts of an axis on three devices: each gets its part, and all have the whole results, step by
// step.
func TestDevices(t *testing.T) {
	cfg := pjrttest.Config(t)
	cfg.Devices = 3
	e, err := pjrt.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	b := hlo.New("sums")
	w, x := b.Arg("w", hlo.TypeOf(hlo.I32, 2)), b.Arg("x", hlo.TypeOf(hlo.I32, 2, 6))
	b.Donate(w, 0)
	b.Split(x, 1)
	next := b.Add(w, b.Mul(b.Reduce(hlo.ReduceAdd, x, 1), b.Weight(hlo.FromInt64s(hlo.I32, nil, []int64{10}))))
	b.Return(next, b.Reduce(hlo.ReduceMax, x, 1))
	p, err := e.Compile(t.Context(), b.Program())
	if err != nil {
		t.Fatal(err)
	}
	state := uploaded(t, e, hlo.FromInt64s(hlo.I32, []int{2}, []int64{1, 2}))[0]
	for step := int64(1); step <= 3; step++ {
		x, err := e.Spread(t.Context(), 1, hlo.FromInt64s(hlo.I32, []int{2, 6},
			[]int64{1, 2, 3, 4, 5, 6 * step, 0, -1, -2, -3, -4, -5}))
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Step(t.Context(), []*pjrt.Buffer{state, x})
		if err != nil {
			t.Fatal(err)
		}
		state = out[0]
		want := [][]int64{{1 + 150*step + 30*step*(step+1), 2 - 150*step}, {max(6*step, 5), 0}}
		for d := range 3 {
			for i, o := range out {
				a, err := o.DownloadFrom(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				if got := a.Int64s(); !slices.Equal(got, want[i]) {
					t.Errorf("step %d: result %d of device %d is %v, not %v", step, i, d, got, want[i])
				}
			}
		}
	}
	if _, err := e.Spread(t.Context(), 0, hlo.FromInt64s(hlo.I32, []int{2}, []int64{1, 2})); diag.CodeOf(err) !=
		diag.PJRTRun {
		t.Errorf("two elements for three devices: %v", err)
	}
}
