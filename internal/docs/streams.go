// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"fmt"
	"html"
	"strings"

	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens"
)

// Measures of the picture in pixels.
const (
	labelWidth = 330
	timeWidth  = 620
	barHeight  = 12
	rowHeight  = 18
)

// frameColours tell frames that follow each other apart.
var frameColours = [...]string{"#2b6cb0", "#dd6b20", "#38a169"}

// Streams draws when the units under a prefix give their beats: a row a unit, a bar a frame from its first beat to its
// last, in cycles from the first beat of the first frame that is drawn. Cycles are those of the run beat by beat that
// sizes FIFOs; skip frames come before those that are drawn.
func Streams(ctx context.Context, g *ir.Graph, prefix string, skip int) (string, error) {
	_, counters, err := tokens.Watch(ctx, g, &unit.Cache{}, skip+2*len(frameColours))
	if err != nil {
		return "", err
	}
	var rows []*ir.Node
	begin, end := 0, 0
	for _, n := range g.Nodes {
		c := counters[n]
		if !strings.HasPrefix(n.Name, prefix) || len(c) != 1 || n.Op.Traits.KeepsCodes {
			continue
		}
		if len(rows) == 0 {
			begin = c[0].First[skip]
		}
		rows = append(rows, n)
		end = max(end, c[0].Last[skip+len(frameColours)-1])
	}
	var b strings.Builder
	height := rowHeight*len(rows) + 30
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" `+
		`font-size="11">`+"\n"+`<rect width="100%%" height="100%%" fill="white"/>`+"\n", labelWidth+timeWidth+20, height)
	for i, n := range rows {
		y := 8 + i*rowHeight
		label := fmt.Sprintf("%s (%s, %d lanes)", strings.TrimPrefix(n.Name, prefix), n.Op.Name, n.HW.OutLanes)
		fmt.Fprintf(&b, `<text x="8" y="%d">%s</text>`+"\n", y+barHeight-2, html.EscapeString(label))
		for f, colour := range frameColours {
			c := counters[n][0]
			x := scaled(c.First[skip+f]-begin, end-begin)
			width := max(1, scaled(c.Last[skip+f]-begin, end-begin)-x)
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", labelWidth+x, y, width, barHeight,
				colour)
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">0</text><text x="%d" y="%d" text-anchor="end">%d cycles</text>`+"\n</svg>\n",
		labelWidth, height-6, labelWidth+timeWidth, height-6, end-begin)
	return b.String(), nil
}

// scaled is a cycle in pixels.
func scaled(cycle, all int) int { return cycle * timeWidth / max(all, 1) }
