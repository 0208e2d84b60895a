// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
	"lathe/internal/diag"
	"lathe/internal/tools"
)

// TestW16A16Gates compiles every configuration, with the epilogues that need most.
func TestW16A16Gates(t *testing.T) {
	var all [][]string
	for i, c := range gemm.Tiles16 {
		if !tools.Long && i != 4 {
			continue
		}
		of := func(vec string, f word.Float, e gemm.Epilogue) []string {
			return append(append(c.Params(), vec, strconv.Itoa(int(f))), e.Params()...)
		}
		all = append(all, of("1", word.BFloat16, gemm.Epilogue{Act: gemm.GeluErf, Out: word.BF16}),
			of("1", word.Float16, gemm.Epilogue{Act: gemm.Silu, Gate: true, Out: gemm.MXINT8}),
			of("0", word.BFloat16, gemm.Epilogue{Out: word.F32}),
			of("1", word.Float16, gemm.Epilogue{Out: word.F16, Act: gemm.GeluTanh, Bias: true, Residual: true}))
	}
	cudatest.Gates(t, made(t, "w16a16", all...)...)
}

// halfCase is a problem in a configuration.
func halfCase(t testing.TB, p gemm.W16A16, c gemm.Tile, splits int, seed uint64) cuda.Case {
	t.Helper()
	if err := p.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := p.With(c, splits)
	if err != nil {
		t.Fatal(err)
	}
	return gemmtest.W16A16(p, plan, seed, true, 1)
}

// TestW16A16 runs small problems of every kind, one of each tile and those beside its ends among them; some in all
// orders, others in two.
func TestW16A16(t *testing.T) {
	const bf16, f16 = word.BFloat16, word.Float16
	for i, c := range []struct {
		gemm.W16A16
		tile, splits int
		all          bool
	}{
		{gemm.W16A16{M: 65, N: 72, K: 192, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 3, 1, true},
		{gemm.W16A16{M: 4, N: 33, K: 33, Word: bf16, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.Relu,
			Residual: true}}, 3, 1, true},
		{gemm.W16A16{M: 15, N: 129, K: 64, Word: f16, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, 1, false},
		{gemm.W16A16{M: 16, N: 127, K: 65, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, 1, false},
		{gemm.W16A16{M: 17, N: 128, K: 63, Word: bf16, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.GeluErf,
			Bias: true}}, 1, 1, false},
		{gemm.W16A16{M: 33, N: 256, K: 72, Word: bf16, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu,
			Gate: true, Residual: true}}, 2, 1, false},
		{gemm.W16A16{M: 63, N: 65, K: 200, Word: f16, Epilogue: gemm.Epilogue{Out: word.F16, Residual: true}}, 3, 1, false},
		{gemm.W16A16{M: 64, N: 126, K: 120, Word: bf16, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.Silu, Gate: true,
			Bias: true}}, 4, 1, false},
		{gemm.W16A16{M: 129, N: 127, K: 31, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32, Act: gemm.GeluTanh,
			Residual: true}}, 5, 1, false},
		{gemm.W16A16{M: 145, N: 130, K: 64, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 1, false},
		{gemm.W16A16{M: 7, N: 66, K: 448, Word: bf16, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Gate: true}}, 0, 1, true},
		{gemm.W16A16{M: 1, N: 1, K: 1, Word: bf16, Epilogue: gemm.Epilogue{Out: word.BF16}}, 1, 1, false},
		{gemm.W16A16{M: 3, N: 8, K: 0, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32, Bias: true}}, 1, 1, false},
		{gemm.W16A16{M: 0, N: 8, K: 64, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, 1, false},
		{gemm.W16A16{M: 8, N: 0, K: 64, Word: bf16, Epilogue: gemm.Epilogue{Out: word.F32}}, 1, 1, false},
		{gemm.W16A16{M: 20, N: 37, K: 712, Word: bf16, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.GeluErf,
			Bias: true, Residual: true}}, 1, 3, true},
		{gemm.W16A16{M: 2, N: 65, K: 32, Word: f16, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 7, false}, // empty parts
		{gemm.W16A16{M: 6, N: 40, K: 72, Word: bf16, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.ReluLast,
			Residual: true}}, 0, 2, false},
		{gemm.W16A16{M: 9, N: 72, K: 136, Word: f16, Epilogue: gemm.Epilogue{Out: word.F16, Act: gemm.Silu, Bias: true,
			Residual: true}}, 0, 2, false},
	} {
		run(t, halfCase(t, c.W16A16, gemm.Tiles16[c.tile], c.splits, uint64(i)), !c.all)
	}
}

