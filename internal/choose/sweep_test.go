// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/emit/plot"
	"lathe/internal/diag"
)

// point is one with this accuracy, LUTs and DSPs.
func point(accuracy float64, lut, dsp int) *Point {
	return &Point{Accuracy: &accuracy, Cost: &Cost{LUT: lut, DSP: dsp}}
}

// TestFront keeps what is best in some respect, and of equal points all.
func TestFront(t *testing.T) {
	got := front([]*Point{point(0.9, 100, 5), point(0.9, 90, 5), point(0.8, 90, 4), point(0.95, 300, 0), point(0.9, 90, 5),
		point(0.7, 400, 9), {Refused: "no"}})
	if want := []bool{false, true, true, true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// What does not fit the part is none of the best, and hides none.
	points := []*Point{point(0.9, 100, 5), point(0.95, 90, 4)}
	if got := fitting(points, func(i int) bool { return i == 0 }); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("%v where the better one does not fit", got)
	}
	low, high := 10.0, 20.0
	got = front([]*Point{{SQNR: &low, Size: Size{ModelBits: 8}}, {SQNR: &high, Size: Size{ModelBits: 8}}})
	if want := []bool{false, true}; !slices.Equal(got, want) {
		t.Errorf("without labels and costs: %v, want %v", got, want)
	}
}

// TestSweep: more bits keep more and cost more, and refused formats stay rows of their own.
func TestSweep(t *testing.T) {
	meter := example(t, "jets-mlp", "", 150)
	s, err := meter.Sweep(context.Background(), []string{"fp32", "fixed(4)", "fixed(6)", "fixed(8)"}, Parts{true, true},
		true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.Points[0].Refused, "L0406") || s.Points[0].Front {
		t.Errorf("%+v", s.Points[0])
	}
	for i := 2; i < 4; i++ {
		a, b := s.Points[i-1], s.Points[i]
		if *a.SQNR >= *b.SQNR || a.ModelBits >= b.ModelBits || a.WeightBits >= b.WeightBits || a.Cost.FF >= b.Cost.FF {
			t.Errorf("%s: %+v, %s: %+v", a.Format, a.Point, b.Format, b.Point)
		}
	}
	if rows := s.Table(); rows[0][0] != "format" || len(rows) != 5 || len(rows[0]) != len(rows[3]) {
		t.Errorf("%q", rows)
	}
	for _, svg := range s.Plots(plot.View{}) {
		if n := strings.Count(string(svg), "<circle"); n != 3 {
			t.Errorf("%d points are drawn", n)
		}
	}
	weights, err := meter.Sweep(context.Background(), []string{"fixed(4)"}, Parts{Weight: true}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := weights.Points[0]; p.WeightBits != 4 || p.DataBits != 8 || p.Cost != nil {
		t.Errorf("%+v", p)
	}
	if _, err := meter.Sweep(context.Background(), []string{"fp32"}, Parts{true, true}, false, nil); diag.CodeOf(err) !=
		"L0421" {
		t.Errorf("%v", err)
	}
}
