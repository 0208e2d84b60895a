// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"html"
	"math"
	"strings"

	"lathe/internal/diag"
)

// Upright is one axis of several that stand beside each other.
type Upright struct {
	Name string
	// Words are the places of an axis that has no numbers, from 0 on; nil for one of numbers.
	Words     []string
	Low, High float64
}

// Strand is a line across the axes: a value on each, NaN where it has none. Shade is from 0, pale, to 1.
type Strand struct {
	Values []float64
	Shade  float64
	Label  string
}

// Parallel is many things of many properties: an axis for each property, a line for each thing.
type Parallel struct {
	Title   string
	Axes    []Upright
	Strands []Strand // those in front come last
}

// mostWords bounds the words beside an axis.
const mostWords = 12

// SVG draws the lines, and over them the axes.
func (p *Parallel) SVG() []byte {
	d := begin(p.Title)
	d.text(8, 16, "start", ink, p.Title)
	x := func(i int) float64 {
		return left + float64(i)*float64(d.edge-left-right)/float64(max(len(p.Axes)-1, 1))
	}
	y := make([]axis, len(p.Axes))
	for i, a := range p.Axes {
		low, high := a.Low, a.High
		if a.Words != nil {
			low, high = 0, float64(len(a.Words)-1)
		}
		if low == high {
			low, high = low-0.5, high+0.5
		}
		y[i] = axis{low: low, high: high, from: height - bottom, to: top + 6}
	}
	for _, s := range p.Strands {
		var run []string
		flush := func() {
			if len(run) > 1 {
				d.add(`<polyline fill="none" stroke-width="1.2" stroke="%s" points="%s"><title>%s</title></polyline>`,
					shade(s.Shade), strings.Join(run, " "), html.EscapeString(s.Label))
			}
			run = nil
		}
		for i, v := range s.Values {
			if !y[i].fits(v) {
				flush()
				continue
			}
			run = append(run, fmt.Sprintf("%.1f,%.1f", x(i), y[i].at(v)))
		}
		flush()
	}
	for i, a := range p.Axes {
		d.add(`<line stroke="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, soft, x(i), top+6, x(i), height-bottom)
		d.under(x(i), x(1)-x(0), a.Name, 0)
		if a.Words == nil {
			d.text(x(i)+4, top+2, "start", soft, diag.Number(a.High, 3))
			d.text(x(i)+4, height-bottom-3, "start", soft, diag.Number(a.Low, 3))
			continue
		}
		every := int(math.Ceil(float64(len(a.Words)) / mostWords))
		for k := 0; k < len(a.Words); k += every {
			d.text(x(i)+4, y[i].at(float64(k))+4, "start", soft, short(a.Words[k]))
		}
	}
	return d.end()
}

// shade is a colour from nearly that of the ground, at 0, to that of the first series, at 1.
func shade(v float64) string {
	pale, full := [3]float64{0xe3, 0xec, 0xfa}, [3]float64{0x2f, 0x6f, 0xde}
	text := "#"
	for i := range pale {
		text += fmt.Sprintf("%02x", int(math.Round(pale[i]+(full[i]-pale[i])*v*v)))
	}
	return text
}

// short is the beginning of a word.
func short(word string) string {
	const most = 14
	if r := []rune(word); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return word
}

// Heat is a table of numbers as colours; a cell without one is NaN.
type Heat struct {
	Title   string
	Rows    []string
	Columns []string
	Cells   [][]float64 // by row
}

// rowHeight is that of a row in pixels.
const rowHeight = 20

// SVG draws the cells with their numbers, the larger the darker.
func (h *Heat) SVG() []byte {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range h.Cells {
		for _, v := range row {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	names := 0
	for _, r := range h.Rows {
		names = max(names, min(wide(r), width/3))
	}
	d := beginSized(h.Title, top+rowHeight*len(h.Rows)+30)
	d.text(8, 16, "start", ink, h.Title)
	from := float64(names + 16)
	room := (float64(d.edge) - from) / float64(max(len(h.Columns), 1))
	for i, r := range h.Rows {
		y := float64(top + rowHeight*i)
		if most := width / 3 / letter; len(r) > most {
			r = "…" + r[len(r)-most+1:]
		}
		d.text(from-6, y+14, "end", soft, r)
		for k, v := range h.Cells[i] {
			if math.IsNaN(v) {
				continue
			}
			share, on := (v-low)/max(high-low, 1e-300), ink
			if share > 0.55 {
				on = ground
			}
			x := from + room*float64(k)
			d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s" fill-opacity="%.2f"><title>%s</title></rect>`,
				x, y, max(room-1, 0.5), rowHeight-1, colour(0), 0.1+0.9*share,
				html.EscapeString(fmt.Sprintf("%s, %s: %.4g", h.Rows[i], h.Columns[k], v)))
			if room > 16 {
				d.text(x+room/2, y+14, "middle", on, diag.Number(v, 3))
			}
		}
	}
	for k, c := range h.Columns {
		if every := int(30/room) + 1; k%every == 0 {
			d.text(from+room*(float64(k)+0.5), float64(top+rowHeight*len(h.Rows)+16), "middle", soft, short(c))
		}
	}
	return d.end()
}
