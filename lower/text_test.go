// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/ir/text"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// TestAssigned: assignments stand above the rules of the plan, keep its rounding, and come back from its text: the
// printed plan leads to the same graph without calibration data.
func TestAssigned(t *testing.T) {
	e := lowertest.Load(t, "digits-cnn", "model.onnx")
	base, err := plan.Parse("base.toml", []byte("[quantize]\nround = \"floor\"\nunsigned = true\n"+
		"[[quantize.rule]]\nop = \"linear\"\ndata_out = \"fixed(12)\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	assigned, err := base.Assigned("search", []plan.Assignment{{Node: "conv1", Weight: "fixed(5)", Data: "ufixed(6)"},
		{Node: "relu", Data: "ufixed(6)"}, {Node: "fc", Weight: "fixed(3,round=even)"}, {Node: "x", Data: "ufixed(7)"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(base.Quantize.Rules) != 1 {
		t.Error("the plan itself has changed")
	}
	g, report, err := quantize.Run(context.Background(), e.Graph, assigned, quantize.Calibration{Samples: e.Samples},
		quantize.Options{})
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
	again, err := plan.Parse("again.toml", []byte(PlanText(assigned, "model.onnx", g, report, nil)))
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := quantize.Run(context.Background(), e.Graph, again, quantize.Calibration{}, quantize.Options{})
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

// TestTextSaysCorrections: what changes constants stands in the text, since no rule of a node can say it.
func TestTextSaysCorrections(t *testing.T) {
	e := lowertest.Load(t, "digits-cnn", "model.onnx")
	p := lowertest.Plan(t, "[quantize]\nweight = \"fixed(3)\"\ncorrect_bias = true\n")
	g, report, err := quantize.Run(t.Context(), e.Graph, p, quantize.Calibration{Samples: e.Samples}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text := PlanText(p, "m", g, report, nil); !strings.Contains(text, "\ncorrect_bias = true ") {
		t.Error(text)
	}
}