// TestHalfRowsAlone demands that a row has the same bits in every tile and whatever the rows beside it, and that a
// batch-invariant plan parts k without regard to M.
func TestHalfRowsAlone(t *testing.T) {
	outputs := func(m int, c gemm.Tile) []byte {
		p := gemm.W16A16{M: m, N: 48, K: 200, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.F32}}
		return cudatest.Run(t, cudatest.JobOf(halfCase(t, p, c, 1, 7), true))[0]
	}
	want := outputs(70, gemm.Tiles16[0])
	for _, c := range gemm.Tiles16[1:] {
		if d := cudatest.FirstDifference(outputs(70, c), want, 4); d != "" {
			t.Errorf("tile %v: %s", c, d)
		}
	}
	got := outputs(3, gemm.Tiles16[0])
	if d := cudatest.FirstDifference(got, want[:len(got)], 4); d != "" {
		t.Errorf("three rows: %s", d)
	}
	p := gemm.W16A16{N: 4096, K: 4096, Word: word.BFloat16, BatchInvariant: true, Epilogue: gemm.Epilogue{Out: word.F32}}
	splits := map[int]bool{}
	for m := 1; m < 9000; m = m*3 + 1 {
		p.M = m
		plan, err := p.Plan(arch(t))
		if err != nil {
			t.Fatal(err)
		}
		splits[plan.Splits] = true
	}
	if len(splits) != 1 || splits[1] {
		t.Errorf("k in %v parts", splits)
	}
}

// TestHalfFaults plants faults in the pipeline and in what stands beyond the ends of operands.
func TestHalfFaults(t *testing.T) {
	p := gemm.W16A16{M: 65, N: 72, K: 200, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.F32}}
	c := halfCase(t, p, gemm.Tiles16[3], 1, 1)
	const head = "    cp_async_wait<STAGES - 2>();\n    barrier();\n    load(k + STAGES - 1, next);\n"
	noticed(t, c, []planted{
		{"sound", "", "", "", ""},
		{"no wait", head, "    barrier();\n    load(k + STAGES - 1, next);\n", "L0973", "in flight"},
		{"a wait one group short", "cp_async_wait<STAGES - 2>", "cp_async_wait<STAGES - 1>", "L0973", "in flight"},
		{"no barrier", head, "    cp_async_wait<STAGES - 2>();\n    load(k + STAGES - 1, next);\n", "L0967", "no barrier"},
		{"the load before the barrier", head,
			"    cp_async_wait<STAGES - 2>();\n    load(k + STAGES - 1, next);\n    barrier();\n", "L0967", "no barrier"},
		{"a stage is kept", "    next = at;\n", "", "L0973", "in flight"},
		{"no barrier before the sums", "  barrier();\n  const i64", "  const i64", "L0967", "no barrier"},
		{"rows beyond the last", "(NT / 8), M - 1)", "(NT / 8), M)", "L0964", "of x"},
		{"groups beyond the last", "(STEP / 16), groups - 1)", "(STEP / 16), groups)", "L0964", "of w"},
		{"columns beyond the last", "% 8 * 8 < K)", "% 8 * 8 <= K)", "L0964", "of x"},
		{"the next row behind the last column", "% 8 * 8 < K)",
			"% 8 * 8 < K + 8 * (m0 + BM < M))", "", "wrong"},
		{"another step", "(g * 4 + h) * 512", "(g * 4 + (h ^ 1)) * 512", "", "wrong"},
		{"fragments of two columns", "a[i], b.x, b.y", "a[i], b.x, b.w", "", "wrong"},
	})
}

