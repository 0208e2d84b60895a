// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// TestOffsetModes tries every mode at every input of up to ten bits, with zero points inside and outside of the codes.
func TestOffsetModes(t *testing.T) {
	shapes := []struct{ in, shift, out, zero int }{{10, 4, 5, 3}, {8, 1, 6, -20}, {9, 0, 9, 200}, {6, 6, 3, -1},
		{5, 9, 4, 7}, {4, -3, 6, 11}, {1, 1, 1, 1}, {7, 2, 8, 128}, {10, 3, 4, -128}}
	var points []point
	modes(func(c num.Cast, inSigned bool) {
		if !inSigned {
			return
		}
		for i := range 5 {
			s := shapes[(len(points)+i/4)%len(shapes)]
			c := limited(c, s.out)
			c.Shift = s.shift
			points = append(points, point{inWidth: s.in, inSigned: true, outWidth: s.out,
				model: func(v *big.Int) *big.Int { return c.Offset(v, int64(s.zero)) },
				params: fmt.Sprintf(".IN_W(%d),.SHIFT(%d),.ZERO(%d),.OUT_W(%d),.OUT_SIGNED(%d),.ROUND(%d),.OVER(%d),.PIPE(0)",
					s.in, s.shift, s.zero, s.out, flag(c.Signed), c.Round, c.Over)})
		}
	})
	exhaust(t, "num_offset", ".clk(1'b0), .en(1'b0), ", points)
}

// rescaleBench multiplies by m, which stands still, as it does in a channel.
func rescaleBench(in, mW int, m int64, c num.Cast, zero int, more ...rtl.Param) rtltest.Bench {
	p := rtltest.P
	return rtltest.Bench{
		Module: "num_rescale", Pipeline: true,
		Params: append([]rtl.Param{p("IN_W", in), p("M_W", mW), p("SHIFT", c.Shift), p("ZERO", zero), p("OUT_W", c.Width),
			p("OUT_SIGNED", flag(c.Signed)), p("ROUND", c.Round), p("OVER", c.Over)}, more...),
		In:   []rtltest.Port{{Name: "in", Signed: true}},
		Out:  []rtltest.Port{{Name: "out"}},
		Ties: []rtl.Param{{Name: "m", Value: fmt.Sprintf("%d'd%d", mW, m)}},
		BigModel: func(x [][]*big.Int) [][]*big.Int {
			return [][]*big.Int{{c.Offset(new(big.Int).Mul(x[0][0], big.NewInt(m)), int64(zero))}}
		},
	}
}

// TestRescale covers one field and several, both ends of m, and every rounding and overflow rule.
func TestRescale(t *testing.T) {
	for i, c := range []struct {
		in, mW int
		m      int64
		shift  int
		width  int
		zero   int
	}{
		{24, 31, 1<<31 - 1, 45, 8, 0}, {33, 31, 1 << 30, 48, 8, -128}, {20, 36, 0xabcdef123, 46, 8, 131},
		{12, 17, 1<<17 - 1, 20, 10, 3}, {8, 1, 1, 2, 7, 1}, {16, 18, 1<<17 + 1, 24, 9, -9}, {33, 31, 0x7654321b, 62, 4, 0},
		{10, 31, 0x55555555, 33, 8, 27}, {6, 34, 0x2aaaaaaab, 36, 5, -20},
	} {
		cast := num.Cast{Shift: c.shift, Width: c.width, Signed: i%2 == 0, Round: i % 9, Over: i % 3}
		rtltest.Run(t, rescaleBench(c.in, c.mW, c.m, cast, c.zero))
	}
}

// TestRescaleBroken has the bench look at products with a misplaced field, without the zero point, and off by one.
func TestRescaleBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	good, err := rtl.Files("num_rescale")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range [][2]string{{"(SW'(p) << (i * FIELD))", "(SW'(p) << (i * FIELD + 1))"},
		{"SW'(q) + SW'(Z)", "SW'(q)"}, {"sum_q <= sum;", "sum_q <= sum + SW'(1);"}} {
		var files []rtl.File
		hit := false
		for _, f := range good {
			bad := bytes.Replace(f.Data, []byte(fault[0]), []byte(fault[1]), 1)
			hit = hit || !bytes.Equal(bad, f.Data)
			files = append(files, rtl.File{Name: f.Name, Data: bad})
		}
		if !hit {
			t.Fatalf("%q is gone", fault[0])
		}
		b := rescaleBench(20, 31, 0x7fffffff, num.Cast{Shift: 40, Width: 8, Signed: true}, 5)
		b.Files = files
		rtltest.RunBroken(t, fault[1], b)
	}
}
