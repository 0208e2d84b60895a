// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
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

// TestConv16Gates compiles every configuration, with the epilogues that need most.
func TestConv16Gates(t *testing.T) {
	var all [][]string
	for i, c := range gemm.TilesConv {
		if !tools.Long && i != 4 {
			continue
		}
		of := func(vec string, f word.Float, a gemm.Activation, out string) []string {
			return append(c.Params(), vec, strconv.Itoa(int(f)), strconv.Itoa(int(a)), out)
		}
		all = append(all, of("1", word.Float16, gemm.ReluLast, "half"), of("8", word.BFloat16, gemm.GeluErf, "bf16"))
	}
	cudatest.Gates(t, made(t, "conv16", all...)...)
}

// convCase is a convolution in a configuration.
func convCase(t testing.TB, p gemm.Conv16, c gemm.Tile, seed uint64) cuda.Case {
	t.Helper()
	if err := p.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := p.With(c)
	if err != nil {
		t.Fatal(err)
	}
	return gemmtest.Conv16(p, plan, seed, true, 1)
}

// TestConv16 runs small convolutions: windows, strides, dilations, pads on one side, channels that are no multiple of
// 8, planes, pixels and channels at the ends of tiles and beside them.
func TestConv16(t *testing.T) {
	const bf16, f16 = word.BFloat16, word.Float16
	plain := gemm.Epilogue{Out: word.F32}
	bias := gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.ReluLast, Residual: true}
	wide := gemmtest.Conv(bf16, 1, 5, 9, 8, 17, 3, 1, 2, plain)
	wide.KW, wide.DW, wide.OW, wide.PL, wide.SH, wide.OH = 2, 3, 8, 1, 3, 3
	tall := gemmtest.Planes(gemmtest.Conv(f16, 2, 8, 3, 5, 9, 1, 1, 0, plain))
	tall.KH, tall.DH, tall.OH, tall.PT = 4, 2, 5, 2
	for i, c := range []struct {
		gemm.Conv16
		tile int
		all  bool
	}{
		{gemmtest.Conv(bf16, 2, 6, 5, 16, 40, 3, 1, 1, bias), 2, true},
		{gemmtest.Planes(gemmtest.Conv(bf16, 1, 9, 7, 15, 20, 3, 2, 1, bias)), 1, true},
		{wide, 0, false}, {tall, 3, false},
		{gemmtest.Conv(f16, 1, 3, 5, 72, 127, 1, 1, 0, gemm.Epilogue{Out: word.F16, Bias: true, Act: gemm.Silu}), 1, false},
		{gemmtest.Conv(bf16, 3, 5, 13, 8, 65, 5, 2, 2, plain), 4, false},
		{gemmtest.Conv(bf16, 1, 5, 13, 12, 129, 2, 1, 0, plain), 5, false},
		{gemmtest.Conv(bf16, 1, 2, 2, 200, 16, 2, 2, 0, bias), 3, false},
	} {
		run(t, convCase(t, c.Conv16, gemm.TilesConv[c.tile], uint64(i)), !c.all)
	}
}

// TestConvFaults plants faults in what a window sees.
func TestConvFaults(t *testing.T) {
	plain := gemm.Epilogue{Out: word.F32}
	copied := convCase(t, gemmtest.Conv(word.BFloat16, 2, 6, 9, 24, 72, 3, 2, 1, plain), gemm.TilesConv[2], 1)
	noticed(t, copied, []planted{
		{"sound", "", "", "", ""},
		{"no barrier before the sums", "  barrier();\n}", "}", "L0967", "no barrier"},
		{"pixels beyond the last", "M - 1), line =", "M), line =", "L0964", "of x"},
		{"columns of the next row", "&& (u32)ix < (u32)im.W", "", "L0964",
			"before x"},
		{"windows move by columns", "% im.OW * im.SW", "% im.OW * im.SH + m % im.OW % 2", "", "wrong"},
		{"channels carry late", "if (c >= C)", "if (c > C)", "L0964", "of x"},
		{"columns of windows carry late", "if (kx >= KW)", "if (kx > KW)", "", "wrong"},
		{"steps of other windows", "k / C / KW, k / C % KW", "k / C % KW, k / C / KW", "", "wrong"},
	})
	planes := gemmtest.Planes(gemmtest.Conv(word.BFloat16, 2, 6, 9, 15, 24, 3, 2, 1, plain))
	gathered := convCase(t, planes, gemm.TilesConv[1], 1)
	noticed(t, gathered, []planted{
		{"sound", "", "", "", ""},
		{"channels by rows", "at_tap.c * im.xc", "at_tap.c * im.xh", "", "wrong"},
		{"elements behind the last", "quarter(k + STAGES - 1, next, h);\n        body",
			"quarter(k, next, h);\n        body", "", "wrong"},
		{"images by rows", "line / im.OH * im.xn", "line / im.OH * im.xc", "", "wrong"},
	})
}

// TestConvCall runs a call on three samples of two images and demands the bits of a plan for six.
func TestConvCall(t *testing.T) {
	p := gemmtest.Conv(word.BFloat16, 2, 5, 4, 8, 20, 3, 1, 1, gemm.Epilogue{Out: word.BF16, Bias: true, Residual: true})
	all := p
	all.Count *= 3
	c := convCase(t, all, gemm.TilesConv[0], 3)
	want := cudatest.Run(t, cudatest.JobOf(c, true))
	o := gemm.Operands{X: cuda.Buffer(0), W: cuda.Buffer(1), Bias: cuda.Buffer(2), Residual: cuda.Buffer(3),
		Y: cuda.Buffer(4)}
	call, err := p.Call(o, cuda.Target{Arch: arch(t), Samples: 3})
	if err != nil {
		t.Fatal(err)
	}
	c.Instances, c.Launches = []cuda.Instance{call.Instance}, []cuda.Launch{launched(t, call, 3)}
	cudatest.Equal(t, "y", cudatest.Run(t, cudatest.JobOf(c, true))[0], want[0], 1)
}

func TestConvRefusals(t *testing.T) {
	p := gemmtest.Conv(word.BFloat16, 1, 4, 4, 8, 8, 3, 1, 1, gemm.Epilogue{Out: word.BF16})
	gate, blocks, empty, float := p, p, p, p
	gate.Gate, blocks.Out, empty.OW, float.Word = true, gemm.MXINT8, 0, word.Float32
	for says, p := range map[string]gemm.Conv16{"a gate": gate, "MXINT8": blocks, "a size of 0": empty,
		"operands in f32": float} {
		_, refused := p.Call(gemm.Operands{}, cuda.Target{Arch: arch(t)})
		for _, err := range []error{p.Valid(), refused} {
			if diag.CodeOf(err) != "L0990" || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want L0990 with %q", err, says)
			}
		}
	}
}
