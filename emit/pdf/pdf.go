// SPDX-License-Identifier: Apache-2.0

// Package pdf prints the pictures that this project draws as SVG a second time, as PDF, which papers take. It knows the
// elements and attributes that the pictures have, and refuses others rather than leave them out.
package pdf

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// Of is a picture as a PDF of one page: a pixel becomes a point, texts are Helvetica or, where the picture asks for
// monospace, Courier, both of which each reader has. Letters outside of Windows-1252 become dots. The same picture
// gives the same bytes. An error says what the picture holds that is not known here.
func Of(svg []byte) ([]byte, error) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	first, err := begin(d)
	if err != nil {
		return nil, err
	}
	p := &printer{}
	for name, to := range map[string]*float64{"width": &p.width, "height": &p.height} {
		if *to, err = strconv.ParseFloat(first.get(name, ""), 64); err != nil {
			return nil, fmt.Errorf("pdf: %s of the picture: %w", name, err)
		}
	}
	p.Fpdf = fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: p.width, Ht: p.height}})
	p.SetCreationDate(time.Unix(0, 0).UTC())
	p.SetModificationDate(time.Unix(0, 0).UTC())
	p.SetCatalogSort(true)
	p.SetMargins(0, 0, 0)
	p.SetAutoPageBreak(false, 0)
	p.AddPage()
	p.letters = p.UnicodeTranslatorFromDescriptor("")
	if err := p.children(d, first); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		return nil, fmt.Errorf("pdf: %w", err)
	}
	return out.Bytes(), nil
}

// begin is the root element.
func begin(d *xml.Decoder) (element, error) {
	for {
		t, err := d.Token()
		if err != nil {
			return element{}, fmt.Errorf("pdf: no picture: %w", err)
		}
		if start, ok := t.(xml.StartElement); ok {
			if start.Name.Local != "svg" {
				return element{}, fmt.Errorf("pdf: the picture is a %s", start.Name.Local)
			}
			return newElement(start, nil), nil
		}
	}
}

// element is an element with its attributes; those that it lacks are its parent's.
type element struct {
	name   string
	own    map[string]string
	parent *element
}

func newElement(start xml.StartElement, parent *element) element {
	e := element{name: start.Name.Local, own: map[string]string{}, parent: parent}
	for _, a := range start.Attr {
		e.own[a.Name.Local] = a.Value
	}
	return e
}

func (e element) get(name, other string) string {
	if v, ok := e.own[name]; ok {
		return v
	}
	return other
}

// inherited is an attribute of the element or of one around it.
func (e *element) inherited(name, other string) string {
	for ; e != nil; e = e.parent {
		if v, ok := e.own[name]; ok {
			return v
		}
	}
	return other
}

// printer prints elements.
type printer struct {
	*fpdf.Fpdf
	width, height float64
	letters       func(string) string
	err           error
}

// children prints what an element holds, up to its end.
func (p *printer) children(d *xml.Decoder, e element) error {
	var text strings.Builder
	for {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("pdf: %s: %w", e.name, err)
		}
		switch t := t.(type) {
		case xml.CharData:
			text.Write(t)
		case xml.StartElement:
			if err := p.element(d, newElement(t, &e)); err != nil {
				return err
			}
		case xml.EndElement:
			if e.name == "text" {
				p.text(e, text.String())
			}
			if p.err == nil {
				p.err = p.Error()
			}
			return p.err
		}
	}
}

// element prints one element with what it holds.
func (p *printer) element(d *xml.Decoder, e element) error {
	switch e.name {
	case "title", "defs": // defs holds the tip of arrows
		return d.Skip()
	case "svg": // a picture within the picture
		p.TransformBegin()
		p.TransformTranslate(p.number(e, "x"), p.number(e, "y"))
		defer p.TransformEnd()
		return p.children(d, e)
	case "g", "text":
		return p.children(d, e)
	}
	if err := p.shape(e); err != nil {
		return err
	}
	return d.Skip()
}

// number is an attribute that is a number of pixels or a share of the picture; 0 where it is missing.
func (p *printer) number(e element, name string) float64 {
	text := e.get(name, "0")
	if text == "100%" {
		return map[string]float64{"width": p.width, "height": p.height}[name]
	}
	return p.parse(text)
}

func (p *printer) parse(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.fail("%w", err)
	}
	return v
}

// fail notes the first thing that is not known.
func (p *printer) fail(text string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("pdf: "+text, args...)
	}
}

// shape prints a line or an area.
func (p *printer) shape(e element) error {
	n := func(name string) float64 { return p.number(e, name) }
	how := p.paint(e)
	switch e.name {
	case "rect":
		if r := n("rx"); r > 0 {
			p.RoundedRect(n("x"), n("y"), n("width"), n("height"), r, "1234", how)
			break
		}
		p.Rect(n("x"), n("y"), n("width"), n("height"), how)
	case "circle":
		p.Circle(n("cx"), n("cy"), n("r"), how)
	case "line":
		p.Line(n("x1"), n("y1"), n("x2"), n("y2"))
	case "polyline":
		for i, at := range strings.Fields(e.get("points", "")) {
			x, y, _ := strings.Cut(at, ",")
			if i == 0 {
				p.MoveTo(p.parse(x), p.parse(y))
				continue
			}
			p.LineTo(p.parse(x), p.parse(y))
		}
		p.DrawPath(how)
	case "path":
		p.path(e, how)
	default:
		return fmt.Errorf("pdf: element %s is not known", e.name)
	}
	p.SetAlpha(1, "Normal")
	return p.err
}

