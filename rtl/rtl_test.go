// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/diag"
)

const sample = `// SPDX-License-Identifier: Apache-2.0
// sample: does nothing. It shows
// the forms that are read.
//   parameters  A, B  two numbers
//               F     a file
//   latency: A + 2   ii: max(A, B)
//   order: row-major
` + "`default_nettype none" + `
module sample #(
    parameter integer A = 4, B = A * 2,
    parameter [31:0] F_SUM = 32'h0000_0010, // (a comment, with commas)
    parameter F = "",
    localparam integer W = A > 1 ? $clog2(A) : 1
) (
    input  wire                  clk,
    input  wire signed [A*B-1:0] in_data,
    input                        in_valid, output wire in_ready,
    output reg [(A > 4 ? 1 : W)-1:0] out_data,
    output logic out_valid, /* , */ input wire out_ready
);
  stream_skid #(.WIDTH(A)) u_skid (.clk(clk));
  // mem_rom u_not ();
  generate if (A > 2) begin : g
    stream_widen u_w (.clk(clk));
    sample #(.A(A - 1)) u_self (.clk(clk));
    stream_widen_not_a_module u_x (.clk(clk));
  end endgenerate
endmodule
`

func TestReadHeader(t *testing.T) {
	h, err := ReadHeader(File{Name: "sample.sv", Data: []byte(sample)})
	if err != nil {
		t.Fatal(err)
	}
	if h.Purpose != "does nothing. It shows the forms that are read." || h.Order != "row-major" {
		t.Errorf("purpose %q, order %q", h.Purpose, h.Order)
	}
	params := []ParamDecl{{"A", "4", false}, {"B", "A * 2", false}, {"F_SUM", "32'h0000_0010", false}, {"F", `""`, false},
		{"W", "A > 1 ? $clog2(A) : 1", true}}
	ports := []PortDecl{{"clk", false, ""}, {"in_data", false, "A*B-1"}, {"in_valid", false, ""}, {"in_ready", true, ""},
		{"out_data", true, "(A > 4 ? 1 : W)-1"}, {"out_valid", true, ""}, {"out_ready", false, ""}}
	if diff := cmp.Diff(params, h.Params); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ports, h.Ports); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"stream_skid", "stream_widen"}, h.Deps); diff != "" {
		t.Error(diff)
	}
	values, err := h.Values([]Param{{Name: "A", Value: "3"}, {Name: "F", Value: `"x.mem"`}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"A": 3, "B": 6, "F_SUM": 16, "W": 2}, values); diff != "" {
		t.Error(diff)
	}
	latency, err1 := h.Latency.Eval(values)
	ii, err2 := h.II.Eval(values)
	in, err3 := h.Width("in_data", values)
	out, err4 := h.Width("out_data", values)
	if latency != 5 || ii != 6 || in != 18 || out != 2 || err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Errorf("latency %d, ii %d, widths %d %d, %v %v %v %v", latency, ii, in, out, err1, err2, err3, err4)
	}
}

func TestReadHeaderErrors(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(sample, old, new, 1) }
	for name, text := range map[string]string{
		"wrong name":     replace("module sample", "module other"),
		"no purpose":     replace("sample:", "something:"),
		"no latency":     replace("latency:", "delay:"),
		"bad latency":    replace("latency: A + 2", "latency: A +"),
		"bad ii":         replace("ii: max(A, B)", "ii: max(A,"),
		"open list":      sample[:strings.Index(sample, ") (")],
		"unknown port":   replace("input  wire                  clk", "inout clk"),
		"bad parameter":  replace("parameter F = \"\"", "parameter F"),
		"no module":      "// sample: x\n// latency: 1 ii: 1 order: x\n",
		"comment is far": "\n" + sample,
	} {
		if _, err := ReadHeader(File{Name: "sample.sv", Data: []byte(text)}); diag.CodeOf(err) != "L0602" {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	h, _ := ReadHeader(File{Name: "sample.sv", Data: []byte(sample)})
	for _, name := range []string{"C", "W"} {
		if _, err := h.Values([]Param{{Name: name, Value: "3"}}); diag.CodeOf(err) != "L0604" {
			t.Errorf("parameter %s: %v", name, err)
		}
	}
	if _, err := h.Width("nowhere", nil); diag.CodeOf(err) != "L0604" {
		t.Errorf("unknown port: %v", err)
	}
}

func TestFiles(t *testing.T) {
	names := func(modules ...string) []string {
		files, err := Files(modules...)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range files {
			list = append(list, f.Name)
		}
		return list
	}
	want := []string{"stream_skid.sv", "stream_narrow.sv", "stream_widen.sv"}
	if diff := cmp.Diff(want, names("stream_widen", "stream_narrow", "stream_widen")); diff != "" {
		t.Error(diff)
	}
	_, err := Files("stream_skit")
	if diag.CodeOf(err) != "L0601" || !strings.Contains(err.Error(), "did you mean stream_skid?") {
		t.Errorf("err = %v", err)
	}
}

func TestImage(t *testing.T) {
	im := Image{Param: "WEIGHTS", Width: 36, Words: []*big.Int{big.NewInt(1), big.NewInt(-1), big.NewInt(0x5_0000_0002)}}
	file := im.File("fc1")
	if file.Name != "fc1_weights.mem" || string(file.Data) != "000000001\nfffffffff\n500000002\n" {
		t.Errorf("%s: %q", file.Name, file.Data)
	}
	const sum = 1 + 0xffffffff + 0xf + 5 + 2 - 1<<32
	if im.Sum() != sum {
		t.Errorf("sum %x, want %x", im.Sum(), sum)
	}
	want := []Param{{Name: "WEIGHTS", Value: `"fc1_weights.mem"`}, {Name: "WEIGHTS_SUM", Value: "32'h00000016"}}
	if diff := cmp.Diff(want, im.Params("fc1")); diff != "" {
		t.Error(diff)
	}
	im.Suffix = "_w"
	if im.FileName("fc1") != "fc1_w.mem" {
		t.Error(im.FileName("fc1"))
	}
}
