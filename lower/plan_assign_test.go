// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/ir/text"
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

// TestAssigned: assignments stand above the rules of the plan, keep its rounding, and come back from its text: the
// printed plan leads to the same graph without calibration data.
func TestAssigned(t *testing.T) {
	e := load(t, "digits-cnn", "model.onnx")
	base, err := ParsePlan("base.toml", []byte("[quantize]\nround = \"floor\"\nunsigned = true\n"+
		"[[quantize.rule]]\nop = \"linear\"\ndata_out = \"fixed(12)\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := base.Assigned("search", []Assignment{{Node: "conv1", Weight: "fixed(5)", Data: "ufixed(6)"},
		{Node: "relu", Data: "ufixed(6)"}, {Node: "fc", Weight: "fixed(3,round=even)"}, {Node: "x", Data: "ufixed(7)"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(base.Quantize.Rules) != 1 {
		t.Error("the plan itself has changed")
	}
	g, report, err := Quantize(context.Background(), e.g, plan, e.calib)
	if err != nil {
		t.Fatal(err)
	}
	formats := map[string]string{}
	for _, s := range report.Slots {
		formats[s.Node+"."+s.Slot] = s.Format
	}
	for slot, want := range map[string]string{"x.data_out": "ufixed(7,", "conv1.data_out": "ufixed(6,",
		"conv1.weight": "int(5,round=floor)*[0]", "fc.weight": "int(3)*[0]", "fc.data_out": "fixed(12,",
		"conv2.data_out": "ufixed(8,"} {
		if got := formats[slot]; !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s, want %s", slot, got, want)
		}
	}
	if g.Find("relu") != nil {
		t.Error("the relu has a unit of its own")
	}
	again, err := ParsePlan("again.toml", []byte(plan.Text("model.onnx", g, report, nil)))
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := Quantize(context.Background(), e.g, again, Calibration{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range slices.Concat(g.Nodes, h.Nodes) { // ranges are those of samples, or bounds
		n.Stats.Known, n.Stats.Min, n.Stats.Max, n.Stats.Samples = false, 0, 0, 0
	}
	if a, b := text.Print(g), text.Print(h); a != b {
		t.Errorf("the printed plan leads to another graph:\n%s\n%s", a, b)
	}
}

// TestUniform is what --bits asks for.
func TestUniform(t *testing.T) {
	bits := 12
	want, err := ParsePlanWith("", nil, Settings{Bits: &bits})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DefaultPlan().Uniform("search", "fixed(12)", true, true)
	if err != nil {
		t.Fatal(err)
	}
	q, p := &want.Quantize, &got.Quantize
	if q.Data.Pattern != p.Data.Pattern || q.Weight.Pattern != p.Weight.Pattern || q.Bias.Pattern != p.Bias.Pattern ||
		q.Unsigned != p.Unsigned {
		t.Errorf("%+v, want %+v", p, q)
	}
	half, err := DefaultPlan().Uniform("search", "fixed(6)", true, false)
	if err != nil || half.Quantize.Weight.Pattern.W != 6 || half.Quantize.Data.Pattern.W != 8 {
		t.Errorf("%v, %v", half, err)
	}
	if _, err := DefaultPlan().Uniform("search", "fixt(12)", true, true); err == nil {
		t.Error("a format that there is not is read")
	}
}
