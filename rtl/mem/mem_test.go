// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
	"lathe/sim"
)

// contents is a memory image of random words.
func contents(depth, width int) rtl.Image {
	r := rand.New(rand.NewPCG(uint64(depth), uint64(width)))
	im := rtl.Image{Param: "IMAGE", Width: width}
	for range depth {
		w := new(big.Int)
		for w.BitLen() < width+64 {
			w.Lsh(w, 64).Or(w, new(big.Int).SetUint64(r.Uint64()|1))
		}
		im.Words = append(im.Words, w.Rsh(w, uint(w.BitLen()-width)))
	}
	return im
}

// romBench reads random addresses of a memory with the given image.
func romBench(im rtl.Image, style string) rtltest.Bench {
	depth := len(im.Words)
	return rtltest.Bench{
		Module: "mem_rom",
		Params: []rtl.Param{rtltest.P("WIDTH", im.Width), rtltest.P("DEPTH", depth),
			{Name: "STYLE", Value: `"` + style + `"`}},
		Images: []rtl.Image{im},
		In:     []rtltest.Port{{Name: "addr"}},
		Out:    []rtltest.Port{{Name: "data"}},
		Gen: func(r *rand.Rand, _, frame int) []int64 {
			if frame < depth {
				return []int64{int64(frame)}
			}
			return []int64{int64(r.IntN(depth))}
		},
		Pipeline: true,
		BigModel: func(in [][]*big.Int) [][]*big.Int { return [][]*big.Int{{im.Words[in[0][0].Int64()]}} },
	}
}

func TestRom(t *testing.T) {
	for _, style := range []string{"auto", "block", "distributed"} {
		rtltest.Run(t, romBench(contents(16, 8), style))
	}
	rtltest.Run(t, romBench(contents(1, 5), "auto"))
	rtltest.Run(t, romBench(contents(100, 97), "block"))
}

// TestRomImage spoils the image in every way that tools let pass: the simulation must stop.
func TestRomImage(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	im := contents(16, 40)
	good := string(im.File("u").Data)
	lines := strings.SplitAfter(good, "\n")
	for name, text := range map[string]string{
		"short":   strings.Join(lines[:15], ""),
		"changed": strings.Replace(good, lines[3], "0000000001\n", 1),
		"empty":   "\n",
		"missing": "",
	} {
		t.Run(name, func(t *testing.T) {
			spec := romSpec(t, im)
			if text == "" {
				spec.Files = spec.Files[:len(spec.Files)-1]
			} else {
				spec.Files[len(spec.Files)-1].Data = []byte(text)
			}
			model, err := sim.Build(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			_, err = model.Run(t.Context(), sim.Input{Streams: [][]byte{{0}}, Frames: 1, InBeats: []int{1}, OutBeats: []int{1}})
			if diag.CodeOf(err) != "L0705" || !strings.Contains(err.Error(), "u_image.mem has checksum") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func romSpec(t *testing.T, im rtl.Image) sim.Spec {
	t.Helper()
	files, err := rtl.Files("mem_rom")
	if err != nil {
		t.Fatal(err)
	}
	return sim.Spec{
		Top: "mem_rom", Files: append(files, im.File("u")), Clock: "clk", Enable: "en", Handshake: sim.ByWrapper, Pipe: 2,
		Params:   append(im.Params("u"), rtltest.P("WIDTH", im.Width), rtltest.P("DEPTH", len(im.Words))),
		In:       []sim.Port{{Name: "addr", Width: rtl.Clog2(len(im.Words))}},
		Out:      []sim.Port{{Name: "data", Width: im.Width}},
		CacheDir: tools.CacheDir(t),
	}
}

// TestRam writes every word in random order, then reads them in another, frame by frame.
func TestRam(t *testing.T) {
	for _, p := range []struct{ depth, latency int }{{1, 1}, {16, 1}, {16, 2}, {100, 2}} {
		bits := max(rtl.Clog2(p.depth), 1)
		rtltest.Run(t, rtltest.Bench{
			Module: "ram_bench",
			Params: []rtl.Param{rtltest.P("DEPTH", p.depth), rtltest.P("AW", bits), rtltest.P("LATENCY", p.latency)},
			Files:  []rtl.File{{Name: "ram_bench.sv", Data: []byte(ramBench)}},
			In:     []rtltest.Port{{Name: "in", Beats: 2 * p.depth}},
			Out:    []rtltest.Port{{Name: "out"}},
			Gen: func(r *rand.Rand, _, _ int) []int64 {
				var codes []int64
				for _, a := range r.Perm(p.depth) {
					codes = append(codes, 1<<(bits+8)|int64(a)<<8|int64(r.IntN(256)))
				}
				for _, a := range r.Perm(p.depth) {
					codes = append(codes, int64(a)<<8)
				}
				return codes
			},
			Model: func(in [][]int64) [][]int64 {
				held := make([]int64, p.depth)
				var out []int64
				for _, c := range in[0] {
					a := c >> 8 & (1<<bits - 1)
					if c>>(bits+8) == 1 {
						held[a] = c & 255
					} else {
						out = append(out, held[a])
					}
				}
				return [][]int64{out}
			},
		})
	}
}

const ramBench = `// ram_bench: commands {write, address, data}; a read answers with the word.
//   latency: DEPTH + LATENCY   ii: 2 * DEPTH   order: as it comes
module ram_bench #(
    parameter integer DEPTH = 4,
    parameter integer AW = 2,
    parameter integer LATENCY = 1
) (
    input wire clk,
    input wire rst,
    input wire [AW+8:0] in_data,
    input wire in_valid,
    output wire in_ready,
    output wire [7:0] out_data,
    output wire out_valid,
    input wire out_ready
);
  reg [LATENCY:0] v;
  wire we = in_data[AW+8];
  assign in_ready = !out_valid || out_ready;
  assign out_valid = v[LATENCY-1];
  always @(posedge clk) if (rst) v <= 0; else if (in_ready) v <= {v[LATENCY-1:0], in_valid && !we};
  mem_ram #(.WIDTH(8), .DEPTH(DEPTH), .LATENCY(LATENCY)) u_ram (.clk(clk), .we(in_valid && in_ready && we),
      .waddr(in_data[8+:AW]), .wdata(in_data[7:0]), .en(in_ready), .raddr(in_data[8+:AW]), .rdata(out_data));
endmodule
`
