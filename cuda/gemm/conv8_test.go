// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir/format"
)

// TestConv8Gates compiles every configuration.
func TestConv8Gates(t *testing.T) {
	var all [][]string
	for i, c := range gemm.TilesConv {
		if tools.Long || i == 4 {
			all = append(all, append(c.Params(), "1", "0", "0", "0", "u8", "u8", "1"),
				append(c.Params(), "16", "8", "13", "0", "i8", "i16", "0"))
		}
	}
	cudatest.Gates(t, made(t, "conv8", all...)...)
}

// byteConvCase is a convolution in a configuration, of channels with real scales.
func byteConvCase(t testing.TB, p gemm.Conv8, c gemm.Tile, seed uint64) cuda.Case {
	t.Helper()
	if err := p.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := p.With(c)
	if err != nil {
		t.Fatal(err)
	}
	return gemmtest.Conv8(p, plan, seed, gemmtest.Channels(p.Int8, seed, true))
}

// TestConv8 runs small convolutions: windows, strides, dilations, pads on one side, channels that are no multiple of
// 16, planes, zero points; pixels, channels and products at the ends of tiles and beside them.
func TestConv8(t *testing.T) {
	s8 := gemm.Int8{N: 24, Result: gemmtest.Codes8, Zero: 3}
	u8 := gemm.Int8{N: 40, Unsigned: true, Result: format.Fixed{W: 8}}
	of := func(p gemm.Int8, n int) gemm.Int8 { p.N = n; return p }
	wide := gemmtest.Images(1, 5, 9, 24, 3, 1, 2)
	wide.KW, wide.DW, wide.OW, wide.PL, wide.SH, wide.OH = 2, 3, 8, 1, 3, 3
	tall := gemmtest.Images(2, 8, 3, 43, 1, 1, 0).Laid(false)
	tall.KH, tall.DH, tall.OH, tall.PT = 3, 2, 5, 2
	shifted := &gemm.Added{Mul: -1, Factor: 3, Bias: 5, Shift: -1, Result: format.Fixed{W: 16, Signed: true}}
	line := gemmtest.Images(1, 1, 16, 16, 1, 2, 0) // of 8 rows of 8 windows, 7 elements each
	line.OH, line.KW, line.PL, line.PT, line.SH = 8, 7, 3, 3, 1
	for i, c := range []struct {
		gemm.Images
		p             gemm.Int8
		outside, tile int
		added         *gemm.Added
		all           bool
	}{
		{gemmtest.Images(2, 6, 5, 32, 3, 1, 1), s8, -7, 1, &gemmtest.AddedBytes, true},
		{gemmtest.Images(1, 9, 7, 3, 3, 2, 1).Laid(false), of(u8, 20), 131, 1, nil, true},
		{wide, of(u8, 17), 255, 1, shifted, false}, {tall, of(s8, 9), -128, 0, nil, false},
		{gemmtest.Images(1, 7, 9, 16, 3, 1, 1), of(s8, 64), 127, 2, &gemmtest.AddedBytes, false},
		{line, of(u8, 65), 1, 2, nil, false},
		{gemmtest.Images(1, 4, 12, 32, 2, 1, 1), of(s8, 63), -3, 2, nil, false},
		{gemmtest.Images(3, 5, 13, 4, 5, 2, 2), of(s8, 129), 5, 1, nil, false},
		{gemmtest.Images(1, 8, 16, 127, 1, 1, 0), of(u8, 127), 9, 5, nil, false},
		{gemmtest.Images(1, 3, 43, 16, 1, 1, 0), of(u8, 31), 0, 3, nil, false},
		{gemmtest.Images(1, 1, 127, 20, 3, 1, 1), of(s8, 65), 2, 4, nil, false},
	} {
		p := gemmtest.ConvBytes(c.Images, c.p, c.outside)
		p.Added = c.added
		run(t, byteConvCase(t, p, gemm.TilesConv[c.tile], uint64(i)), !c.all)
	}
}

