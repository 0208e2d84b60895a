// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/cuda/cudatest"
	"lathe/internal/tools"
)

func TestMXGates(t *testing.T) {
	for _, template := range []string{"mx_block", "mx_wide"} {
		var all [][]string
		for _, c := range tilesMX {
			if tools.Long || c.bm == 64 {
				all = append(all, with(c.params(), "1", Epilogue{Out: F32}),
					with(c.params(), "0", Epilogue{Act: GeluErf, Out: BF16}))
			}
			if tools.Long {
				all = append(all, with(c.params(), "1", Epilogue{Act: Silu, Gate: true, Out: MXINT8}))
			}
		}
		t.Run(template, func(t *testing.T) { cudatest.Gates(t, made(t, template, all...)...) })
	}
}

// TestMX runs both exact products: their sums are compared bit for bit.
func TestMX(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for i, c := range []struct {
			MX
			tile     int
			scales   Scales
			exceeded bool
			all      bool
		}{
			{MX{M: 65, N: 72, K: 400, Epilogue: Epilogue{Out: F32}}, 1, NarrowScales, false, true},
			{MX{M: 33, N: 80, K: 352, Epilogue: Epilogue{Out: F32}}, 1, AnyScales, true, true},
			{MX{M: 7, N: 33, K: 33, Epilogue: Epilogue{Out: BF16}}, 1, NarrowScales, false, false},
			{MX{M: 31, N: 130, K: 129, Epilogue: Epilogue{Out: BF16}}, 0, AnyScales, true, false},
			{MX{M: 130, N: 96, K: 256, Epilogue: Epilogue{Out: MXINT8}}, 2, NarrowScales, false, false},
			{MX{M: 17, N: 200, K: 96, Epilogue: Epilogue{Out: BF16, Act: Silu, Gate: true, Bias: true}}, 0, NarrowScales, false,
				false},
			{MX{M: 16, N: 64, K: 64, Epilogue: Epilogue{Out: F32, Act: GeluErf, Residual: true}}, 1, NarrowScales, false, false},
			{MX{M: 17, N: 96, K: 32, Epilogue: Epilogue{Out: MXINT8}}, 0, TinyScales, false, false},
			{MX{M: 5, N: 40, K: 160, Epilogue: Epilogue{Out: F32}}, 1, TinyScales, false, false},
			{MX{M: 30, N: 24, K: 1024, Epilogue: Epilogue{Out: F32}}, 1, VoidScales, false, false}, // lanes meet in a row
			{MX{M: 1, N: 1, K: 1, Epilogue: Epilogue{Out: F32}}, 0, NarrowScales, false, false},
			{MX{M: 2, N: 3, K: 0, Epilogue: Epilogue{Out: BF16}}, 0, NarrowScales, false, false},
			{MX{M: 0, N: 3, K: 5, Epilogue: Epilogue{Out: BF16}}, 0, NarrowScales, false, false},
		} {
			c.Wide = wide
			plan, err := c.with(tilesMX[c.tile], Span(c.K))
			if err != nil {
				t.Fatal(err)
			}
			one := c.Case(plan, uint64(i), c.scales)
			if len(one.Launches) == 0 {
				continue
			}
			t.Run(one.Name, func(t *testing.T) {
				out := cudatest.Run(t, cudatest.JobOf(one, !c.all))
				v := one.Check(out)
				if v.Wrong != "" || c.plain() && !v.BitEqual {
					t.Error(v.Wrong)
				}
				if wide && (out[len(out)-1][0] == 1) != c.exceeded {
					t.Error("the span was exceeded:", !c.exceeded)
				}
			})
		}
	}
}

// TestSpan forces every sum through the longer accumulators, by a span that no block keeps.
func TestSpan(t *testing.T) {
	for _, e := range []Epilogue{{Out: F32}, {Out: F32, Act: Silu, Gate: true}} {
		t.Run(e.text(), func(t *testing.T) {
			p := MX{M: 20, N: 40, K: 128, Wide: true, Epilogue: e}
			plan, err := p.with(tilesMX[1], -1)
			if err != nil {
				t.Fatal(err)
			}
			one := p.Case(plan, 3, NarrowScales)
			out := cudatest.Run(t, cudatest.JobOf(one, true))
			if v := one.Check(out); v.Wrong != "" || p.plain() && !v.BitEqual || out[1][0] != 1 {
				t.Errorf("not the same bits: %s, exceeded %v", v.Wrong, out[1])
			}
		})
	}
	for k, want := range map[int]int{1: 43, 32: 43, 33: 42, 128: 41, 129: 40, 16384: 34} {
		if got := Span(k); got != want {
			t.Errorf("span for k = %d is %d, want %d", k, got, want)
		}
	}
}

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
