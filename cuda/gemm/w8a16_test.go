// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

// made are instances of a template.
func made(t testing.TB, template string, all ...[]string) []cuda.Instance {
	t.Helper()
	var out []cuda.Instance
	for _, params := range all {
		i, err := cuda.Named(template, params...)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, i)
	}
	return out
}

// with are the parameters of a configuration: vector loads and an epilogue.
func with(params []string, vec string, e gemm.Epilogue) []string {
	return append(append(append([]string{}, params...), vec), e.Params()...)
}

// TestW8A16Gates compiles every configuration, with the epilogues that need most.
func TestW8A16Gates(t *testing.T) {
	var all [][]string
	configs := gemm.TilesBF16
	if !tools.Long {
		configs = configs[3:4]
	}
	for _, c := range configs {
		all = append(all, with(c.Params(), "1", gemm.Epilogue{Act: gemm.GeluErf, Out: word.BF16}),
			with(c.Params(), "1", gemm.Epilogue{Act: gemm.Silu, Gate: true, Out: gemm.MXINT8}), with(c.Params(), "0",
				gemm.Epilogue{Out: word.F32}))
	}
	cudatest.Gates(t, made(t, "w8a16", all...)...)
}

func TestThinGates(t *testing.T) {
	all := [][]string{with(gemm.Thins[1].Params(), "1", gemm.Epilogue{Act: gemm.Silu, Gate: true, Out: word.BF16}),
		with(gemm.Thins[3].Params(), "1", gemm.Epilogue{Act: gemm.GeluErf, Out: gemm.MXINT8})}
	for _, c := range gemm.Thins {
		if tools.Long {
			all = append(all, with(c.Params(), "1", gemm.Epilogue{Act: gemm.GeluErf, Out: word.BF16}),
				with(c.Params(), "0", gemm.Epilogue{Out: word.F32}))
		}
	}
	cudatest.Gates(t, made(t, "w8a16_thin", all...)...)
}

func TestSplitSumGates(t *testing.T) {
	cudatest.Gates(t, made(t, "split_sum", gemm.Epilogue{Act: gemm.GeluErf, Out: word.BF16}.Params(),
		gemm.Epilogue{Out: word.F32}.Params(),
		gemm.Epilogue{Act: gemm.Silu, Gate: true, Out: gemm.MXINT8}.Params())...)
}
