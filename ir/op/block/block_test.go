// SPDX-License-Identifier: Apache-2.0

package block

import (
	"strings"
	"testing"

	"lathe/ir/format"
)

func TestBlockProblem(t *testing.T) {
	for _, c := range []struct {
		text string
		bias int
		want string
	}{
		{"mxint8", 0, ""},
		{"mxint(2,4096)", 0, ""},
		{"mxint(17,32)", 0, "2 to 16 bits"},
		{"mxint(8,4097)", 0, "4096 elements"},
		{"mxint8", 22, ""},
		{"mxint8", 23, "2^-149 to 2^127 here, not 2^-150 to 2^104"},
		{"mxint8", -1, "2^-149 to 2^127 here, not 2^-126 to 2^128"},
	} {
		f, err := format.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		b := shifted{f.(coded), c.bias}
		if got := BlockProblem(b); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, scales over 2^%d: %q, want %q", c.text, c.bias, got, c.want)
		}
	}
}

type coded interface {
	format.BlockCodec
}

// shifted is a block format with smaller scales.
type shifted struct {
	coded
	by int
}

func (s shifted) ScaleLimits() (lo, hi int) {
	lo, hi = s.coded.ScaleLimits()
	return lo - s.by, hi - s.by
}