// paint sets the colours of an element, and says whether it is filled (F), drawn along its edge (D), or both.
func (p *printer) paint(e element) (how string) {
	if fill := e.inherited("fill", "#000000"); fill != "none" {
		p.SetFillColor(p.colour(fill))
		how = "F"
	}
	if stroke := e.inherited("stroke", "none"); stroke != "none" {
		p.SetDrawColor(p.colour(stroke))
		p.SetLineWidth(p.parse(e.inherited("stroke-width", "1")))
		how += "D"
	}
	if opacity, ok := e.own["fill-opacity"]; ok {
		p.SetAlpha(p.parse(opacity), "Normal")
	}
	return how
}

// colour reads #rgb, #rrggbb, black or white.
func (p *printer) colour(text string) (r, g, b int) {
	digits, hex := strings.CutPrefix(text, "#")
	switch {
	case text == "white":
		return 255, 255, 255
	case text == "black":
		return 0, 0, 0
	case hex && len(digits) == 3:
		digits = strings.Join([]string{digits[:1], digits[:1], digits[1:2], digits[1:2], digits[2:], digits[2:]}, "")
	}
	v, err := strconv.ParseUint(digits, 16, 24)
	if !hex || len(digits) != 6 || err != nil {
		p.fail("colour %q is not known", text)
	}
	return int(v >> 16), int(v >> 8 & 255), int(v & 255)
}

// text prints a label. Its place is x and y, or that of transform="translate(X Y) rotate(DEGREES)".
func (p *printer) text(e element, text string) {
	r, g, b := p.colour(e.inherited("fill", "#000000"))
	p.SetTextColor(r, g, b)
	family, style := "Helvetica", ""
	if e.inherited("font-family", "") == "monospace" {
		family = "Courier"
	}
	if e.inherited("font-weight", "") == "bold" {
		style = "B"
	}
	p.SetFont(family, style, p.parse(e.inherited("font-size", "16")))
	text = p.letters(text)
	x, y, turn := p.number(e, "x"), p.number(e, "y"), 0.0
	if t, ok := e.own["transform"]; ok {
		if _, err := fmt.Sscanf(t, "translate(%f %f) rotate(%f)", &x, &y, &turn); err != nil {
			p.fail("transform %q is not known: %w", t, err)
		}
	}
	left := x
	switch e.inherited("text-anchor", "start") {
	case "middle":
		left -= p.GetStringWidth(text) / 2
	case "end":
		left -= p.GetStringWidth(text)
	}
	p.TransformBegin()
	p.TransformRotate(-turn, x, y) // SVG turns clockwise, PDF does not
	p.Text(left, y, text)
	p.TransformEnd()
}

// path prints the commands M, L, C, V and z of a path, and the tip of an arrow where the path has a marker at its end.
func (p *printer) path(e element, how string) {
	var x, y float64
	for _, s := range commands(e.get("d", "")) {
		at := make([]float64, len(s.numbers))
		for i, n := range s.numbers {
			at[i] = p.parse(n)
		}
		switch want := map[byte]int{'M': 2, 'L': 2, 'C': 6, 'V': 1, 'z': 0}; {
		case s.letter == 0 || len(at) != want[s.letter]:
			p.fail("path %q is not known", e.get("d", ""))
			return
		case s.letter == 'M':
			x, y = at[0], at[1]
			p.MoveTo(x, y)
		case s.letter == 'L':
			x, y = at[0], at[1]
			p.LineTo(x, y)
		case s.letter == 'C':
			x, y = at[4], at[5]
			p.CurveBezierCubicTo(at[0], at[1], at[2], at[3], x, y)
		case s.letter == 'V':
			y = at[0]
			p.LineTo(x, y)
		default:
			p.ClosePath()
		}
	}
	p.DrawPath(how)
	if _, arrow := e.own["marker-end"]; arrow { // downwards: arrows of a graph end at the top of a box
		p.SetFillColor(p.colour(e.inherited("stroke", "#000000")))
		const wide, long = 3.5, 6.0
		p.Polygon([]fpdf.PointType{{X: x, Y: y}, {X: x - wide, Y: y - long}, {X: x + wide, Y: y - long}}, "F")
	}
}

// command is a letter of a path with its numbers.
type command struct {
	letter  byte
	numbers []string
}

// commands splits the text of a path; a letter that is not known becomes 0.
func commands(text string) (all []command) {
	r := strings.NewReader(text)
	var number strings.Builder
	flush := func() {
		if number.Len() > 0 && len(all) > 0 {
			last := &all[len(all)-1]
			last.numbers = append(last.numbers, number.String())
		}
		number.Reset()
	}
	for {
		c, err := r.ReadByte()
		if err == io.EOF {
			flush()
			return all
		}
		switch {
		case c == ' ' || c == ',':
			flush()
		case c >= '0' && c <= '9' || c == '.' || c == '-':
			number.WriteByte(c)
		default:
			flush()
			if !strings.ContainsRune("MLCVz", rune(c)) {
				c = 0
			}
			all = append(all, command{letter: c})
		}
	}
}
