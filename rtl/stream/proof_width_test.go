// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe/rtl/formaltest"
)

func TestWidenProof(t *testing.T) {
	widenProof(3, 3).Prove(t)
	widenProof(3, 3).Refute(t, formaltest.Mutant{Module: "stream_widen", Old: "in_ready  = !spare_valid",
		New: "in_ready = 1'b1"})
	widenProof(3, 3).Refute(t, formaltest.Mutant{Module: "stream_widen", Old: "room && enter) q", New: "enter) q"})
}

func TestNarrowProof(t *testing.T) {
	narrowProof(3, 3).Prove(t)
	narrowProof(3, 3).Refute(t, formaltest.Mutant{Module: "stream_narrow", Old: "beat >> WIDTH", New: "beat << WIDTH"})
	narrowProof(3, 3).Refute(t, formaltest.Mutant{Module: "stream_narrow", Old: "part_ready && count == LAST",
		New: "count == LAST"})
}

// anyPart declares the place of any part: f_c of the wide beat f_k, with data f_d.
const anyPart = `
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire [7:0] f_c;
  (* anyconst *) wire [$w-1:0] f_d;
  always @* assume (f_c < $n);
`

// widenProof counts input beats by the output beat that they belong to, f_in_w, and their part in it, f_in_c.
func widenProof(width, n int) formaltest.Proof {
	text := formaltest.Sender("in", width) + formaltest.Receiver("out", "out_valid", "out_ready", "out_data", n*width) +
		anyPart + `
  reg [7:0] f_in_w, f_in_c, f_out_w;
  always @(posedge clk) begin
    if (in_valid && in_ready) f_in_c <= f_in_c == $n - 1 ? 8'd0 : f_in_c + 8'd1;
    if (in_valid && in_ready && f_in_c == $n - 1) f_in_w <= f_in_w + 8'd1;
    if (out_valid && out_ready) f_out_w <= f_out_w + 8'd1;
    if (rst) {f_in_w, f_in_c, f_out_w} <= 24'd0;
  end
  always @* if (in_valid && f_in_w == f_k && f_in_c == f_c) assume (in_data == f_d);
  wire [7:0] f_held = f_in_w - f_out_w;
  wire f_spare = \join_beats.spare_valid ;
  wire [7:0] f_there = f_spare ? 8'd0 : f_in_c;
  always @* if (f_past) begin
    if (out_valid && f_out_w == f_k) assert (out_data[f_c*$w+:$w] == f_d);
    assert (f_in_c < $n && f_there == \join_beats.count );
    assert (f_held == {7'd0, out_valid});
    assert (!f_spare || (out_valid && f_in_c == 1));
    assert (!out_valid || f_there == 0);
    if (f_spare && f_k == f_in_w && f_c == 0) assert (\join_beats.spare == f_d);
    if (f_k == f_in_w && f_c < f_there) assert (out_data[($n-f_there+f_c)*$w+:$w] == f_d);
  end
  always @* cover (f_past && !f_rst && f_out_w == 8'd2 && f_spare);
`
	return widthProof("stream_widen", text, width, n)
}

// narrowProof counts output beats by the input beat that they come from, f_out_w, and their part of it, f_out_c. The
// part that the cutter gives next is as many behind that one as beats are in the skid.
func narrowProof(width, n int) formaltest.Proof {
	text := formaltest.Sender("in", n*width) + formaltest.Receiver("out", "out_valid", "out_ready", "out_data", width) +
		anyPart + `
  reg [7:0] f_in_w, f_out_w, f_out_c;
  always @(posedge clk) begin
    if (in_valid && in_ready) f_in_w <= f_in_w + 8'd1;
    if (out_valid && out_ready) {f_out_w, f_out_c} <= {f_w1, f_c1};
    if (rst) {f_in_w, f_out_w, f_out_c} <= 24'd0;
  end
  always @* if (in_valid && f_in_w == f_k) assume (in_data[f_c*$w+:$w] == f_d);
  wire [7:0] f_c1 = f_out_c == $n - 1 ? 8'd0 : f_out_c + 8'd1;
  wire [7:0] f_w1 = f_out_c == $n - 1 ? f_out_w + 8'd1 : f_out_w;
  wire [7:0] f_c2 = f_c1 == $n - 1 ? 8'd0 : f_c1 + 8'd1;
  wire [7:0] f_w2 = f_c1 == $n - 1 ? f_w1 + 8'd1 : f_w1;
  wire f_spare = \u_skid.spare_valid ;
  wire f_busy = \cut.busy ;
  wire [7:0] f_count = \cut.count ;
  wire [$n*$w-1:0] f_beat = \cut.beat ;
  wire [15:0] f_next = f_spare ? {f_w2, f_c2} : out_valid ? {f_w1, f_c1} : {f_out_w, f_out_c};
  always @* if (f_past) begin
    if (out_valid && {f_out_w, f_out_c} == {f_k, f_c}) assert (out_data == f_d);
    assert (f_out_c < $n && f_count < $n || !f_busy);
    assert (f_out_c < $n);
    assert (out_valid || !f_spare);
    assert (f_next == (f_busy ? {f_in_w - 8'd1, f_count} : {f_in_w, 8'd0}));
    if (f_spare && {f_w1, f_c1} == {f_k, f_c}) assert (\u_skid.spare_data == f_d);
    if (f_busy && f_k == f_in_w - 8'd1 && f_c >= f_count) assert (f_beat[(f_c-f_count)*$w+:$w] == f_d);
  end
  always @* cover (f_past && !f_rst && f_out_w == 8'd2 && f_spare && f_busy);
`
	return widthProof("stream_narrow", text, width, n)
}

func widthProof(module, text string, width, n int) formaltest.Proof {
	return formaltest.Proof{Module: module, Params: params("WIDTH", width, "N", n), Depth: 4*n + 4, Induct: 2,
		Properties: strings.NewReplacer("$n", fmt.Sprint(n), "$w", fmt.Sprint(width)).Replace(text)}
}
