// SPDX-License-Identifier: Apache-2.0

package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"lathe/emit/pdf"
	"lathe/emit/plot"
	"lathe/frontend"
	"lathe/ir/text"
)

// contents are the drawing commands of a PDF.
func contents(t *testing.T, data []byte) string {
	t.Helper()
	_, rest, found := bytes.Cut(data, []byte("stream\n"))
	if !found {
		t.Fatalf("no stream in %.60q", data)
	}
	r, err := zlib.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// pictures are one of each kind that is drawn anywhere.
func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	curve := plot.Chart{Title: "accuracy (%)", X: "LUT", Y: "accuracy", Series: []plot.Series{
		{Name: "a", Points: []plot.Point{{X: 1, Y: 2}, {X: 3, Y: 4}, {X: 5, Y: 3}}},
		{Name: "b", Points: []plot.Point{{X: 2, Y: 2}}}}}
	bars := plot.Bars{Title: "ranges", Y: "dB", Groups: []plot.Group{
		{Name: "a_long_name_of_a_layer", Values: []float64{3}}, {Name: "b", Values: []float64{-1}}}}
	for i := range 40 {
		bars.Groups = append(bars.Groups, plot.Group{Name: fmt.Sprint("layer_number_", i),
			Values: []float64{float64(i)}})
	}
	spans := plot.Spans{Title: "channels", Y: "value", Spans: []plot.Span{{Low: -2, From: -1, To: 1, High: 3}}}
	floor := plot.Floor{Title: "floor", Groups: []string{"conv", "fc"}, Cells: []plot.Placed{{X: 1, Y: 2},
		{X: 2, Y: 2, Group: 1, Large: true}}}
	g, err := frontend.Load("../../examples/digits-cnn/model.onnx", frontend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := text.SVG(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"curves": curve.SVG(), "bars": bars.SVG(), "spans": spans.SVG(), "floor": floor.SVG(),
		"stack": plot.Stack(curve.SVG(), bars.SVG()), "graph": graph}
}

// TestOf: each kind of picture becomes a PDF, with one text for each of the picture's, as many areas and lines, and the
// same bytes a second time.
func TestOf(t *testing.T) {
	for name, svg := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			data, err := pdf.Of(svg)
			if err != nil {
				t.Fatal(err)
			}
			again, err := pdf.Of(svg)
			if err != nil || !bytes.Equal(data, again) {
				t.Errorf("another PDF the second time (%v)", err)
			}
			page := contents(t, data)
			for _, kind := range []struct{ element, command string }{{`<text `, ` Tj ET`}, {`<line `, ` l S\n`},
				{`<rect [^>]*rx=`, ` c\s+B\s`}} {
				in := len(regexp.MustCompile(kind.element).FindAllIndex(svg, -1))
				out := len(regexp.MustCompile(kind.command).FindAllString(page, -1))
				if in > out {
					t.Errorf("%d of %s, %d of %q", in, kind.element, out, kind.command)
				}
			}
		})
	}
}

// TestPlaces: what is drawn lies where the picture has it; PDF counts from below.
func TestPlaces(t *testing.T) {
	const head = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" font-size="10">`
	for _, c := range []struct{ name, svg, want string }{
		{"line", `<line stroke="#ff0000" x1="10" y1="20" x2="30" y2="40"/>`, "10.00 80.00 m 30.00 60.00 l S"},
		{"area", `<rect x="10" y="20" width="5" height="7" fill="#00ff00"/>`, "10.00 80.00 5.00 -7.00 re f"},
		{"whole", `<rect width="100%" height="100%" fill="white"/>`, "0.00 100.00 200.00 -100.00 re f"},
		{"colour", `<rect x="1" y="1" width="1" height="1" fill="#00f"/>`, "0.000 0.000 1.000 rg"},
		{"end", `<text x="50" y="10" text-anchor="end">ii</text>`, fmt.Sprintf("BT %.2f 90.00 Td (ii) Tj ET", 50-2*2.22)},
		{"hostile", `<text x="50" y="10">) Tj &lt;x&gt;</text>`, `(\) Tj <x>) Tj`},
		{"bend", `<path d="M1 2C3 4 5 6 7 8V20" fill="none" stroke="#555"/>`,
			"1.00 98.00 m\n3.00000 96.00000 5.00000 94.00000 7.00000 92.00000 c\n7.00 80.00 l"},
		{"within", `<svg y="30"><line stroke="#000000" x1="0" y1="0" x2="1" y2="0"/></svg>`,
			"1.00000 0.00000 0.00000 1.00000 0.00000 -30.00000 cm"},
	} {
		data, err := pdf.Of([]byte(head + c.svg + "</svg>"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if page := contents(t, data); !strings.Contains(page, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, page)
		}
	}
}

// TestRefused: what is not known is refused, not left out.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ svg, want string }{
		{`no picture`, "no picture"},
		{`<html/>`, "the picture is a html"},
		{`<svg height="1"/>`, "width of the picture"},
		{`<svg width="1" height="1"><image/></svg>`, "element image"},
		{`<svg width="1" height="1"><rect fill="url(#a)"/></svg>`, `colour "url(#a)"`},
		{`<svg width="1" height="1"><path d="M1 1A2 2"/></svg>`, `path "M1 1A2 2"`},
		{`<svg width="1" height="1"><text transform="scale(2)">a</text></svg>`, `transform "scale(2)"`},
		{`<svg width="1" height="1"><circle r="x"/></svg>`, `"x"`},
		{`<svg width="1" height="1"><rect/>`, "EOF"},
	} {
		if _, err := pdf.Of([]byte(c.svg)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.svg, err, c.want)
		}
	}
}
