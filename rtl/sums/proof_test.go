// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/cmvm"
)

// TestProof has a solver of Boolean formulas prove small modules equal to their products, for inputs of four bits: with
// the tag long all of 1x1, 1x2 and 2x1 with coefficients of four bits, and a hundred of 3x3 drawn by a fixed seed, of
// which there are too many to prove all; without, some of them. TestAllSmall of rtl/cmvm evaluates all graphs of 2x2.
func TestProof(t *testing.T) {
	tools.Need(t, "yosys")
	var all []cmvm.Problem
	for i := range 256 {
		a, b := int64(i%16-8), int64(i/16-8)
		all = append(all, small([][]int64{{a, b}}), small([][]int64{{a}, {b}}))
		if i < 16 {
			all = append(all, small([][]int64{{a}}))
		}
	}
	prove(t, tools.Few(30, all))
	r := rand.New(rand.NewPCG(5, 6))
	all = nil
	for range tools.Sample(3, 100) {
		m := make([][]int64, 3)
		for o := range m {
			m[o] = []int64{r.Int64N(16) - 8, r.Int64N(16) - 8, r.Int64N(16) - 8}
		}
		all = append(all, small(m))
	}
	prove(t, all)
}

// small has inputs of four bits, of which every other one is never negative.
func small(m [][]int64) cmvm.Problem {
	p := cmvm.Problem{Group: 5, Effort: 2, Matrix: m}
	for i := range m[0] {
		p.Inputs = append(p.Inputs, []cmvm.Range{{Lo: -8, Hi: 7}, {Lo: 0, Hi: 15}}[i%2])
	}
	return p
}

// prove proves all of them at once, as one formula.
func prove(t *testing.T, all []cmvm.Problem) {
	t.Helper()
	var modules, spec strings.Builder
	same := "1'b1"
	for n, p := range all {
		g := solved(t, p)
		modules.WriteString(Module(fmt.Sprintf("sums%d", n), g, g.Pipeline(math.Inf(1), 0)))
		var ports []string
		for i := range p.Inputs {
			if len(g.Inputs[i].Bits) != 4 {
				t.Fatalf("input %d has %d bits, not 4", i, len(g.Inputs[i].Bits))
			}
			ports = append(ports, fmt.Sprintf(".x%d(x%d)", i, i))
		}
		for o, w := range g.Outputs {
			z, y := fmt.Sprintf("z%d_%d", n, o), fmt.Sprintf("y%d_%d", n, o)
			fmt.Fprintf(&spec, "  wire signed [15:0] %s = 16'sd0", z)
			for i, by := range p.Matrix[o] {
				fmt.Fprintf(&spec, " +\n      (%d) * %s", by, []string{"$signed(x0)", "$signed({1'b0, x1})", "$signed(x2)"}[i])
			}
			spec.WriteString(";\n")
			if len(w.Bits) == 0 {
				same += fmt.Sprintf(" && %s == 16'sd0", z)
				continue
			}
			fmt.Fprintf(&spec, "  wire [%d:0] %s;\n", len(w.Bits)-1, y)
			ports = append(ports, fmt.Sprintf(".y%d(%s)", o, y))
			sign := "1'b0"
			if w.Signed {
				sign = fmt.Sprintf("%s[%d]", y, len(w.Bits)-1)
			}
			same += fmt.Sprintf(" &&\n      %s == {{%d{%s}}, %s}", z, 16-len(w.Bits), sign, y)
		}
		fmt.Fprintf(&spec, "  sums%d dut%d (%s);\n", n, n, strings.Join(ports, ", "))
	}
	dir := t.TempDir()
	write(t, dir, "sums.sv", modules.String()+fmt.Sprintf("module miter (input [3:0] x0, x1, x2, output same);\n%s"+
		"  assign same = %s;\nendmodule\n", spec.String(), same))
	run(t, dir, "yosys", "-q", "-p",
		"read_verilog -sv sums.sv; prep -flatten -top miter; sat -verify -prove same 1 miter")
}
