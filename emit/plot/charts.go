// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Point is a value of a curve; Label is what a reader sees who points at it.
type Point struct {
	X, Y  float64
	Label string
}

// Series is a curve, in the order of its points; Loose leaves out the lines between them, Line the points.
type Series struct {
	Name        string
	Points      []Point
	Loose, Line bool
	// Band is how low and how high the curve may lie at each point; nil: nobody says.
	Band [][2]float64
}

// Chart is curves over numbers.
type Chart struct {
	Title, X, Y string
	Series      []Series
	View        View
}

// SVG draws the chart. Points that are no finite numbers are left out, and so are those that the view does not show;
// lines to them end at the edge.
func (c *Chart) SVG() []byte {
	var xs, ys []float64
	var names []string
	for _, s := range c.Series {
		names = append(names, s.Name)
		for i, p := range s.Points {
			if c.View.X.holds(p.X) { // the other axis fits what is shown
				ys = append(ys, p.Y)
				if s.Band != nil {
					ys = append(ys, s.Band[i][:]...)
				}
			}
			if c.View.Y.holds(p.Y) {
				xs = append(xs, p.X)
			}
		}
	}
	d := begin(c.Title)
	d.legend(c.Y, names)
	x := newAxis(xs, c.View.X, left, float64(d.edge))
	y := newAxis(ys, c.View.Y, height-bottom, top)
	d.vertical(&y, c.Y)
	d.horizontal(&x, c.X)
	for i, s := range c.Series {
		if outline := band(&s, &x, &y); outline != "" {
			d.add(`<path fill="%s" fill-opacity="0.15" d="%s"/>`, colour(i), outline)
		}
	}
	for i, s := range c.Series {
		if !s.Loose {
			for _, line := range lines(s.Points, &x, &y) {
				d.add(`<polyline fill="none" stroke-width="2" stroke="%s" points="%s"/>`, colour(i), strings.Join(line, " "))
			}
		}
		for _, p := range s.Points {
			if !s.Line && x.shows(p.X) && y.shows(p.Y) {
				d.add(`<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s</title></circle>`, x.at(p.X),
					y.at(p.Y), colour(i), html.EscapeString(p.Label))
			}
		}
	}
	return d.end()
}

// band is the outline of a curve's band: along its upper edge, and back along the lower one; "" where there is none.
func band(s *Series, x, y *axis) string {
	var there, back []string
	for i, b := range s.Band {
		p := s.Points[i]
		if !x.shows(p.X) || !y.fits(b[0]) || !y.fits(b[1]) {
			continue
		}
		at := func(v float64) string { return fmt.Sprintf("%.1f %.1f", x.at(p.X), y.at(max(y.low, min(v, y.high)))) }
		there, back = append(there, at(b[1])), append(back, at(b[0]))
	}
	if len(there) < 2 {
		return ""
	}
	slices.Reverse(back)
	return "M" + strings.Join(append(there, back...), "L") + "z"
}

// lines are the parts of a curve between the ends of the axes, as points of polylines.
func lines(points []Point, x, y *axis) (out [][]string) {
	var last *Point
	joined := false // the last line ends at the last point
	for i := range points {
		p := &points[i]
		if !x.fits(p.X) || !y.fits(p.Y) {
			continue
		}
		from := last
		if last = p; from == nil {
			continue
		}
		a, b, ok := cut(*from, *p, x, y)
		if !ok {
			joined = false
			continue
		}
		at := func(p Point) string { return fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y)) }
		if !joined {
			out = append(out, []string{at(a)})
		}
		out[len(out)-1] = append(out[len(out)-1], at(b))
		joined = b == *p
	}
	return out
}

// cut is the part of a line between the ends of the axes (Liang and Barsky, 1984); not ok where there is none.
func cut(a, b Point, x, y *axis) (from, to Point, ok bool) {
	first, last := 0.0, 1.0
	for _, edge := range []struct{ step, room float64 }{
		{a.X - b.X, a.X - x.low}, {b.X - a.X, x.high - a.X}, {a.Y - b.Y, a.Y - y.low}, {b.Y - a.Y, y.high - a.Y},
	} {
		switch {
		case edge.step < 0:
			first = max(first, edge.room/edge.step)
		case edge.step > 0:
			last = min(last, edge.room/edge.step)
		case edge.room < 0:
			return a, b, false
		}
	}
	at := func(t float64) Point { return Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)} }
	from, to = a, b
	if first > 0 {
		from = at(first)
	}
	if last < 1 {
		to = at(last)
	}
	return from, to, first <= last
}

