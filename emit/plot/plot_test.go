// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hostile is what a model may call its nodes.
const hostile = `</svg><script>alert("1")</script>&amp;`

// count demands well-formed XML without scripts and counts its elements.
func count(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	d, found := xml.NewDecoder(bytes.NewReader(svg)), map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local]++
		}
	}
	for _, rule := range []string{"var(", "<style", "class=", "hsl("} { // which rsvg and CairoSVG draw black, or not
		if strings.Contains(string(svg), rule) {
			t.Errorf("the chart needs %q", rule)
		}
	}
	if found["script"] > 0 || strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
		t.Errorf("%s", svg)
	}
	return found
}

// TestTicks: ends and ticks of axes are round numbers around all values.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{0, 97}, "[0 20 40 60 80 100]"},
		{[]float64{-3.2, 4.9}, "[-4 -2 0 2 4 6]"},
		{[]float64{7}, "[6.4 6.6 6.8 7 7.2 7.4 7.6]"},
		{nil, "[0 0.2 0.4 0.6 0.8 1]"},
		{[]float64{math.NaN(), math.Inf(1), 1, 2}, "[1 1.2 1.4 1.6 1.8 2]"},
	} {
		a := newAxis(c.values, Range{}, 0, 100)
		var got []string
		for _, v := range a.ticks() {
			got = append(got, fmt.Sprintf("%.4g", v))
		}
		if text := "[" + strings.Join(got, " ") + "]"; text != c.want {
			t.Errorf("%v: %s, want %s", c.values, text, c.want)
		}
	}
}

// TestCharts: every finite value is drawn, at its place, and names are escaped.
func TestCharts(t *testing.T) {
	c := Chart{Title: hostile, X: hostile, Y: "y", Series: []Series{{Name: hostile, Points: []Point{{0, 0, hostile},
		{10, 5, ""}, {5, math.NaN(), ""}}}, {Name: "loose", Loose: true, Points: []Point{{5, 5, ""}}}}}
	svg := c.SVG()
	if n := count(t, svg); n["circle"] != 3 || n["polyline"] != 1 {
		t.Errorf("%v", n)
	}
	first := fmt.Sprintf(`points="%d.0,%d.0 %d.0,%d.0"`, left, height-bottom, width-right, top)
	if !bytes.Contains(svg, []byte(first)) {
		t.Errorf("no %s in %s", first, svg)
	}
	if !bytes.Equal(svg, c.SVG()) {
		t.Error("the second chart differs")
	}
	b := Bars{Title: "bars", Y: "%", Series: []string{"a", "b"}, Groups: []Group{{hostile, []float64{1, 2}},
		{strings.Repeat("long", 20), []float64{-1, math.Inf(1)}}}}
	if n := count(t, b.SVG()); n["rect"] != 1+3+2 { // the ground, and two in the legend
		t.Errorf("%v", n)
	}
	s := Spans{Title: "spans", X: "channel", Y: "range", Spans: slices.Repeat([]Span{{-2, -1, 1, 2}}, 300)}
	if n := count(t, s.SVG()); n["rect"] != 1+300 || n["text"] > 80 {
		t.Errorf("%v", n)
	}
}

// TestLegend: names that have no room beside the title of an axis stand on the right, and the plot ends before them.
func TestLegend(t *testing.T) {
	c := Chart{Title: "t", X: "x", Y: "a long name of the vertical axis"}
	for range 7 {
		c.Series = append(c.Series, Series{Name: "long name of a curve", Points: []Point{{0, 0, ""}, {10, 1, ""}}})
	}
	svg := string(c.SVG())
	column := regexp.MustCompile(`x="([0-9.]+)" y="[0-9.]+" text-anchor="start">long name`).FindAllStringSubmatch(svg, -1)
	end := regexp.MustCompile(`<circle cx="([0-9.]+)"`).FindAllStringSubmatch(svg, -1)
	if len(column) != 7 {
		t.Fatalf("%d names in a column: %s", len(column), svg)
	}
	at, _ := strconv.ParseFloat(column[0][1], 64)
	last, _ := strconv.ParseFloat(end[1][1], 64)
	if at <= last || at+float64(wide("long name of a curve")) > width {
		t.Errorf("names begin at %v, the curve ends at %v", at, last)
	}
}

// TestStack: all charts are there, one below the other.
func TestStack(t *testing.T) {
	c := Chart{Title: hostile, Series: []Series{{Points: []Point{{X: 1, Y: 2}}}}}
	got := Stack(c.SVG(), c.SVG())
	if n := count(t, got); n["svg"] != 3 || n["circle"] != 2 {
		t.Errorf("%v", n)
	}
	if !bytes.Contains(got, []byte(`<svg y="340" xmlns=`)) || !bytes.Contains(got, []byte(`viewBox="0 0 720 680"`)) {
		t.Errorf("%s", got)
	}
}

// TestView: a part of the axes shows the points in it, and the lines up to its edges; the other axis fits what is
// shown.
func TestView(t *testing.T) {
	end := func(v float64) *float64 { return &v }
	c := Chart{X: "x", Y: "y", View: View{X: Range{end(2), end(4)}}, Series: []Series{{Points: []Point{{0, 0, ""},
		{3, 30, ""}, {6, 0, ""}, {7, 500, ""}}}}}
	svg := c.SVG()
	if n := count(t, svg); n["circle"] != 1 || n["polyline"] != 1 {
		t.Errorf("%v in %s", n, svg)
	}
	if first := fmt.Sprintf(`points="%d.0,`, left); bytes.Contains(svg, []byte(first)) {
		t.Errorf("the line begins at the edge, far below what is shown: %s", svg)
	}
	for _, v := range []struct {
		view     View
		low, top float64
	}{
		{View{Y: Range{Low: end(-5)}}, -5, 10}, {View{Y: Range{High: end(4)}}, 0, 4},
		{View{Y: Range{end(0.5), end(0.7)}}, 0.5, 0.7},
		{View{Y: Range{Low: end(20)}}, 20, 20.6}, {View{Y: Range{High: end(-3)}}, -3.6, -3}, // beyond all values
	} {
		a := newAxis([]float64{0, 3, 10}, v.view.Y, 100, 0)
		if math.Abs(a.low-v.low) > 1e-9 || math.Abs(a.high-v.top) > 1e-9 {
			t.Errorf("%v..%v, want %v..%v", a.low, a.high, v.low, v.top)
		}
		for _, tick := range a.ticks() {
			if tick < a.low-1e-9 || tick > a.high+1e-9 {
				t.Errorf("tick %v outside of %v..%v", tick, a.low, a.high)
			}
		}
	}
	b := Bars{Y: "y", Groups: []Group{{"a", []float64{5}}, {"b", []float64{50}}}, View: View{Y: Range{end(10), end(20)}}}
	if n := count(t, b.SVG()); n["rect"] != 1+1 {
		t.Errorf("%v: a bar below the view, and one through it", n)
	}
	// A line that only crosses the view is drawn, one beside it is not.
	x, y := axis{low: 0, high: 1, to: 1}, axis{low: 0, high: 1, to: 1}
	got := lines([]Point{{-1, 0.5, ""}, {2, 0.5, ""}, {2, 9, ""}, {-1, 9, ""}}, &x, &y)
	if fmt.Sprint(got) != "[[0.0,0.5 1.0,0.5]]" {
		t.Errorf("%v", got)
	}
}
