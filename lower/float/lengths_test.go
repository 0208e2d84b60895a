// SPDX-License-Identifier: Apache-2.0

package float

import (
	"testing"

	"lathe/ir/text"
	"lathe/lower/pass"
)

// attending is a graph with attention over three tokens.
const attending = `lathe 1
graph %m float(%x) {
%x = input : 1x3x4 fp32
%q = reshape(%x) {shape = [1, 3, 2, 2]} : 1x3x2x2 fp32
%h = transpose(%q) {perm = [0, 2, 1, 3]} : 1x2x3x2 fp32
%a = attention(%h, %h, %h) {scale = 0.5} : 1x2x3x2 fp32
return y = %a
}
`

// TestWithLengths: the mask becomes an input, and whole frames compute what they did; a graph that has it, or no
// attention, stays as it is.
func TestWithLengths(t *testing.T) {
	g, err := text.Parse("t.lathe", attending, nil)
	if err != nil {
		t.Fatal(err)
	}
	was := text.Print(g)
	framed, report, err := WithLengths(t.Context(), g, pass.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(framed.In) != 2 || framed.In[1].Name != LengthsMask || text.Print(g) != was {
		t.Errorf("inputs of\n%s\nfrom\n%s", text.Print(framed), text.Print(g))
	}
	p := report.Passes
	if len(p) != 1 || p[0].Name != "add_lengths" || !p[0].Verified || !(p[0].Loss.Relative < rounding) {
		t.Errorf("%+v", p)
	}
	if again, report, err := WithLengths(t.Context(), framed, pass.Options{}); err != nil || again != framed ||
		len(report.Passes) > 0 {
		t.Errorf("again: %v, %+v", err, report)
	}
	plain, err := text.Parse("t.lathe", head+"return y = %z\n}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if same, _, err := WithLengths(t.Context(), plain, pass.Options{}); err != nil || same != plain {
		t.Errorf("without attention: %v\n%s", err, text.Print(same))
	}
}
