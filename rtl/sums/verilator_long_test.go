// SPDX-License-Identifier: Apache-2.0

//go:build long

package sums

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/cmvm"
)

// TestVerilator simulates a million vectors, of random numbers and of extremes, beside the products that the modules
// stand for. Every other module has registers; a clock without en moves nothing.
//
//	go test -count=1 -timeout 2h -tags long -run '^TestVerilator$' -v ./rtl/sums
func TestVerilator(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	const modules, vectors = 25, 40_000
	r := rand.New(rand.NewPCG(11, 12))
	cells := 0
	for n := range modules {
		size := []int{1, 3, 6, 10, 16}[n%5]
		p := random(r, max(1, size-r.IntN(3)), max(1, size-r.IntN(3)), 1+r.IntN(10))
		g := solved(t, p)
		pipe := g.Pipeline([]float64{100, 2 + 4*r.Float64()}[n%2], 0)
		dir := t.TempDir()
		write(t, dir, "sums.sv", Module("sums", g, pipe))
		write(t, dir, "main.cc", harness(g, pipe.Rows))
		run(t, dir, "verilator", "-Wno-fatal", "--cc", "--exe", "--build", "-O3", "-CFLAGS", "-Og", "--top-module", "sums",
			"sums.sv", "main.cc")
		in, want := stimuli(r, &p, g, vectors)
		write(t, dir, "in", in)
		run(t, dir, "obj_dir/Vsums")
		got, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || len(want) == 0 {
			t.Fatalf("%d bytes expected, %v", len(want), err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%v of %v plus %v, %d rows: the simulation differs", p.Matrix, p.Inputs, p.Bias, pipe.Rows)
		}
		cells += g.Cost().Cells
	}
	t.Logf("%d vectors through %d modules of %d cells in all", modules*vectors, modules, cells)
}

// stimuli are vectors of 64-bit numbers, and those of their products, whose bits above those of the outputs are zero.
func stimuli(r *rand.Rand, p *cmvm.Problem, g *cmvm.Graph, vectors int) (in string, want []byte) {
	var x []byte
	for range vectors {
		row := make([]int64, len(p.Inputs))
		for i, in := range p.Inputs {
			row[i] = []int64{in.Lo, in.Hi, in.Lo + r.Int64N(in.Hi-in.Lo+1), in.Lo + r.Int64N(in.Hi-in.Lo+1)}[r.IntN(4)]
			x = binary.LittleEndian.AppendUint64(x, uint64(row[i]))
		}
		for o, w := range g.Outputs {
			sum := p.Bias[o]
			for i, by := range p.Matrix[o] {
				sum += by * row[i]
			}
			want = binary.LittleEndian.AppendUint64(want, uint64(sum)&(1<<len(w.Bits)-1))
		}
	}
	return string(x), want
}

// harness is a program that reads vectors from the file in and writes those of the outputs into the file out.
func harness(g *cmvm.Graph, rows int) string {
	var set, get strings.Builder
	for i, w := range g.Inputs {
		if len(w.Bits) > 0 {
			fmt.Fprintf(&set, "    top.x%d = x[%d] & ((1ull << %d) - 1);\n", i, i, len(w.Bits))
		}
	}
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			fmt.Fprintf(&get, "    y[%d] = top.y%d;\n", o, o)
		}
	}
	clock := ""
	if rows > 0 {
		clock = "    if (n % 3 == 0) { top.clk = 1; top.eval(); top.clk = 0; top.eval(); }\n" +
			"    top.en = 1; top.clk = 1; top.eval(); top.clk = 0; top.eval(); top.en = 0;\n"
	}
	return fmt.Sprintf(`#include "Vsums.h"
#include <cstdint>
#include <cstdio>
double sc_time_stamp() { return 0; }
int main() {
  static uint64_t x[%d], y[%d];
  Vsums top;
  FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
  const long rows = %d;
  long n = 0, end = -1;
  while (n != end) {
    if (end < 0 && fread(x, sizeof x, 1, in) != 1) end = n + rows;
    if (n == end) break;
%s    top.eval();
%s    if (n >= rows) fwrite(y, sizeof y, 1, out);
%s    n++;
  }
  fclose(out);
}
`, max(1, len(g.Inputs)), max(1, len(g.Outputs)), rows, set.String(), get.String(), clock)
}
