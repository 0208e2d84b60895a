// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"encoding/binary"
	"math"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
)

// arch is the one whose plans the tests take; the PTX that runs is the portable one.
func arch(t testing.TB) cuda.Arch {
	t.Helper()
	a, err := cuda.FindArch("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// archs are all architectures.
func archs() []cuda.Arch { return cuda.Archs() }

// planned is the plan of a problem with a given kernel and configuration.
func planned(t testing.TB, p gemm.W8A16, template string, params []string, splits int) gemm.Plan {
	t.Helper()
	plan, err := p.Planned(template, params, splits)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// run runs a case in every order, as a subtest, and logs how near it came.
func run(t *testing.T, c cuda.Case, quick bool) {
	t.Helper()
	if len(c.Launches) == 0 {
		return
	}
	t.Run(c.Name, func(t *testing.T) {
		v := cudatest.RunCase(t, c, quick)
		t.Logf("%.3f of the tolerance", v.MaxErr)
	})
}

// TestW8A16 runs small problems of every kind in all orders, and others in two.
func TestW8A16(t *testing.T) {
	for i, c := range []struct {
		gemm.W8A16
		tile, splits int
		all          bool
	}{
		{gemm.W8A16{M: 65, N: 72, K: 192, Epilogue: gemm.Epilogue{Out: word.F32}}, 2, 1, true},
		{gemm.W8A16{M: 4, N: 33, K: 33, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.Relu,
			Residual: true}}, 2, 1, true},
		{gemm.W8A16{M: 17, N: 130, K: 320, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.GeluErf, Bias: true}}, 0, 1,
			false},
		{gemm.W8A16{M: 33, N: 256, K: 64, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true,
			Residual: true}}, 1, 1, false},
		{gemm.W8A16{M: 63, N: 126, K: 200, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.Silu, Gate: true, Bias: true}},
			3, 1, false},
		{gemm.W8A16{M: 129, N: 129, K: 31, Epilogue: gemm.Epilogue{Out: word.F32, Act: gemm.GeluTanh, Residual: true}}, 4,
			1, false},
		{gemm.W8A16{M: 145, N: 130, K: 64, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 1, false}, // a second group of tiles
		{gemm.W8A16{M: 1, N: 1, K: 1, Epilogue: gemm.Epilogue{Out: word.BF16}}, 0, 1, false},
		{gemm.W8A16{M: 3, N: 8, K: 0, Epilogue: gemm.Epilogue{Out: word.F32, Bias: true}}, 0, 1, false},
		{gemm.W8A16{M: 0, N: 8, K: 64, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 1, false},
		{gemm.W8A16{M: 8, N: 0, K: 64, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 1, false},
		{gemm.W8A16{M: 20, N: 37, K: 712, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.GeluErf, Bias: true,
			Residual: true}}, 0, 3, true},
		{gemm.W8A16{M: 5, N: 96, K: 130, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true, Bias: true}},
			0, 2, false},
		{gemm.W8A16{M: 2, N: 17, K: 32, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 7, false}, // more parts than steps
	} {
		plan := planned(t, c.W8A16, "w8a16", gemm.TilesBF16[c.tile].Params(), c.splits)
		run(t, gemmtest.W8A16(c.W8A16, plan, uint64(i), true, 1), !c.all)
	}
}

// TestThin runs the kernel for few rows.
func TestThin(t *testing.T) {
	for i, c := range []struct {
		gemm.W8A16
		config, splits int
		all            bool
	}{
		{gemm.W8A16{M: 8, N: 40, K: 1100, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 1, true},
		{gemm.W8A16{M: 5, N: 70, K: 512, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true, Bias: true,
			Residual: true}}, 3, 1,
			true},
		{gemm.W8A16{M: 1, N: 33, K: 33, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.GeluErf, Bias: true}}, 1, 1, false},
		{gemm.W8A16{M: 3, N: 64, K: 2048, Epilogue: gemm.Epilogue{Out: word.BF16, Residual: true}}, 2, 3, false},
		{gemm.W8A16{M: 4, N: 16, K: 0, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true}}, 0, 1, false},
		{gemm.W8A16{M: 3, N: 40, K: 333, Epilogue: gemm.Epilogue{Out: word.F32}}, 2, 3, false},
		{gemm.W8A16{M: 7, N: 1, K: 1, Epilogue: gemm.Epilogue{Out: word.F32}}, 0, 1, false},
	} {
		plan := planned(t, c.W8A16, "w8a16_thin", gemm.Thins[c.config].Params(), c.splits)
		run(t, gemmtest.W8A16(c.W8A16, plan, 100+uint64(i), true, 1), !c.all)
	}
}