// TestConv8Faults plants faults in what a window sees.
func TestConv8Faults(t *testing.T) {
	p := gemm.Int8{N: 72, Result: gemmtest.Codes8}
	copied := byteConvCase(t, gemmtest.ConvBytes(gemmtest.Images(2, 6, 9, 48, 3, 2, 1), p, -9), gemm.TilesConv[2], 1)
	noticed(t, copied, []planted{
		{"sound", "", "", "", ""},
		{"no barrier before the sums", "  barrier();\n}", "}", "L0967", "no barrier"},
		{"zeros beyond the image", "inside || CODED);", "inside);", "", "wrong"},
		{"the last weights beyond the image", "* 2048;\n  const Images", "* 2048 - 16;\n  const Images", "", "wrong"},
		{"columns of the next row", "&& (u32)ix < (u32)im.W", "", "L0964",
			"before x"},
	})
	whole := gemmtest.ConvBytes(gemmtest.Images(1, 5, 5, 16, 3, 1, 1), gemm.Int8{N: 16, Result: gemmtest.Codes8}, 0)
	whole.Added = &gemmtest.AddedBytes
	summed := byteConvCase(t, whole, gemm.TilesConv[1], 1)
	noticed(t, summed, []planted{
		{"sound", "", "", "", ""},
		{"nothing is added", "    added.to(code", "    if (false) added.to(code", "", "wrong"},
		{"bytes with a sign", "SUM == 1 ? (i32)(i8)v", "SUM == 2 ? (i32)(i8)v", "", "wrong"},
		{"the sum of other codes", "w[0] = v.x, w[1] = v.y", "w[0] = v.y, w[1] = v.x", "", "wrong"},
	})
	planes := gemmtest.ConvBytes(gemmtest.Images(2, 6, 9, 5, 3, 2, 1).Laid(false), p, 4)
	gathered := byteConvCase(t, planes, gemm.TilesConv[1], 1)
	noticed(t, gathered, []planted{
		{"sound", "", "", "", ""},
		{"zeros beyond the image", "*im.outside : 0", "0 : 0", "", "wrong"},
		{"bytes in pairs", "(b * 8 * sizeof(T))", "(b / 2 * 16 * sizeof(T))", "", "wrong"},
	})
}

// TestConv8Call runs a call on three samples of two images and demands the bits of a plan for six.
func TestConv8Call(t *testing.T) {
	p := gemm.Int8{N: 20, Result: gemmtest.Codes8}
	all := gemmtest.ConvBytes(gemmtest.Images(6, 5, 4, 16, 3, 1, 1), p, 7)
	c := byteConvCase(t, all, gemm.TilesConv[1], 3)
	want := cudatest.Run(t, cudatest.JobOf(c, true))
	o := gemm.Operands{X: cuda.Buffer(0), W: cuda.Buffer(1), Bias: cuda.Buffer(2), Y: cuda.Buffer(3)}
	one := gemmtest.ConvBytes(gemmtest.Images(2, 5, 4, 16, 3, 1, 1), p, 7)
	call, err := one.Call(o, cuda.Target{Arch: arch(t), Samples: 3})
	if err != nil {
		t.Fatal(err)
	}
	c.Instances, c.Launches = []cuda.Instance{call.Instance}, []cuda.Launch{launched(t, call, 3)}
	cudatest.Equal(t, "y", cudatest.Run(t, cudatest.JobOf(c, true))[0], want[0], 1)
}

func TestConv8Refusals(t *testing.T) {
	p := gemmtest.ConvBytes(gemmtest.Images(1, 4, 4, 8, 3, 1, 1), gemm.Int8{N: 8, Result: gemmtest.Codes8}, 0)
	empty, outside, rows, long, wraps, other := p, p, p, p, p, p
	other.Added = &gemm.Added{Result: format.Fixed{W: 8, Round: format.RoundFloor}}
	wraps.Added = &gemm.Added{Result: format.Fixed{W: 8, Over: format.Wrap}}
	empty.OW, outside.Outside, rows.M = 0, 128, 3
	long.C, long.K = 1<<14, 9<<14
	for says, p := range map[string]gemm.Conv8{"a size of 0": empty, "a code of 128": outside,
		"for 16 windows of 72": rows, "more than 32 bits": long,
		"a sum in uint(8,over=wrap)": wraps, "round=floor": other} {
		_, refused := p.Call(gemm.Operands{}, cuda.Target{Arch: arch(t)})
		for _, err := range []error{p.Valid(), refused} {
			if diag.CodeOf(err) != "L0990" || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want L0990 with %q", err, says)
			}
		}
	}
}
