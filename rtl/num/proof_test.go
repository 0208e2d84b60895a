// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe/rtl/formaltest"
)

// cast is one use of a module that ends in num_requant's rounding and overflow.
type cast struct{ in, signed, shift, out, outSigned, round, over int }

func (c cast) String() string {
	return fmt.Sprintf("in %d signed %d shift %d out %d signed %d round %d over %d", c.in, c.signed, c.shift, c.out,
		c.outSigned, c.round, c.over)
}

// roundings are the conditions to go from the floor q of n/d to the number above, by the definition of each mode: r is
// the remainder, 0 <= r < d, in the order of ROUND.
var roundings = []string{
	"2 * r > d || (2 * r == d && q[0])",   // even
	"2 * r > d || (2 * r == d && n >= 0)", // away from zero
	"2 * r >= d",                          // up
	"2 * r > d",                           // down
	"2 * r > d || (2 * r == d && n < 0)",  // half to zero
	"1'b0",                                // floor
	"r != 0",                              // ceil
	"r != 0 && n < 0",                     // to zero
	"r != 0 && n >= 0",                    // outward
}

// definition prints the value of n/d, rounded and fitted into the output format, in 80 bits, as the wire "want"; q is
// the floor of n/d.
func (c cast) definition(n, d, q string) string {
	least, most := "80'sd0", fmt.Sprintf("(80'sd1 <<< %d) - 80'sd1", c.out)
	if c.outSigned == 1 {
		least, most = fmt.Sprintf("-(80'sd1 <<< %d)", c.out-1), fmt.Sprintf("(80'sd1 <<< %d) - 80'sd1", c.out-1)
	}
	switch {
	case c.over > 2:
		most = fmt.Sprintf("80'sd%d", (c.over-3)/2)
		if c.over%2 == 0 {
			least = "-" + most
		} else {
			least = "80'sd0"
		}
	case c.over == 1 && c.outSigned == 1:
		least += " + 80'sd1"
	case c.over == 1:
		most += " - 80'sd1"
	}
	fit := "rounded"
	if c.over != 2 {
		fit = "rounded < least ? least : rounded > most ? most : rounded"
	}
	return strings.NewReplacer("$n", n, "$d", d, "$q", q, "$up", roundings[c.round], "$least", least, "$most", most,
		"$fit", fit, "$o", fmt.Sprint(c.out-1)).Replace(`
  wire signed [79:0] n = $n;
  wire signed [79:0] d = $d;
  wire signed [79:0] q = $q;
  wire signed [79:0] r = n - q * d;
  wire signed [79:0] rounded = ($up) ? q + 80'sd1 : q;
  wire signed [79:0] least = $least;
  wire signed [79:0] most = $most;
  wire signed [79:0] fitted = $fit;
  wire [$o:0] want = fitted[$o:0];
`)
}

// requant is num_requant against n / 2^SHIFT; the floor of a division by a power of two is a shift.
func requant(c cast) formaltest.Formula {
	right, left := max(c.shift, 0), max(-c.shift, 0)
	text := fmt.Sprintf(`module formula (input wire [%d:0] in, output wire bad);
  wire signed [79:0] x = %s;
%s
  wire [%d:0] out;
  num_requant #(.IN_W(%d), .IN_SIGNED(%d), .SHIFT(%d), .OUT_W(%d), .OUT_SIGNED(%d), .ROUND(%d), .OVER(%d)) u (
      .in(in), .out(out));
  assign bad = out != want;
endmodule
`, c.in-1, extended("in", c.in, c.signed), c.definition(fmt.Sprintf("x <<< %d", left),
		fmt.Sprintf("80'sd1 <<< %d", right), fmt.Sprintf("n >>> %d", right)), c.out-1, c.in, c.signed, c.shift,
		c.out, c.outSigned, c.round, c.over)
	return formaltest.Formula{Module: "num_requant", Text: text}
}

// extended prints a port as a number of 80 bits.
func extended(name string, width, signed int) string {
	sign := "1'b0"
	if signed == 1 {
		sign = fmt.Sprintf("%s[%d]", name, width-1)
	}
	return fmt.Sprintf("{{%d{%s}}, %s}", 80-width, sign, name)
}

func TestRequantProof(t *testing.T) {
	even := cast{16, 1, 5, 8, 1, 0, 0}
	requant(even).Prove(t)
	for i := range roundings {
		requant(cast{12, 1, 4, 7, i % 2, i, []int{0, 1, 2, 3 + 2*48}[i%4]}).Prove(t)
	}
	requant(cast{12, 1, 4, 7, 1, 0, 4 + 2*48}).Prove(t)
	requant(cast{12, 1, 4, 7, 1, 0, 4 + 2*31}).Prove(t) // all ones
	requant(even).Refute(t, formaltest.Mutant{Module: "num_round", Old: "half && (sticky || tie);", New: "half;"})
	requant(even).Refute(t, formaltest.Mutant{Module: "num_requant", Old: "q[QW-1] ? LEAST : MOST", New: "MOST"})
	requant(cast{16, 1, 5, 8, 1, 0, 1}).Refute(t, formaltest.Mutant{Module: "num_requant",
		Old: "sat == LEAST ? ~MOST + OUT_W'(1) : sat", New: "sat"})
	requant(cast{16, 1, 5, 8, 1, 0, 4 + 2*96}).Refute(t, formaltest.Mutant{Module: "num_requant",
		Old: "!(&x[XW-2:HW]) || less", New: "!(&x[XW-2:HW])"})
}

// quotient is num_div_const against its definition: q is the floor of n/d where it times d lies within d below n. That
// q exists and is unique needs no proof here, so q is an input.
func quotient(c cast, lshift, divisor int) formaltest.Formula {
	text := fmt.Sprintf(`module formula (input wire [%d:0] in, input wire signed [%d:0] floor, output wire bad);
  wire signed [79:0] x = %s;
%s
  wire [%d:0] out;
  num_div_const #(.IN_W(%d), .IN_SIGNED(%d), .LSHIFT(%d), .N(%d), .OUT_W(%d), .OUT_SIGNED(%d), .ROUND(%d), .OVER(%d),
      .PIPE(0)) u (.clk(1'b0), .en(1'b0), .in(in), .out(out));
  assign bad = r >= 0 && r < d && out != want;
endmodule
`, c.in-1, c.in+max(lshift, 0), extended("in", c.in, c.signed), c.definition(fmt.Sprintf("x <<< %d", max(lshift, 0)),
		fmt.Sprintf("80'sd%d <<< %d", divisor, max(-lshift, 0)), "floor"), c.out-1, c.in, c.signed, lshift, divisor, c.out,
		c.outSigned, c.round, c.over)
	return formaltest.Formula{Module: "num_div_const", Text: text}
}

func TestQuotientProof(t *testing.T) {
	quotient(cast{7, 1, 0, 5, 1, 0, 0}, 0, 5).Prove(t)
	zero := cast{7, 1, 0, 5, 1, 7, 0} // rounding to nearest would make up for a quotient that is one too small
	quotient(zero, 0, 5).Prove(t)
	quotient(zero, 0, 5).Refute(t, formaltest.Mutant{Module: "num_div_const", Old: "(POWER - 1'b1) / D_WIDE + 1'b1",
		New: "(POWER - 1'b1) / D_WIDE"})
}
