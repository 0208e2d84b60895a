// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/ptx"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// module compiles text for the interpreter.
func module(t testing.TB, source string) *ptx.Module {
	t.Helper()
	unit, err := cudatest.Compiler(t).Compile(t.Context(), "k.cu", source, cuda.PortablePTX)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ptx.Parse("k.ptx", unit.PTX)
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// planted is a fault: the text old of a kernel becomes new. An error with a code says so, or the output is "wrong".
type planted struct {
	name, old, new string
	code           diag.Code
	says           string
}

// noticed runs a case with each of the faults, with the race detector.
func noticed(t *testing.T, c cuda.Case, faults []planted) {
	t.Helper()
	sound, err := cuda.Print(c.Instances...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		text := strings.Replace(sound, f.old, f.new, 1)
		if f.old != "" && text == sound {
			t.Errorf("%s: nothing to replace", f.name)
		}
		out, _, err := cudatest.JobOf(c, true).On(module(t, text), ptx.Options{Races: true})
		wrong := ""
		if err == nil {
			wrong = c.Check(out).Wrong
		}
		t.Logf("%s: %v %s", f.name, err, wrong)
		if diag.CodeOf(err) != f.code || err != nil && !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: got %v, want %s", f.name, err, f.code)
		}
		if (wrong != "") != (f.says == "wrong") {
			t.Errorf("%s: %q", f.name, wrong)
		}
	}
}

// TestPlantedFaults plants faults in the pipelined kernel. Each is found in one run under the plainest schedule: by the
// race detector or the guard zones, by name, and by values where every byte is written and waited for.
func TestPlantedFaults(t *testing.T) {
	p := gemm.W8A16{M: 65, N: 72, K: 200,
		Epilogue: gemm.Epilogue{Out: word.F32}} // the last step lies where sums are staged
	c := gemmtest.W8A16(p, planned(t, p, "w8a16", gemm.TilesBF16[2].Params(), 1), 1, true, 1)
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
		{"rows beyond the last", "    if (m >= s.M) return;\n    if (!whole)", "    if (!whole)", "L0964", "of y"},
		{"the wrong swizzle", "l % 16, l / 16)", "l % 16, l / 16 ^ (l & 1))", "", "wrong"},
		{"the scale of a neighbour", "wg * 32 + l / 4 * 2", "wg * 32 + (l / 4 ^ 1) * 2", "", "wrong"},
	})
}

// TestLeaks plants reads beyond the end of a row, into the next one: weights are 0 there, which times infinity is NaN.
// The cases have to notice.
func TestLeaks(t *testing.T) {
	cases, err := gemmtest.CasesWithin(gemmtest.CPUBound)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct{ instance, sound, fault string }{
		{"w8a16_thin<2, 2, 4, 4096, 1, 0, 0, bf16>", "* 2, k < K);", "* 2, k < K || m + 1 < M);"},
		{"w8a16_thin<1, 1, 8, 2048, 1, 0, 0, f32>", "* 2, k < K);", "* 2, k < K || m + 1 < M);"},
		{"w8a16<64, 128, 2, 4, 3, 1, 0, 0, bf16>", "% 8 * 8 < K)",
			"% 8 * 8 < K + 8 * (m0 + BM < M))"},
	} {
		seen := ""
		for _, c := range cases {
			if !c.Timed && c.Instances[0].String() == f.instance && seen == "" {
				seen = cudatest.Planted(t, c, f.sound, f.fault)
			}
		}
		if t.Logf("%s: %s", f.instance, seen); !strings.Contains(seen, "is NaN") {
			t.Errorf("%s: not seen", f.instance)
		}
	}
}

// inexact is a fault in the arithmetic of a case: the text old of its kernel becomes new.
type inexact struct {
	name, old, new string
	c              cuda.Case
}

// inexactFaults are faults of exact products.
func inexactFaults(t *testing.T) []inexact {
	mx := func(wide bool, scales gemmtest.Scales, out word.Type) cuda.Case {
		p := gemm.MX{M: 33, N: 72, K: 352, Wide: wide, Epilogue: gemm.Epilogue{Out: out}}
		plan, err := p.With(gemm.TilesMX[1], gemm.Span(p.K))
		if err != nil {
			t.Fatal(err)
		}
		return gemmtest.MX(p, plan, 1, scales)
	}
	codes := gemm.Int8{M: 16, N: 128, K: 32, Result: gemmtest.Codes8, Zero: 3}
	plan, err := codes.With(gemm.TilesInt8[0])
	if err != nil {
		t.Fatal(err)
	}
	requantized := gemmtest.Int8(codes, plan, 1, gemmtest.Channels(codes, 1, false))
	window := gemm.Window{M: 33, N: 40, K: 1, Scaled: true, Shift: -230, Bits: 48, Exact: true}
	plan, err = window.With(gemm.TilesMX[1])
	if err != nil {
		t.Fatal(err)
	}
	far := gemmtest.Window(window, plan, 1, gemmtest.NarrowScales)
	block := mx(false, gemmtest.AnyScales, word.F32)
	return []inexact{
		{"rows lend no exponent", "big[i][h] = LEND && X >= 240;", "big[i][h] = false;", block},
		{"rows lend too late", "big[i][h] = LEND && X >= 240;", "big[i][h] = X >= 246;", block},
		{"scales of the next row", "h * 8 + (l >> 2)];\n      const f32 s", "h * 8 + (l >> 2 ^ 1)];\n      const f32 s",
			mx(false, gemmtest.NarrowScales, word.F32)},
		{"a row's NaN is a number", "block_scale(X << 23)", "fminf(block_scale(X << 23), 0x1p127f)", block},
		{"a column's NaN is a number", "fma_rn(s, 0.0f, s);", "s;", block},
		{"nobody looks for great scales", "rare((high & 0x80808080u) != 0)", "false", block},
		{"nobody looks for great shifts", "EXACT && rare(", "false && rare(", far},
		{"a great shift is cut", "- 30, 0), 31)", "- 30, 0), 0)", far},
		{"shifts beyond the span", "if (shift >= limit)", "if (shift > 1000)", mx(true, gemmtest.FarScales, word.F32)},
		{"no rounding", "m + (rest > half || (rest == half && (m & 1)))", "m", mx(true, gemmtest.NarrowScales, word.F32)},
		{"two roundings", "const bool odd = sizeof(T) == 2", "const bool odd = sizeof(T) == 0",
			ties(t, gemm.Epilogue{Out: word.BF16}, gemm.Span(96))},
		{"a sum of 64 bits without its last ones", "m | (rest != 0)", "m", ties(t, gemm.Epilogue{Out: word.BF16},
			gemm.Span(96))},
		{"a carry is lost", "carry >>= 32;", "carry = 0;", mx(true, gemmtest.AnyScales, word.F32)},
		{"no sticky bit", " | (rest != 0), at", ", at", ties(t, gemm.Epilogue{Out: word.F32}, -1)},
		{"a tie to odd", "(tie && (q & 1))", "tie", requantized},
	}
}

