// SPDX-License-Identifier: Apache-2.0

package text

import (
	"context"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"lathe/ir"
)

// Measures of the picture in pixels. Text is monospaced, so its width is known without a font.
const (
	charWidth  = 7.3
	lineHeight = 15
	boxPad     = 8
	gapAcross  = 26 // between neighbours of a rank
	gapDown    = 34 // between ranks
	margin     = 16
	maxLabel   = 60 // characters
)

// SVG draws g from top to bottom: a box with name, operation, shape and format for each node, an arrow for each
// argument. Constants stand as a line in the box of the node that reads them. Colours tell kinds of operations apart;
// boxes of a scheduled graph say lanes and cycles. The same graph gives the same bytes.
func SVG(ctx context.Context, g *ir.Graph) ([]byte, error) {
	l := newLayout(g)
	for range sweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.sweep()
	}
	width, height := l.place()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(g.Name))
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" ` +
		`orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>` + "\n" +
		`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for _, e := range l.edges {
		e.draw(&b)
	}
	for _, x := range l.boxes {
		x.draw(&b)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String()), nil
}

// escape makes text safe in XML, in bounded length and without control characters.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r >= 0xfffe {
			return '?'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > maxLabel {
		s = string([]rune(s)[:maxLabel-3]) + "..."
	}
	return html.EscapeString(s)
}

// labels are the lines of a node's box.
func labels(n *ir.Node) []string {
	lines := []string{n.Name, n.Op.Name, n.Type.String()}
	if i := strings.IndexByte(lines[2], '{'); i >= 0 {
		lines[2] = lines[2][:i] // the scales are too long
	}
	if h := &n.HW; h.II > 0 && h.InLanes > 0 {
		lines = append(lines, fmt.Sprintf("%d to %d lanes, %d cycles", h.InLanes, h.OutLanes, h.II))
	}
	for _, a := range n.Args {
		if a.IsConst() {
			lines = append(lines, a.Name+" "+ir.ShapeString(a.Type.Shape)+" "+formatName(a))
		}
	}
	return lines
}

func formatName(n *ir.Node) string {
	if n.Type.Format == nil {
		return "?"
	}
	return n.Type.Format.String()
}

// look is a class of boxes of one colour; the word is a class of CSS for pages that colour them by themselves.
type look struct{ word, fill string }

var (
	ends     = look{"ends", "#f3f3f3"}
	sums     = look{"sums", "#cfe0fb"}
	singles  = look{"singles", "#fdebc8"}
	moves    = look{"moves", "#eceff3"}
	casts    = look{"casts", "#e8dcf7"}
	gathered = look{"gathered", "#d3efdc"}
)

// lookOf tells apart sums of products, operations on single elements, those that only move elements, changes of format,
// and what gathers elements otherwise: pools, reductions, norms.
func lookOf(n *ir.Node) look {
	switch t := &n.Op.Traits; {
	case t.Source:
		return ends
	case t.Weighted:
		return sums
	case t.KeepsCodes, t.Joins, t.Forks:
		return moves
	case t.Casts:
		return casts
	case t.Elementwise:
		return singles
	}
	return gathered
}

// box is a node, an output, or (without lines) a bend of a long arrow.
type box struct {
	lines         []string
	look          look
	rank, at      int // layer, and position in it
	x, y          float64
	width, height float64
	above, below  []*box
}

func newBox(lines []string, rank int, look look) *box {
	b := &box{lines: lines, rank: rank, look: look, width: 2}
	for _, s := range lines {
		n := min(utf8.RuneCountInString(s), maxLabel)
		b.width = max(b.width, float64(n)*charWidth+2*boxPad)
	}
	if len(lines) > 0 {
		b.height = float64(len(lines)*lineHeight + boxPad)
	}
	return b
}

func (x *box) draw(b *strings.Builder) {
	if len(x.lines) == 0 {
		return
	}
	radius := 2
	if x.look == ends {
		radius = 12
	}
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%d" fill="%s" stroke="#456"/>`+"\n",
		x.look.word, x.x-x.width/2, x.y, x.width, x.height, radius, x.look.fill)
	for i, s := range x.lines {
		weight := ""
		if i == 0 {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle"%s>%s</text>`+"\n", x.x,
			x.y+float64((i+1)*lineHeight), weight, escape(s))
	}
}

// edge is an arrow through boxes: a node, bends, a node.
type edge struct{ through []*box }

func (e edge) draw(b *strings.Builder) {
	from := e.through[0]
	x, y := from.x, from.y+from.height
	fmt.Fprintf(b, `<path d="M%.1f %.1f`, x, y)
	for _, to := range e.through[1:] {
		mid := (y + to.y) / 2
		fmt.Fprintf(b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, mid, to.x, mid, to.x, to.y)
		if x, y = to.x, to.y; len(to.lines) == 0 { // past the boxes of the rank
			y += to.height
			fmt.Fprintf(b, "V%.1f", y)
		}
	}
	b.WriteString(`" fill="none" stroke="#555" marker-end="url(#a)"/>` + "\n")
}
