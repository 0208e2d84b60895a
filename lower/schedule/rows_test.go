// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/sequence"
	"lathe/lower/lowertest"
)

// attended is attention of two heads of eight features in 8 bits.
func attended(tokens, keys int) *ir.Graph {
	fixed := format.Fixed{W: 8, F: 6, Signed: true}
	value := func(name string, n int) *ir.Node {
		return draw.Input(name, ir.Type{Shape: []int{1, n, 2, 8}, Format: fixed})
	}
	q, k, v := value("q", tokens), value("k", keys), value("v", keys)
	rows := []int{1, tokens, 2, keys}
	scores := &ir.Node{Name: "scores", Op: sequence.AttendScores, Attrs: &sequence.SeenAttrs{}, Args: []*ir.Node{q, k},
		Type: ir.Type{Shape: rows, Format: format.Fixed{W: 16, F: 10, Signed: true}}}
	weights := &ir.Node{Name: "weights", Op: sequence.AttendWeights, Attrs: &sequence.WeightsAttrs{Scale: 1},
		Args: []*ir.Node{scores}, Type: ir.Type{Shape: rows, Format: format.Fixed{W: 8, F: 8}}}
	sum := &ir.Node{Name: "sum", Op: sequence.AttendSum, Attrs: &sequence.SeenAttrs{}, Args: []*ir.Node{weights, v},
		Type: ir.Type{Shape: []int{1, tokens, 2, 8}, Format: fixed}}
	return &ir.Graph{Name: "attention", Stage: ir.StageQuantized, In: []*ir.Node{q, k, v},
		Nodes: []*ir.Node{q, k, v, scores, weights, sum}, Out: []ir.Output{{Name: "y", Node: sum}}}
}

// TestRows holds the length of rows to the lanes that plans ask for, on all three units.
func TestRows(t *testing.T) {
	rule := func(name, key, lanes string) string {
		return "[[fold.rule]]\nname = \"" + name + "\"\n" + key + " = " + lanes + "\n"
	}
	for _, c := range []struct {
		plan string
		row  int // 0: as many elements as keys
	}{
		{"[fold]\nmode = \"fold\"\n", 0},
		{rule("scores", "out_lanes", "17"), 0},
		{rule("scores", "out_lanes", "6"), 18},
		{rule("weights", "in_lanes", "5"), 20},
		{rule("sum", "in_lanes", "9"), 18},
		{rule("scores", "out_lanes", "4") + rule("weights", "in_lanes", "5") + rule("sum", "in_lanes", "10"), 20},
		{rule("scores", "out_lanes", "16") + rule("sum", "in_lanes", "1"), 32},
		{"[sequence]\ndecode = true\n" + rule("weights", "in_lanes", "9"), 18}, // a token of 34 live elements
	} {
		s, _, err := Run(t.Context(), attended(3, 17), lowertest.Plan(t, c.plan), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.plan, err)
			continue
		}
		for _, n := range []struct{ has, want ir.HW }{
			{s.Find("scores").HW, ir.HW{Widths: ir.Widths{RowOut: c.row}}},
			{s.Find("weights").HW, ir.HW{Widths: ir.Widths{RowIn: c.row, RowOut: c.row}}},
			{s.Find("sum").HW, ir.HW{Widths: ir.Widths{RowIn: c.row}}},
		} {
			if n.has.RowIn != n.want.RowIn || n.has.RowOut != n.want.RowOut {
				t.Errorf("%s: rows of %d and %d, not %d and %d", c.plan, n.has.RowIn, n.has.RowOut, n.want.RowIn, n.want.RowOut)
			}
		}
		if err := s.CheckReaders(); err != nil {
			t.Errorf("%s: %v", c.plan, err)
		}
	}
	far := rule("scores", "out_lanes", "6") + rule("weights", "in_lanes", "7")
	_, _, err := Run(t.Context(), attended(3, 17), lowertest.Plan(t, far), Options{})
	if diag.CodeOf(err) != "L0412" || !strings.Contains(err.Error(), "rows of 42") {
		t.Errorf("lanes without a common row: %v", err)
	}
}

// TestRowsStay does not pad rows that others read, which know nothing of dead lanes.
func TestRowsStay(t *testing.T) {
	for _, seen := range []string{"scores", "weights"} {
		g := attended(3, 17)
		g.Out = append(g.Out, ir.Output{Name: "seen", Node: g.Find(seen)})
		_, _, err := Run(t.Context(), g, lowertest.Plan(t, "[[fold.rule]]\nname = \"scores\"\nout_lanes = 6\n"),
			Options{})
		if seen == "weights" && err == nil || seen == "scores" && diag.CodeOf(err) != "L0412" {
			t.Errorf("%s is an output: %v", seen, err)
		}
	}
}

// TestRowsBalanced has the search find rows of 18 or 20 for 17 keys, where lanes that divide 17 are one or all.
func TestRowsBalanced(t *testing.T) {
	g := attended(17, 17)
	plan := lowertest.Plan(t, "[fold]\nmode = \"balance\"\nfps = 2.6e5\ndsp = \"pack\"\n")
	s, report, err := Run(t.Context(), g, plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	row := s.Find("weights").HW.RowIn
	if row != s.Find("scores").HW.RowOut || row != s.Find("sum").HW.RowIn || row < 18 || row > 21 {
		t.Errorf("rows of %d, %d, %d", s.Find("scores").HW.RowOut, row, s.Find("sum").HW.RowIn)
	}
	if report.II() > 961 || s.Find("scores").HW.OutLanes > 10 {
		t.Errorf("%d cycles, %+v", report.II(), s.Find("scores").HW)
	}
}
