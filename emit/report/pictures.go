// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Magnitudes counts values by size: Counts[i] are those with 2^(Least+i) <= |v| < 2^(Least+i+1).
type Magnitudes struct {
	Zeros  int   `json:"zeros"`
	Least  int   `json:"least_exponent"`
	Counts []int `json:"counts"`
	// Format is the exponents of the smallest step and of the largest value of the layer's format; nil where it has none,
	// as formats of blocks.
	Format *[2]int `json:"format_exponents,omitempty"`
}

// Span is when the results of a layer leave it, as the compiler computes it: the cycles of the first and the last beat
// of each sample.
type Span struct {
	Node  string `json:"node"`
	First []int  `json:"first"`
	Last  []int  `json:"last"`
}

// Precision is what the model keeps with so many bits of data and weights.
type Precision struct {
	Bits     int      `json:"bits"`
	SQNR     *float64 `json:"sqnr_db,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Score is that of the metric of the report, in place of the accuracy.
	Score *float64 `json:"score,omitempty"`
}

const (
	binWidth  = 5 // pixels of a power of two
	binHeight = 26
	mostBins  = 40
)

// histogram draws values by size, each bar a power of two, over the range of the format.
func histogram(m *Magnitudes) template.HTML {
	counts, least := m.Counts, m.Least
	if more := len(counts) - mostBins; more > 0 { // the smallest ones matter least
		counts, least = counts[more:], least+more
	}
	from, to := least, least+len(counts)
	if m.Format != nil {
		from, to = max(min(from, m.Format[0]), to-mostBins), max(to, m.Format[1])
	}
	var b strings.Builder
	width := max(to-from, 1) * binWidth
	fmt.Fprintf(&b, `<svg class="values" width="%d" height="%d"><title>%s</title>`, width, binHeight, sizes(m))
	if f := m.Format; f != nil {
		left := max(f[0], from)
		fmt.Fprintf(&b, `<rect class="format" x="%d" y="0" width="%d" height="%d"></rect>`, (left-from)*binWidth,
			max(f[1]-left, 0)*binWidth, binHeight)
	}
	most := slices.Max(append([]int{1}, counts...))
	for i, n := range counts {
		if n == 0 {
			continue
		}
		height := max(1, (binHeight-2)*n/most)
		class := ""
		if f := m.Format; f != nil && (least+i < f[0] || least+i >= f[1]) {
			class = ` class="out"`
		}
		fmt.Fprintf(&b, `<rect%s x="%d" y="%d" width="%d" height="%d"></rect>`, class, (least+i-from)*binWidth,
			binHeight-height, binWidth-1, height)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// sizes says in words what a histogram shows.
func sizes(m *Magnitudes) string {
	text := fmt.Sprintf("%s zeros", count(m.Zeros))
	if len(m.Counts) > 0 {
		text += fmt.Sprintf("; others from 2^%d to 2^%d", m.Least, m.Least+len(m.Counts))
	}
	if m.Format != nil {
		text += fmt.Sprintf("; the format has steps of 2^%d and reaches 2^%d", m.Format[0], m.Format[1])
	}
	return text
}

// The picture of a pipeline: a bar for each row of registers.
const (
	rowWidth  = 44 // pixels from row to row
	rowHeight = 40 // of the tallest bar
)

// pipeline draws the bits of an unrolled layer on their way: those that come in, then those in each row of registers,
// with the stage between two rows as a line. All layers of a page have one scale.
func pipeline(l Layer, all []Layer) template.HTML {
	most := 1
	for _, l := range all {
		most = max(most, slices.Max(l.Sums.Live))
	}
	var b strings.Builder
	live, base := l.Sums.Live, rowHeight+14
	fmt.Fprintf(&b, `<svg class="rows" width="%d" height="%d"><line x1="%d" y1="%d" x2="%d" y2="%d"></line>`,
		len(live)*rowWidth, base+16, rowWidth/2, base, len(live)*rowWidth-rowWidth/2, base)
	for i, bits := range live {
		name := fmt.Sprintf("row %d", i)
		switch i {
		case 0:
			name = "in"
		case len(live) - 1:
			name = "out"
		}
		height, middle := max(1, rowHeight*bits/most), i*rowWidth+rowWidth/2
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d"></rect><text x="%d" y="%d">%s</text>`+
			`<text x="%d" y="%d">%s</text>`, middle-9, base-height, 18, height, middle, base-height-3, count(bits), middle,
			base+13, name)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// at is a cycle of a timeline as a part of its length, in percent.
func at(cycle int, spans []Span) string {
	return fmt.Sprintf("%.2f", 100*float64(cycle)/float64(length(spans)))
}

// wide is the length of a span in percent.
func wide(first, last int, spans []Span) string {
	return fmt.Sprintf("%.2f", 100*float64(last-first+1)/float64(length(spans)))
}

// length is the number of cycles of a timeline.
func length(spans []Span) int {
	n := 1
	for _, s := range spans {
		for _, last := range s.Last {
			n = max(n, last+1)
		}
	}
	return n
}

// filled is a share of a FIFO, or of a device, in percent of its bar.
func filled(part, whole any) string {
	w := number(whole)
	if w <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f", min(100, 100*number(part)/w))
}

// scale is the length in percent of the bar of a precision: of its accuracy, or of its ratio up to 60 dB.
func scale(p Precision) string {
	switch {
	case p.Accuracy != nil:
		return fmt.Sprintf("%.1f", 100**p.Accuracy)
	case p.SQNR != nil:
		return fmt.Sprintf("%.1f", max(0, min(100, 100**p.SQNR/60)))
	}
	return "0"
}
