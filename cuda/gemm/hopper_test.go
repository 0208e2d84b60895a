// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// hopper16 is a case of a configuration.
func hopper16(t testing.TB, p gemm.W16A16, extent, blocks int, seed uint64) cuda.Case {
	t.Helper()
	h := gemm.Hopper16{W16A16: p}
	if err := h.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := h.With(extent, blocks)
	if err != nil {
		t.Fatal(err)
	}
	return gemmtest.Hopper16(h, plan, seed, true, 1)
}

func hopper8(t testing.TB, p gemm.W8A16, extent, blocks int, seed uint64) cuda.Case {
	t.Helper()
	h := gemm.Hopper8{W8A16: p}
	if err := h.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := h.With(extent, blocks)
	if err != nil {
		t.Fatal(err)
	}
	return gemmtest.W8A16(p, plan, seed, true, 1)
}

// TestHopperGates compiles every configuration, with the epilogues that need most.
func TestHopperGates(t *testing.T) {
	var all []cuda.Instance
	for _, extent := range []int{256, 128} {
		for _, e := range []gemm.Epilogue{{Act: gemm.GeluErf, Out: word.BF16}, {Act: gemm.Silu, Gate: true, Out: gemm.MXINT8},
			{Out: word.F32}} {
			p := gemm.W16A16{M: 1, N: 32, K: 8, Word: word.BFloat16, Epilogue: e}
			all = append(all, hopper16(t, p, extent, 0, 0).Instances...)
			all = append(all, hopper8(t, gemm.W8A16{M: 1, N: 32, K: 8, Epilogue: e}, extent, 0, 0).Instances...)
		}
	}
	cudatest.Gates(t, all...)
}

// TestHopper16 runs small problems: ends beside those of tiles, several tiles a block, every epilogue.
func TestHopper16(t *testing.T) {
	const bf16, f16 = word.BFloat16, word.Float16
	for i, c := range []struct {
		gemm.W16A16
		extent, blocks int
		all            bool
	}{
		{gemm.W16A16{M: 65, N: 72, K: 200, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 128, 0, true},
		{gemm.W16A16{M: 129, N: 129, K: 392, Word: bf16, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.GeluErf,
			Bias: true, Residual: true}}, 128, 3, false},
		{gemm.W16A16{M: 128, N: 257, K: 64, Word: f16, Epilogue: gemm.Epilogue{Out: word.F16, Act: gemm.ReluLast,
			Residual: true}}, 256, 1, false},
		{gemm.W16A16{M: 7, N: 144, K: 72, Word: bf16, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true,
			Bias: true}}, 256, 0, false},
		{gemm.W16A16{M: 127, N: 127, K: 8, Word: bf16, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Bias: true}}, 128, 0, false},
		{gemm.W16A16{M: 0, N: 8, K: 64, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 128, 0, false},
	} {
		run(t, hopper16(t, c.W16A16, c.extent, c.blocks, uint64(i)), !c.all)
	}
}

// TestHopper8 does so with weights in MXINT8.
func TestHopper8(t *testing.T) {
	for i, c := range []struct {
		gemm.W8A16
		extent, blocks int
		all            bool
	}{
		{gemm.W8A16{M: 65, N: 72, K: 200, Epilogue: gemm.Epilogue{Out: word.F32}}, 128, 0, true},
		{gemm.W8A16{M: 129, N: 129, K: 392, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.GeluErf, Bias: true,
			Residual: true}}, 128, 3, false},
		{gemm.W8A16{M: 257, N: 128, K: 64, Epilogue: gemm.Epilogue{Out: word.F32}}, 256, 1, false},
		{gemm.W8A16{M: 7, N: 144, K: 72, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true, Bias: true}},
			256, 0, false},
	} {
		run(t, hopper8(t, c.W8A16, c.extent, c.blocks, uint64(i)), !c.all)
	}
}

