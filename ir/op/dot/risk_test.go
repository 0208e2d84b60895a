// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/ir/format"
	"lathe/ir/op/arith"
)

// TestFirstBetween tries every sum: none before the bound rounds otherwise by the factor than by the ratio, and now and
// then the one at the bound does.
func TestFirstBetween(t *testing.T) {
	const sums = 1 << 11
	r := rand.New(rand.NewPCG(1, 1))
	sharp := 0
	for i := range 200 {
		mode := []format.Round{format.RoundEven, format.RoundFloor, format.RoundAway, format.RoundZero}[i%4]
		ratio := new(big.Rat).SetFloat64(0.001 + r.Float64()/4)
		mul, shift, err := arith.Factor(ratio, 10+r.IntN(6))
		if err != nil {
			t.Fatal(err)
		}
		first := firstBetween(ratio, new(big.Rat).Mul(new(big.Rat).SetInt64(mul), arith.TwoTo(-shift)), mode)
		for v := int64(1); v <= sums; v++ {
			num := new(big.Int).Mul(ratio.Num(), big.NewInt(v))
			want := format.RoundQuo(num, ratio.Denom(), mode).Int64()
			if got := format.RS(v*mul, shift, mode); got != want {
				if first == nil || v < first.Int64() {
					t.Fatalf("%v: sum %d gives %d, not %d, before %d", ratio, v, got, want, first)
				}
				if v == first.Int64() {
					sharp++
				}
				break
			}
		}
	}
	if sharp < 20 {
		t.Errorf("the bound was met %d times of 200", sharp)
	}
}
