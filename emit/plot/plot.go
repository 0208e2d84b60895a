// SPDX-License-Identifier: Apache-2.0

// Package plot draws small charts as SVG: curves, bars and ranges. A chart is a file by itself or stands in a page; it
// needs nothing else, reads well on light and dark ground, and is the same bytes for the same data.
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

// style colours a chart; the colours of a page do not matter to it.
const style = `<style>
.plot { --ink: #1c2430; --soft: #5c6878; --line: #dde2e9; --c0: #2f6fde; --c1: #c2410c; --c2: #15803d; --c3: #9333c8;
  --c4: #0e7490; --c5: #a16207; --c6: #be185d; --c7: #4b5563; background: #ffffff; }
@media (prefers-color-scheme: dark) {
  .plot { --ink: #e4e8ee; --soft: #97a3b3; --line: #2c3542; --c0: #6ea0f7; --c1: #f59454; --c2: #4ac27d; --c3: #c58bf2;
    --c4: #4cc3d9; --c5: #e0b04a; --c6: #f28bb8; --c7: #a5afbd; background: #1a2029; }
}
.plot text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--soft); }
.plot .name { fill: var(--ink); }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .curve { fill: none; stroke-width: 2; }
.plot .whisker { stroke-width: 1; }
</style>`

// colours is the number of colours, which series take in turn.
const colours = 8

// axis maps values of one direction to pixels.
type axis struct {
	low, high float64
	from, to  float64 // pixels of low and high
	step      float64 // between ticks
}

// newAxis holds all values, with ends at ticks.
func newAxis(values []float64, from, to float64) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), from: from, to: to}
	for _, v := range values {
		if a.fits(v) {
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

// fits says that the axis can show v.
func (a *axis) fits(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
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
	for i := math.Round(a.low / a.step); i*a.step <= a.high+a.step/1e6; i++ {
		out = append(out, i*a.step)
	}
	return out
}

// drawing collects the elements of a chart.
type drawing struct{ strings.Builder }

func begin(title string) *drawing {
	d := &drawing{}
	d.add(`<svg class="plot" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %d" width="%d" height="%d">`,
		width, height, width, height)
	d.add("<title>%s</title>%s", html.EscapeString(title), style)
	return d
}

func (d *drawing) add(text string, args ...any) { fmt.Fprintf(d, text+"\n", args...) }

func (d *drawing) end() []byte {
	d.add("</svg>")
	return []byte(d.String())
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, class, text string) {
	d.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(text))
}

// vertical draws the grid of values and the name of the axis.
func (d *drawing) vertical(a *axis, name string) {
	for _, v := range a.ticks() {
		y := a.at(v)
		d.add(`<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`, left, y, width-right, y)
		d.text(left-6, y+4, "end", "tick", diag.Number(v, 4))
	}
	d.text(8, 16, "start", "name", name)
}

// horizontal draws the ticks of a numeric axis and its name.
func (d *drawing) horizontal(a *axis, name string) {
	for _, v := range a.ticks() {
		x := a.at(v)
		d.add(`<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, x, top, x, height-bottom)
		d.text(x, height-bottom+16, "middle", "tick", diag.Number(v, 6))
	}
	d.text(width-right, height-10, "end", "name", name)
}

// legend names the series, where there are several.
func (d *drawing) legend(names []string) {
	if len(names) < 2 {
		return
	}
	x := float64(width - right)
	for i, name := range slices.Backward(names) {
		d.text(x, 16, "end", "name", name)
		x -= 7*float64(len([]rune(name))) + 10
		d.add(`<rect x="%.1f" y="7" width="9" height="9" style="fill:var(--c%d)"/>`, x-4, i%colours)
		x -= 14
	}
}