// TestExactFaults plants faults into the arithmetic of exact products: values tell of each.
func TestExactFaults(t *testing.T) {
	for _, f := range inexactFaults(t) {
		sound, err := cuda.Print(f.c.Instances...)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(sound, f.old, f.new, 1)
		if text == sound {
			t.Errorf("%s: nothing to replace", f.name)
		}
		out, _, err := cudatest.JobOf(f.c, true).On(module(t, text), ptx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if wrong := f.c.Check(out).Wrong; wrong == "" {
			t.Errorf("%s: not seen", f.name)
		} else {
			t.Logf("%s: %s", f.name, wrong)
		}
	}
}

// TestCounters demands the access patterns that the kernels were written for, on whole tiles: no bank is met twice, and
// sectors are used; results of four bytes are stored in halves of them.
func TestCounters(t *testing.T) {
	for _, c := range []cuda.Case{
		func() cuda.Case {
			p := gemm.W8A16{M: 64, N: 128, K: 256, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true, Residual: true}}
			return gemmtest.W8A16(p, planned(t, p, "w8a16", gemm.TilesBF16[2].Params(), 1), 1, false, 1)
		}(),
		func() cuda.Case {
			p := gemm.W8A16{M: 64, N: 128, K: 128, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.Silu, Gate: true}}
			return gemmtest.W8A16(p, planned(t, p, "w8a16", gemm.TilesBF16[3].Params(), 1), 1, false, 1)
		}(),
		func() cuda.Case {
			p := gemm.W8A16{M: 8, N: 64, K: 1024, Epilogue: gemm.Epilogue{Out: word.BF16}}
			return gemmtest.W8A16(p, planned(t, p, "w8a16_thin", gemm.Thins[3].Params(), 1), 1, false, 1)
		}(),
		halfCase(t, gemm.W16A16{M: 64, N: 128, K: 256, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16}},
			gemm.Tiles16[4], 1, 1),
		func() cuda.Case {
			p := gemm.MX{M: 64, N: 64, K: 256, Epilogue: gemm.Epilogue{Out: word.F32}}
			plan, err := p.With(gemm.TilesMX[1], 0)
			if err != nil {
				t.Fatal(err)
			}
			return gemmtest.MX(p, plan, 1, gemmtest.NarrowScales)
		}(),
		func() cuda.Case {
			p := gemm.Int8{M: 128, N: 128, K: 256, Raw: true}
			plan, err := p.With(gemm.TilesInt8[2])
			if err != nil {
				t.Fatal(err)
			}
			return gemmtest.Int8(p, plan, 1, nil)
		}(),
	} {
		_, stats, err := cudatest.JobOf(c, true).On(cudatest.Load(t, "", c.Instances...), ptx.Options{Count: true})
		if err != nil {
			t.Fatal(err)
		}
		s := stats[0]
		t.Logf("%s: %d instructions; shared memory: %d accesses, %d passes of %d; global: %d accesses, %d sectors of %d",
			c.Name, s.Instructions, s.SharedAccesses, s.SharedCycles, s.SharedIdeal, s.GlobalAccesses, s.Sectors,
			s.SectorsIdeal)
		if s.SharedAccesses == 0 || s.SharedCycles != s.SharedIdeal {
			t.Errorf("%s: banks are met twice", c.Name)
		}
		if s.Sectors == 0 || 2*s.Sectors > 3*s.SectorsIdeal {
			t.Errorf("%s: sectors are not used", c.Name)
		}
	}
}

// BenchmarkEmulated reports millions of multiply-accumulates a second of the interpreter on one core.
func BenchmarkEmulated(b *testing.B) {
	p := gemm.W8A16{M: 128, N: 128, K: 512, Epilogue: gemm.Epilogue{Out: word.BF16}}
	for _, config := range []gemm.Tile{gemm.TilesBF16[2], gemm.TilesBF16[4]} {
		c := gemmtest.W8A16(p, planned(b, p, "w8a16", config.Params(), 1), 1, false, 1)
		source, err := cuda.Print(c.Instances...)
		if err != nil {
			b.Fatal(err)
		}
		mod := module(b, source)
		job := cudatest.JobOf(c, true)
		b.Run(c.Instances[0].Kernel, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := job.On(mod, ptx.Options{Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(p.M*p.N*p.K)/1e6*float64(b.N)/b.Elapsed().Seconds(), "MMAC/s")
		})
	}
}