// TestHalfCall runs a call on three samples at once and demands the bits of a plan for as many rows; scales of MXINT8
// stand row by row.
func TestHalfCall(t *testing.T) {
	const samples = 3
	for _, e := range []gemm.Epilogue{{Out: word.BF16, Bias: true, Act: gemm.Silu, Residual: true}, {Out: gemm.MXINT8}} {
		p := gemm.W16A16{M: 7, N: 72, K: 40, Word: word.BFloat16, Epilogue: e}
		all := p
		all.M *= samples
		c := halfCase(t, all, gemm.Tiles16[0], 1, 3)
		want := cudatest.Run(t, cudatest.JobOf(c, true))
		o := gemm.Operands{X: cuda.Buffer(0), W: cuda.Buffer(1), Bias: cuda.Null(), Residual: cuda.Null(),
			YScales: cuda.Buffer(3), Y: cuda.Buffer(2)}
		if e.Bias {
			o.Bias, o.Residual, o.Y, o.YScales = cuda.Buffer(2), cuda.Buffer(3), cuda.Buffer(4), cuda.Null()
		}
		call, err := p.Call(o, cuda.Target{Arch: arch(t), Samples: samples})
		if err != nil {
			t.Fatal(err)
		}
		c.Instances, c.Launches = []cuda.Instance{call.Instance}, []cuda.Launch{launched(t, call, samples)}
		got := cudatest.Run(t, cudatest.JobOf(c, true))
		if e.Out == gemm.MXINT8 {
			blocks, pitch := (p.N+31)/32, int(gemm.ScalePitch(all.M))
			rows := bytes.Repeat([]byte{0xFF}, len(got[1]))
			for i := range all.M * blocks {
				rows[i] = want[1][i%blocks*pitch+i/blocks]
			}
			want[1] = rows
		}
		for i := range want {
			cudatest.Equal(t, fmt.Sprint(gemmtest.Text(e), ", output ", i), got[i], want[i], 1)
		}
	}
}

// launched is a call on a number of samples.
func launched(t testing.TB, c cuda.Call, samples int) cuda.Launch {
	t.Helper()
	threads, err := c.Instance.Threads()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := c.Instance.Shared()
	if err != nil {
		t.Fatal(err)
	}
	blocks := (c.Rows*int64(samples) + c.Tile - 1) / c.Tile * c.Blocks
	l := cuda.Launch{Kernel: c.Instance.Kernel, Grid: [3]uint32{uint32(blocks), 1, 1},
		Block: [3]uint32{uint32(threads), 1, 1}, Shared: uint32(shared)}
	for _, a := range c.Args {
		l.Args = append(l.Args, a.At(samples))
	}
	return l
}

// TestHalfPlans demands the choices that the shapes call for, and reasons for what no kernel can take.
func TestHalfPlans(t *testing.T) {
	for _, c := range []struct {
		m, n, k int
		want    string
	}{{1, 4096, 4096, "w16a16<16"}, {64, 14336, 4096, "w16a16<64"}, {4096, 8192, 8192, "w16a16<128"}} {
		p := gemm.W16A16{M: c.m, N: c.n, K: c.k, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16}}
		for _, a := range archs() {
			plan, err := p.Plan(a)
			if err != nil {
				t.Fatal(err)
			}
			if a.Name == gemmtest.Measured && !strings.HasPrefix(plan.Instances[0].String(), c.want) {
				t.Errorf("M=%d N=%d K=%d: %s, want %s", c.m, c.n, c.k, plan.Why, c.want)
			}
			t.Log(a.Name, c.m, c.n, c.k, plan.Why)
		}
	}
	for says, p := range map[string]gemm.W16A16{
		"operands in f32":     {M: 1, N: 2, Epilogue: gemm.Epilogue{Out: word.BF16}},
		"sizes lie between":   {M: -1, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16}},
		"no result in \"u8\"": {M: 1, N: 2, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.U8}},
	} {
		_, refused := p.Call(gemm.Operands{}, cuda.Target{})
		for _, err := range []error{p.Valid(), refused} {
			if diag.CodeOf(err) != "L0990" || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want L0990 with %q", err, says)
			}
		}
	}
}

// TestLongCalls: a call does not split k, however long it is and whatever a plan would do for the same bits.
func TestLongCalls(t *testing.T) {
	for _, invariant := range []bool{false, true} {
		e, target := gemm.Epilogue{Out: word.BF16}, cuda.Target{Arch: arch(t), Samples: 3, BatchInvariant: invariant}
		for _, p := range []cuda.Batched[gemm.Operands]{
			gemm.W8A16{M: 1, N: 4096, K: 4096, BatchInvariant: invariant, Epilogue: e},
			gemm.W16A16{M: 1, N: 4096, K: 4096, Word: word.BFloat16, BatchInvariant: invariant, Epilogue: e},
		} {
			call, err := p.Call(gemm.Operands{}, target)
			if err != nil || call.Args[len(call.Args)-1].Bits != 1 {
				t.Errorf("%T, batch-invariant %v: %v, %v", p, invariant, call.Instance, err)
			}
		}
	}
}