// TestHopperInt8 demands every bit.
func TestHopperInt8(t *testing.T) {
	for i, c := range []struct {
		gemm.Int8
		extent int
		all    bool
	}{
		{gemm.Int8{M: 65, N: 72, K: 400, Result: gemmtest.Codes8, Zero: 3}, 128, true},
		{gemm.Int8{M: 129, N: 130, K: 656, Unsigned: true, Result: format.Fixed{W: 16, Signed: true, Over: format.Sym}}, 128,
			false},
		{gemm.Int8{M: 9, N: 257, K: 128, Raw: true}, 256, false},
	} {
		p := gemm.HopperInt8{Int8: c.Int8}
		if err := p.Valid(); err != nil {
			t.Fatal(err)
		}
		plan, err := p.With(c.extent)
		if err != nil {
			t.Fatal(err)
		}
		one := gemmtest.HopperInt8(p, plan, uint64(i), gemmtest.Channels(c.Int8, uint64(i), i == 0))
		t.Run(one.Name, func(t *testing.T) { cudatest.RunCase(t, one, !c.all) })
	}
}

// TestHopperAgrees demands of the kernels of sm_90a what those of sm_80 compute on the same data, within the tolerance
// of both, in every order. The interpreter adds 16 products at a time in either, so sums in fp32 have equal bits.
func TestHopperAgrees(t *testing.T) {
	p := gemm.W16A16{M: 70, N: 136, K: 136, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.F32}}
	want := cudatest.Run(t, cudatest.JobOf(halfCase(t, p, gemm.Tiles16[3], 1, 9), true))
	got := cudatest.Run(t, cudatest.JobOf(hopper16(t, p, 128, 0, 9), false))
	cudatest.Equal(t, "w16a16", got[0], want[0], 4)
	q := gemm.W8A16{M: 70, N: 136, K: 136, Epilogue: gemm.Epilogue{Out: word.F32}}
	c := gemmtest.W8A16(q, planned(t, q, "w8a16", gemm.TilesBF16[2].Params(), 1), 9, true, 1)
	want = cudatest.Run(t, cudatest.JobOf(c, true))
	got = cudatest.Run(t, cudatest.JobOf(hopper8(t, q, 128, 0, 9), false))
	cudatest.Equal(t, "w8a16", got[0], want[0], 4)
}

// TestHopperFaults plants faults in the protocol between the warpgroups, which one run finds.
func TestHopperFaults(t *testing.T) {
	// Seven steps, so that every stage is filled anew, and two tiles for one block.
	plain := hopper16(t, gemm.W16A16{M: 65, N: 136, K: 392, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.F32}},
		128, 1, 1)
	blocks := hopper8(t, gemm.W8A16{M: 65, N: 72, K: 328, Epilogue: gemm.Epilogue{Out: word.F32}}, 128, 0, 1)
	for _, f := range []struct {
		name, sound, fault, says string
		of                       cuda.Case
	}{
		{"none", "wgmma_wait<1>();", "wgmma_wait<1>();", "", plain},
		{"stages are not awaited", "mbar_wait(barriers + 8 * r.at, r.parity);", "", "L0968", plain},
		{"stages are filled while they are read", "mbar_wait(bar + 8 * STAGES, r.parity ^ 1);", "", "L0973", plain},
		{"stages are given back a step early", "wgmma_wait<1>();", "wgmma_wait<2>();", "L0973", plain},
		{"stages are not given back", "if (k > 0 && lane() == 0) mbar_arrive(before);", "", "L0969", plain},
		{"fewer bytes are expected", "mbar_expect(bar, BYTES)", "mbar_expect(bar, BYTES - 128)", "L0969", plain},
		{"sums are read too early", "  wgmma_wait<0>();\n  held(sum);", "  held(sum);", "L0957", plain},
		{"no fence", "    wgmma_fence();\n    multiply", "    multiply", "L0957", plain},
		{"weights are decoded while they are read", "      wgmma_wait<0>();\n", "", "L0957", blocks},
		{"the scales of other rows", "row ? 0x3232 : 0x1010", "row ? 0x1010 : 0x3232", "wrong", blocks},
	} {
		got := cudatest.Planted(t, f.of, f.sound, f.fault)
		got, _, _ = strings.Cut(got, "\n")
		if t.Log(f.name, got); (got == "") != (f.says == "") || !strings.Contains(got, f.says) {
			t.Errorf("%s: %q, want %s", f.name, got, f.says)
		}
	}
}