// Group is the bars of one name, one for each series.
type Group struct {
	Name   string
	Values []float64
}

// Bars is groups of bars over names.
type Bars struct {
	Title, Y string
	Series   []string
	Groups   []Group
	View     View // of the vertical axis alone
}

// SVG draws the bars, from zero. Values that are no finite numbers are left out.
func (b *Bars) SVG() []byte {
	ys := []float64{0}
	for _, g := range b.Groups {
		ys = append(ys, g.Values...)
	}
	y := newAxis(ys, b.View.Y, height-bottom, top)
	d := begin(b.Title)
	d.legend(b.Y, b.Series)
	d.vertical(&y, b.Y)
	room := float64(d.edge-left) / float64(max(1, len(b.Groups)))
	for i, g := range b.Groups {
		x := left + room*float64(i)
		each := room * 0.8 / float64(max(1, len(g.Values)))
		for k, v := range g.Values {
			if !y.fits(v) {
				continue
			}
			low, high := max(min(v, 0), y.low), min(max(v, 0), y.high)
			if low > high {
				continue // it ends before the axis begins
			}
			from, to := y.at(high), y.at(low)
			d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`,
				x+room*0.1+each*float64(k), from, max(each-1, 0.5), max(to-from, 0.5), colour(k),
				html.EscapeString(strings.TrimSpace(fmt.Sprintf("%s %s: %.4g", g.Name, nameAt(b.Series, k), v))))
		}
		d.under(x+room/2, room, g.Name, i)
	}
	return d.end()
}

func nameAt(names []string, k int) string {
	if k < len(names) {
		return names[k]
	}
	return ""
}

// under writes the name of a place on the horizontal axis: every one while there is room, turned where there is little.
func (d *drawing) under(x, room float64, name string, i int) {
	const least = 14 // pixels that a turned name takes
	if every := int(float64(least)/room) + 1; i%every != 0 {
		return
	}
	if float64(wide(name)) <= room {
		d.text(x, height-bottom+16, "middle", soft, name)
		return
	}
	if len(name) > 12 {
		name = "…" + name[len(name)-11:]
	}
	d.add(`<text fill="%s" transform="translate(%.1f %d) rotate(-35)" text-anchor="end">%s</text>`, soft, x+4,
		height-bottom+14, html.EscapeString(name))
}

// Span is the range of one place: all values from Low to High, most of them from From to To.
type Span struct {
	Low, From, To, High float64
}

// Spans is ranges in a row, such as those of channels.
type Spans struct {
	Title, X, Y string
	Spans       []Span
}

// SVG draws a thin line from the least to the greatest value of each place, and a bar where most values are.
func (s *Spans) SVG() []byte {
	ys := []float64{0}
	for _, v := range s.Spans {
		ys = append(ys, v.Low, v.High)
	}
	y := newAxis(ys, Range{}, height-bottom, top)
	d := begin(s.Title)
	d.vertical(&y, s.Y)
	room := float64(width-left-right) / float64(max(1, len(s.Spans)))
	for i, v := range s.Spans {
		if slices.ContainsFunc([]float64{v.Low, v.From, v.To, v.High}, func(x float64) bool { return !y.fits(x) }) {
			continue
		}
		x := left + room*(float64(i)+0.5)
		d.add(`<g><title>%d: %.4g to %.4g, mostly %.4g to %.4g</title>`, i, v.Low, v.High, v.From, v.To)
		d.add(`<line stroke="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, colour(1), x, y.at(v.Low), x,
			y.at(v.High))
		wide := max(1, min(room*0.7, 14))
		d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/></g>`, x-wide/2, y.at(v.To), wide,
			max(y.at(v.From)-y.at(v.To), 0.5), colour(0))
		d.under(x, room, fmt.Sprint(i), i)
	}
	d.text(width-right, height-8, "end", ink, s.X)
	return d.end()
}
