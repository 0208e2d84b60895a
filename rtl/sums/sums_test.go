// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/cmvm"
)

func random(r *rand.Rand, in, out, width int) cmvm.Problem {
	p := cmvm.Problem{Group: []int{5, 1}[r.IntN(2)], Effort: 4}
	for range in {
		a, b := r.Int64N(256)-128, r.Int64N(256)-128
		p.Inputs = append(p.Inputs, cmvm.Range{Lo: min(a, b), Hi: max(a, b)})
	}
	for range out {
		row := make([]int64, in)
		for i := range row {
			row[i] = r.Int64N(1<<width) - 1<<(width-1)
		}
		p.Matrix, p.Bias = append(p.Matrix, row), append(p.Bias, r.Int64N(200)-100)
	}
	return p
}

func solved(t *testing.T, p cmvm.Problem) *cmvm.Graph {
	t.Helper()
	g, err := cmvm.Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestIcarus simulates modules beside the products that they stand for, with and without registers between chains.
func TestIcarus(t *testing.T) {
	tools.Need(t, "iverilog", "vvp")
	r := rand.New(rand.NewPCG(3, 4))
	for range tools.Sample(4, 40) {
		p := random(r, 1+r.IntN(16), 1+r.IntN(8), 1+r.IntN(10))
		g := solved(t, p)
		dir := t.TempDir()
		pipe := g.Pipeline([]float64{100, 6, 4, 2}[r.IntN(4)], 0)
		write(t, dir, "sums.sv", Module("sums", g, pipe))
		bench, want := bench(r, &p, g, pipe.Rows)
		write(t, dir, "bench.sv", bench)
		run(t, dir, "iverilog", "-g2012", "-o", "bench.vvp", "-s", "bench", "bench.sv", "sums.sv")
		if got := run(t, dir, "vvp", "-n", "bench.vvp"); got != want {
			t.Fatalf("%v of %v plus %v, %d rows:\n%s\nnot\n%s", p.Matrix, p.Inputs, p.Bias, pipe.Rows, got, want)
		}
	}
}

// bench prints the outputs of some vectors, a few rows of registers later, and what they should be.
func bench(r *rand.Rand, p *cmvm.Problem, g *cmvm.Graph, rows int) (text, want string) {
	var head, ports, body, all strings.Builder
	if rows > 0 {
		head.WriteString("  logic clk = 1'b0, en = 1'b0;\n")
		ports.WriteString(", .clk(clk), .en(en)")
	}
	var sums []string
	for i, w := range g.Inputs {
		if len(w.Bits) > 0 {
			fmt.Fprintf(&head, "  logic [%d:0] x%d;\n", len(w.Bits)-1, i)
			fmt.Fprintf(&ports, ", .x%d(x%d)", i, i)
		}
	}
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			fmt.Fprintf(&head, "  wire %s [%d:0] y%d;\n", map[bool]string{true: "signed"}[w.Signed], len(w.Bits)-1, o)
			fmt.Fprintf(&ports, ", .y%d(y%d)", o, o)
		}
	}
	for step := range 50 + rows {
		x := make([]int64, len(p.Inputs))
		for i, in := range p.Inputs {
			x[i] = in.Lo + r.Int64N(in.Hi-in.Lo+1)
			if n := len(g.Inputs[i].Bits); n > 0 {
				fmt.Fprintf(&body, "    x%d = %d'd%d;\n", i, n, uint64(x[i])&(1<<n-1))
			}
		}
		if rows > 0 && r.IntN(4) == 0 {
			body.WriteString("    #1 clk = 1'b1; #1 clk = 1'b0;\n") // nothing may move
		}
		body.WriteString("    #1;\n")
		var line strings.Builder
		for o, row := range p.Matrix {
			sum := p.Bias[o]
			for i, w := range row {
				sum += w * x[i]
			}
			if len(g.Outputs[o].Bits) > 0 {
				line.WriteString(strconv.FormatInt(sum, 10) + "\n")
				if step >= rows {
					fmt.Fprintf(&body, "    $display(\"%%0d\", y%d);\n", o)
				}
			} else if sum != 0 {
				all.WriteString("an output without bits is not zero\n")
			}
		}
		if sums = append(sums, line.String()); step >= rows {
			all.WriteString(sums[step-rows])
		}
		if rows > 0 {
			body.WriteString("    en = 1'b1; #1 clk = 1'b1; #1 clk = 1'b0; en = 1'b0;\n")
		}
	}
	return fmt.Sprintf("module bench;\n%s  sums dut (%s);\n  initial begin\n%s  end\nendmodule\n", head.String(),
		strings.TrimPrefix(ports.String(), ", "), body.String()), all.String()
}
