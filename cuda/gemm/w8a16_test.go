// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
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
func with(params []string, vec string, e Epilogue) []string {
	return append(append(append([]string{}, params...), vec), e.params()...)
}

// TestW8A16Gates compiles every configuration, with the epilogues that need most.
func TestW8A16Gates(t *testing.T) {
	var all [][]string
	configs := tilesBF16
	if !tools.Long {
		configs = configs[3:4]
	}
	for _, c := range configs {
		all = append(all, with(c.params(), "1", Epilogue{Act: GeluErf, Out: BF16}),
			with(c.params(), "1", Epilogue{Act: Silu, Gate: true, Out: MXINT8}), with(c.params(), "0", Epilogue{Out: F32}))
	}
	cudatest.Gates(t, made(t, "w8a16", all...)...)
}

func TestThinGates(t *testing.T) {
	all := [][]string{with(thins[1].params(), "1", Epilogue{Act: Silu, Gate: true, Out: BF16}),
		with(thins[3].params(), "1", Epilogue{Act: GeluErf, Out: MXINT8})}
	for _, c := range thins {
		if tools.Long {
			all = append(all, with(c.params(), "1", Epilogue{Act: GeluErf, Out: BF16}),
				with(c.params(), "0", Epilogue{Out: F32}))
		}
	}
	cudatest.Gates(t, made(t, "w8a16_thin", all...)...)
}

func TestSplitSumGates(t *testing.T) {
	cudatest.Gates(t, made(t, "split_sum", Epilogue{Act: GeluErf, Out: BF16}.params(), Epilogue{Out: F32}.params(),
		Epilogue{Act: Silu, Gate: true, Out: MXINT8}.params())...)
}
