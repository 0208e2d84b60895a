// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/sim/area"
	"lathe/sim/area/paths"
)

// TestPaths holds emitted designs to the limits of paths: a path may begin in a unit and end in its neighbour, which
// counts of single modules do not see. One has windows of both kinds, one real scales, one blocks; TestPredictedArea
// has another serial design.
func TestPaths(t *testing.T) {
	for _, c := range tools.Few(1, [][2]string{{"digits-cnn", ""}, {"digits-qdq-mlp", "serial"}, {"digits-mlp", "mx"}}) {
		t.Run(c[0]+"/"+c[1], func(t *testing.T) {
			t.Parallel()
			counted(t, job(t, c[0], "model.onnx", c[1], 0))
		})
	}
}

// TestLongPathAcrossUnits counts units that hand on what they are given in the same cycle: of seven in a row, none of
// which has a long path by itself, the count must see the path.
func TestLongPathAcrossUnits(t *testing.T) {
	t.Parallel()
	tools.Need(t, "yosys")
	dir := t.TempDir()
	const text = `
module stage (input clk, input [5:0] in, output [5:0] out, input [29:0] d);
  reg [29:0] k;
  always @(posedge clk) k <= d;
  genvar i;
  generate for (i = 0; i < 6; i = i + 1)
    assign out[i] = &(in ^ k[5*i+:5]) ^ k[i];
  endgenerate
endmodule
module chain (input clk, input [5:0] x, input [29:0] d, output reg [5:0] y);
  localparam STAGES = 7;
  reg [5:0] from;
  wire [5:0] hop[0:STAGES];
  assign hop[0] = from;
  genvar i;
  generate for (i = 0; i < STAGES; i = i + 1) begin : g
    stage u (.clk(clk), .in(hop[i]), .out(hop[i+1]), .d(d));
  end endgenerate
  always @(posedge clk) {from, y} <= {x, hop[STAGES]};
endmodule
`
	if err := os.WriteFile(filepath.Join(dir, "chain.v"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := area.Count(t.Context(), dir, []string{"chain.v"}, "chain", area.Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	over := r.Longest.Over(paths.Limit)
	if len(over) != 1 || !strings.Contains(over[0], " LUTs in a row, at most 6: from[") {
		t.Errorf("%v, %q", r.Longest.Levels, over)
	}
}