// TestGelu demands of the epilogue's gelu what its tolerance, which is relative to the sums, does not: small results
// for negative sums have their leading digits. Rows of one number, times one.
func TestGelu(t *testing.T) {
	var x []byte
	want := []float64{}
	for v := 4.0; v >= -9; v -= 0.125 {
		word := cuda.BF16Word(v)
		x = binary.LittleEndian.AppendUint16(x, word)
		want = append(want, v*math.Erfc(-v/math.Sqrt2)/2)
	}
	p := gemm.W8A16{M: len(want), N: 1, K: 1, Epilogue: gemm.Epilogue{Out: word.F32, Act: gemm.GeluErf}}
	plan := planned(t, p, "w8a16", gemm.TilesBF16[0].Params(), 1)
	job := cudatest.Job{Kernels: plan.Instances, Quick: true, Buffers: []cudatest.Buffer{
		{Name: "x", Data: x},
		{Name: "w", Data: gemm.LayoutBF16.Pack([]byte{64}, 1, 1)},
		{Name: "w scales", Data: gemm.LayoutBF16.PackScales([]byte{127}, 1, 1)},
		{Name: "y", Bytes: 4 * int64(len(want)), Out: true},
	}}
	none := cuda.Null()
	job.Launches = plan.Launches(gemm.Operands{X: cuda.Buffer(0), W: cuda.Buffer(1), WScales: cuda.Buffer(2),
		Y: cuda.Buffer(3), XScales: none, Bias: none, Residual: none, YScales: none, Exceeded: none, Workspace: none})
	y := cudatest.Run(t, job)[0]
	for i, w := range want {
		if got := gemmtest.F32At(y, i); math.Abs(got-w) > 1e-5*math.Abs(w) {
			t.Errorf("gelu(%v) is %v, want %v", cuda.BF16At(x, int64(i)), got, w)
		}
	}
}

// TestRowsAlone demands that a row has the same bits whatever the rows beside it: in every tile, and among few rows.
func TestRowsAlone(t *testing.T) {
	outputs := func(p gemm.W8A16, template string, params []string, splits int) []byte {
		c := gemmtest.W8A16(p, planned(t, p, template, params, splits), 7, false, 1)
		return cudatest.Run(t, cudatest.JobOf(c, true))[0]
	}
	p := gemm.W8A16{M: 70, N: 48, K: 256, Epilogue: gemm.Epilogue{Out: word.F32}}
	want := outputs(p, "w8a16", gemm.TilesBF16[0].Params(), 1)
	for _, c := range gemm.TilesBF16[1:] {
		if d := cudatest.FirstDifference(outputs(p, "w8a16", c.Params(), 1), want, 4); d != "" {
			t.Errorf("tile %v: %s", c, d)
		}
	}
	for _, kernel := range []struct {
		template string
		params   []string
	}{{"w8a16", gemm.TilesBF16[0].Params()}, {"w8a16_thin", gemm.Thins[0].Params()}} {
		p.M = 8
		want := outputs(p, kernel.template, kernel.params, 2)
		for _, m := range []int{1, 3} {
			p.M = m
			got := outputs(p, kernel.template, kernel.params, 2)
			if d := cudatest.FirstDifference(got, want[:len(got)], 4); d != "" {
				t.Errorf("%s with %d rows: %s", kernel.template, m, d)
			}
		}
	}
	p = gemm.W8A16{N: 4096, K: 4096, BatchInvariant: true, Epilogue: gemm.Epilogue{Out: word.F32}}
	splits := 0
	for m := 1; m < 9000; m = m*3 + 1 {
		p.M = m
		plan, err := p.Plan(arch(t))
		if err != nil {
			t.Fatal(err)
		}
		if splits != 0 && plan.Splits != splits || plan.Instances[0].Template.Name != "w8a16" {
			t.Errorf("%d rows: %s", m, plan.Why)
		}
		splits = plan.Splits
	}
}
