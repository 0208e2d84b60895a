// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"fmt"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
)

// ties is the case of nearly ties in a configuration; a span of -1 takes the longer accumulators.
func ties(t testing.TB, e gemm.Epilogue, span int) cuda.Case {
	t.Helper()
	p := gemm.MX{M: 1, N: 32, K: 96, Wide: true, Epilogue: e}
	plan, err := p.With(gemm.TilesMX[1], span)
	if err != nil {
		t.Fatal(err)
	}
	return gemmtest.NearTies(p, plan, span < 0)
}

// TestTies rounds sums that are nearly ties, with both accumulators: once to the result where nothing follows the sum,
// and to fp32 first where something does.
func TestTies(t *testing.T) {
	for _, c := range []struct {
		gemm.Epilogue
		span int
	}{
		{gemm.Epilogue{Out: word.F32}, gemm.Span(96)}, {gemm.Epilogue{Out: word.F32}, -1}, {gemm.Epilogue{Out: word.BF16},
			gemm.Span(96)}, {gemm.Epilogue{Out: word.BF16}, -1},
		{gemm.Epilogue{Out: word.BF16, Bias: true}, gemm.Span(96)}, {gemm.Epilogue{Out: word.BF16, Residual: true},
			gemm.Span(96)},
		{gemm.Epilogue{Out: word.BF16, Act: gemm.Relu}, gemm.Span(96)}, {gemm.Epilogue{Out: word.BF16, Gate: true},
			gemm.Span(96)},
	} {
		t.Run(fmt.Sprintf("%s, span %d", gemmtest.Text(c.Epilogue), c.span), func(t *testing.T) {
			if v := cudatest.RunCase(t, ties(t, c.Epilogue, c.span), true); !v.BitEqual {
				t.Error("not the same bits")
			}
		})
	}
}
