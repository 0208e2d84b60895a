// SPDX-License-Identifier: Apache-2.0

package grad_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
	"lathe/train/slow"
)

// TestSlow computes each case and its gradients on the engine in Go: it comes to what PJRT comes to.
func TestSlow(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 1))
			b := c.program(r)
			var args []hlo.Array
			for _, dims := range c.args {
				args = append(args, hlo.FromFloat64s(hlo.F64, dims, c.from.draw(r, dims)))
			}
			want := pjrttest.Run(t, b, args...)
			e := slow.Engine()
			p, err := e.Compile(t.Context(), b.Program())
			if err != nil {
				t.Fatal(err)
			}
			held, err := e.Upload(t.Context(), args...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Step(t.Context(), held)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				a, err := got[i].Download(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				x, y := a.Float64s(), want[i].Float64s()
				for k := range y {
					if !(math.Abs(x[k]-y[k]) <= 1e-6*(math.Abs(y[k])+1e-3)) {
						t.Errorf("result %d, element %d: %v, PJRT %v", i, k, x[k], y[k])
					}
				}
			}
		})
	}
}
