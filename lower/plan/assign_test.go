// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
)

// TestParseFormats reads lists and ranges of widths.
func TestParseFormats(t *testing.T) {
	for text, want := range map[string]string{
		"fixed(4)":                     "fixed(4)",
		"fixed(4..6),mxint8":           "fixed(4) fixed(5) fixed(6) mxint8",
		"fixed(8,2..3), fixed(8,3)":    "fixed(8,2) fixed(8,3)",
		"float(4,3),int(8)*[0]":        "float(4,3) int(8)*[0]",
		"mxint(4..5,16,round=floor)":   "mxint(4,16,round=floor) mxint(5,16,round=floor)",
		"ufixed(62..63)":               "ufixed(62) ufixed(63)",
		"fixed(4),fixed(4)":            "fixed(4)",
		"fixed(3..4,round=floor),bf16": "fixed(3,round=floor) fixed(4,round=floor) bf16",
	} {
		got, err := ParseFormats(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "fixed(4),", "fixed(9..4)", "fixt(4)", "fixed(0..3)", "fixed(4..999)"} {
		if got, err := ParseFormats(text); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

// TestUniform is what --bits asks for.
func TestUniform(t *testing.T) {
	bits := 12
	want, err := ParseWith("", nil, Settings{Bits: &bits})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Default().Uniform("search", "fixed(12)", true, true)
	if err != nil {
		t.Fatal(err)
	}
	q, p := &want.Quantize, &got.Quantize
	if q.Data.Pattern != p.Data.Pattern || q.Weight.Pattern != p.Weight.Pattern || q.Bias.Pattern != p.Bias.Pattern ||
		q.Unsigned != p.Unsigned {
		t.Errorf("%+v, want %+v", p, q)
	}
	half, err := Default().Uniform("search", "fixed(6)", true, false)
	if err != nil || half.Quantize.Weight.Pattern.W != 6 || half.Quantize.Data.Pattern.W != 8 {
		t.Errorf("%v, %v", half, err)
	}
	if _, err := Default().Uniform("search", "fixt(12)", true, true); err == nil {
		t.Error("a format that there is not is read")
	}
}
