// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestAddRounded compares with the sum of rationals.
func TestAddRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a := math.Ldexp(float64(r.IntN(1<<20)-1<<19), r.IntN(300)-190)
		b := math.Float32frombits(r.Uint32())
		if r.IntN(2) == 0 {
			b = float32(a) * (1 + float32(r.IntN(5)-2)/(1<<20))
		}
		if b != b || math.IsInf(float64(b), 0) {
			continue
		}
		sum := new(big.Float).SetPrec(2000).SetFloat64(a)
		want, _ := sum.Add(sum, new(big.Float).SetFloat64(float64(b))).Float32()
		if got := addRounded(a, b); got != want {
			t.Fatalf("%v + %v is %v, want %v", a, b, got, want)
		}
	}
}
