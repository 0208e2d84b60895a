// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

func TestMXGates(t *testing.T) {
	for _, template := range []string{"mx_block", "mx_wide"} {
		var all [][]string
		for _, c := range gemm.TilesMX {
			if tools.Long || c.Rows() == 64 {
				all = append(all, with(c.Params(), "1", gemm.Epilogue{Out: word.F32}),
					with(c.Params(), "0", gemm.Epilogue{Act: gemm.GeluErf, Out: word.BF16}))
			}
			if tools.Long {
				all = append(all, with(c.Params(), "1", gemm.Epilogue{Act: gemm.Silu, Gate: true, Out: gemm.MXINT8}))
			}
		}
		t.Run(template, func(t *testing.T) { cudatest.Gates(t, made(t, template, all...)...) })
	}
}

// TestMX runs both exact products: their sums are compared bit for bit.
func TestMX(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for i, c := range []struct {
			gemm.MX
			tile     int
			scales   gemmtest.Scales
			exceeded bool
			all      bool
		}{
			{gemm.MX{M: 65, N: 72, K: 400, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, gemmtest.NarrowScales, false, true},
			{gemm.MX{M: 33, N: 80, K: 352, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, gemmtest.AnyScales, true, true},
			{gemm.MX{M: 7, N: 33, K: 33, Epilogue: gemm.Epilogue{Out: word.BF16}}, 1, gemmtest.NarrowScales, false, false},
			{gemm.MX{M: 31, N: 130, K: 129, Epilogue: gemm.Epilogue{Out: word.BF16}}, 0, gemmtest.AnyScales, true, false},
			{gemm.MX{M: 130, N: 96, K: 256, Epilogue: gemm.Epilogue{Out: gemm.MXINT8}}, 2, gemmtest.NarrowScales, false, false},
			{gemm.MX{M: 17, N: 200, K: 96, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.Silu, Gate: true, Bias: true}}, 0,
				gemmtest.NarrowScales, false,
				false},
			{gemm.MX{M: 16, N: 64, K: 64, Epilogue: gemm.Epilogue{Out: word.F32, Act: gemm.GeluErf, Residual: true}}, 1,
				gemmtest.NarrowScales, false, false},
			{gemm.MX{M: 17, N: 96, K: 32, Epilogue: gemm.Epilogue{Out: gemm.MXINT8}}, 0, gemmtest.TinyScales, false, false},
			{gemm.MX{M: 5, N: 40, K: 160, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, gemmtest.TinyScales, false, false},
			{gemm.MX{M: 30, N: 24, K: 1024, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, gemmtest.VoidScales, false, false},
			// lanes meet in a row
			{gemm.MX{M: 1, N: 1, K: 1, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, gemmtest.NarrowScales, false, false},
			{gemm.MX{M: 2, N: 3, K: 0, Epilogue: gemm.Epilogue{Out: word.BF16}}, 0, gemmtest.NarrowScales, false, false},
			{gemm.MX{M: 0, N: 3, K: 5, Epilogue: gemm.Epilogue{Out: word.BF16}}, 0, gemmtest.NarrowScales, false, false},
		} {
			c.Wide = wide
			plan, err := c.With(gemm.TilesMX[c.tile], gemm.Span(c.K))
			if err != nil {
				t.Fatal(err)
			}
			one := gemmtest.MX(c.MX, plan, uint64(i), c.scales)
			if len(one.Launches) == 0 {
				continue
			}
			t.Run(one.Name, func(t *testing.T) {
				out := cudatest.Run(t, cudatest.JobOf(one, !c.all))
				v := one.Check(out)
				if v.Wrong != "" || c.Plain() && !v.BitEqual {
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
	for _, e := range []gemm.Epilogue{{Out: word.F32}, {Out: word.F32, Act: gemm.Silu, Gate: true}} {
		t.Run(gemmtest.Text(e), func(t *testing.T) {
			p := gemm.MX{M: 20, N: 40, K: 128, Wide: true, Epilogue: e}
			plan, err := p.With(gemm.TilesMX[1], -1)
			if err != nil {
				t.Fatal(err)
			}
			one := gemmtest.MX(p, plan, 3, gemmtest.NarrowScales)
			out := cudatest.Run(t, cudatest.JobOf(one, true))
			if v := one.Check(out); v.Wrong != "" || p.Plain() && !v.BitEqual || out[1][0] != 1 {
				t.Errorf("not the same bits: %s, exceeded %v", v.Wrong, out[1])
			}
		})
	}
	for k, want := range map[int]int{1: 43, 32: 43, 33: 42, 128: 41, 129: 40, 16384: 34} {
		if got := gemm.Span(k); got != want {
			t.Errorf("span for k = %d is %d, want %d", k, got, want)
		}
	}
}
