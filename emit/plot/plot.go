// SPDX-License-Identifier: Apache-2.0

// Package plot draws small charts as SVG: curves, bars and ranges. A chart is a file by itself or stands in a page; it
// needs nothing else, reads well on any ground, and is the same bytes for the same data.
package plot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// The size of a chart in pixels, and its margins.
const (
	width, height = 720, 340
	left, right   = 66, 28
	top, bottom   = 34, 52
)

// Colours are attributes of each element, so that programs which know little of CSS draw a chart, too.
const (
	ground, ink, soft, line = "#ffffff", "#1c2430", "#5c6878", "#dde2e9"
	fonts                   = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
)

var palette = [...]string{"#2f6fde", "#c2410c", "#15803d", "#9333c8", "#0e7490", "#a16207", "#be185d", "#4b5563"}

// colour is that of a series; there are few, which series take in turn.
func colour(i int) string { return palette[i%len(palette)] }

// axis maps values of one direction to pixels.
type axis struct {
	low, high float64
	from, to  float64 // pixels of low and high
	step      float64 // between ticks
}

// Range is the part of an axis that is drawn; an end that is nil lies where the values end.
type Range struct{ Low, High *float64 }

// View is what a chart shows of its axes; the zero value shows all.
type View struct{ X, Y Range }

// newAxis holds all values, with ends at ticks, or ends where r says.
func newAxis(values []float64, r Range, from, to float64) axis {
	a := fitted(values, r, from, to)
	if r.Low != nil {
		a.low = *r.Low
	}
	if r.High != nil {
		a.high = *r.High
	}
	return a
}

// fitted holds those values that r shows, with ends at ticks.
func fitted(values []float64, r Range, from, to float64) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), from: from, to: to}
	for _, end := range []*float64{r.Low, r.High} {
		if end != nil {
			a.low, a.high = min(a.low, *end), max(a.high, *end)
		}
	}
	for _, v := range values {
		if a.fits(v) && r.holds(v) {
			a.low, a.high = min(a.low, v), max(a.high, v)
		}
	}
	if a.low > a.high {
		a.low, a.high = 0, 1
	}
	if a.low == a.high {
		a.low, a.high = a.low-0.5, a.high+0.5
	}
	a.step = steps((a.high - a.low) / 6)
	a.low, a.high = math.Floor(a.low/a.step)*a.step, math.Ceil(a.high/a.step)*a.step
	return a
}

// fits says that v is a number with a place on an axis.
func (a *axis) fits(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

// shows says that v lies between the ends of the axis.
func (a *axis) shows(v float64) bool { return v >= a.low && v <= a.high }

// holds says that v lies in the range.
func (r Range) holds(v float64) bool {
	return (r.Low == nil || v >= *r.Low) && (r.High == nil || v <= *r.High)
}

// at is the pixel of v.
func (a *axis) at(v float64) float64 {
	return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from)
}

// steps is 1, 2 or 5 times a power of ten, and at least raw.
func steps(raw float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 5} {
		if k*unit >= raw {
			return k * unit
		}
	}
	return 10 * unit
}

// ticks are the values with a label.
func (a *axis) ticks() []float64 {
	var out []float64
	for i := math.Ceil(a.low/a.step-1e-6) + 0; i*a.step <= a.high+a.step/1e6; i++ {
		out = append(out, i*a.step)
	}
	return out
}

// drawing collects the elements of a chart.
type drawing struct {
	strings.Builder
	edge int // the pixel at which the plot ends on the right
}

func begin(title string) *drawing {
	return beginSized(title, height)
}

// beginSized begins a chart of another height.
func beginSized(title string, height int) *drawing {
	d := &drawing{edge: width - right}
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`font-family="%s" font-size="12">`, width, height, width, height, fonts)
	d.add(`<title>%s</title><rect width="%d" height="%d" fill="%s"/>`, html.EscapeString(title), width, height, ground)
	return d
}

func (d *drawing) add(text string, args ...any) { fmt.Fprintf(d, text+"\n", args...) }

func (d *drawing) end() []byte {
	d.add("</svg>")
	return []byte(d.String())
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, fill, text string) {
	d.add(`<text fill="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, fill, x, y, anchor, html.EscapeString(text))
}

// vertical draws the grid of values and the name of the axis.
func (d *drawing) vertical(a *axis, name string) {
	for _, v := range a.ticks() {
		y := a.at(v)
		d.add(`<line stroke="%s" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`, line, left, y, d.edge, y)
		d.text(left-6, y+4, "end", soft, diag.Number(v, 4))
	}
	d.text(8, 16, "start", ink, name)
}

// horizontal draws the ticks of a numeric axis and its name.
func (d *drawing) horizontal(a *axis, name string) {
	for _, v := range a.ticks() {
		x := a.at(v)
		d.add(`<line stroke="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, line, x, top, x, height-bottom)
		d.text(x, height-bottom+16, "middle", soft, diag.Number(v, 6))
	}
	d.text(float64(d.edge), height-10, "end", ink, name)
}

// letter is about how wide a letter is.
const letter = 7

func wide(text string) int { return letter * len([]rune(text)) }

// legend names the series, where there are several: on the line of title, or where they have no room there in a column
// on the right, which the plot then leaves free.
func (d *drawing) legend(title string, names []string) {
	if len(names) < 2 {
		return
	}
	row, column := 0, 0
	for _, name := range names {
		row, column = row+wide(name)+24, max(column, wide(name))
	}
	if row > width-right-wide(title)-left/2 {
		d.edge = width - column - 36
		for i, name := range names {
			y := float64(top + 6 + 18*i)
			d.add(`<rect x="%d" y="%.1f" width="9" height="9" fill="%s"/>`, d.edge+14, y-9, colour(i))
			d.text(float64(d.edge+28), y, "start", ink, name)
		}
		return
	}
	x := float64(width - right)
	for i, name := range slices.Backward(names) {
		d.text(x, 16, "end", ink, name)
		x -= float64(wide(name)) + 10
		d.add(`<rect x="%.1f" y="7" width="9" height="9" fill="%s"/>`, x-4, colour(i))
		x -= 14
	}
}

// Stack draws charts below each other, as one.
func Stack(charts ...[]byte) []byte {
	d := &drawing{}
	all := height * len(charts)
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`, width, all, width, all)
	for i, c := range charts {
		d.add(`<svg y="%d"%s`, i*height, strings.TrimPrefix(string(c), "<svg"))
	}
	return d.end()
}
