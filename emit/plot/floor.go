// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Floor is a picture of a device from above: which group of cells lies in which tile.
type Floor struct {
	Title  string
	Groups []string // their names; groups without a cell are not in the legend
	Cells  []Placed
}

// Placed is a cell in a tile, from the upper left; Large ones are multipliers and memories.
type Placed struct {
	X, Y, Group int
	Large       bool
}

// tile is where one lies, from the upper left.
type tile struct{ x, y int }

// SVG draws a square for each tile in use, in the colour of the group that has most cells in it, and the denser the
// more cells there are.
func (f Floor) SVG() []byte {
	tiles := map[tile]map[int]int{}
	large := map[tile]bool{}
	used := map[int]int{}
	wide, high, most := 1, 1, 1
	for _, c := range f.Cells {
		at := tile{c.X, c.Y}
		if tiles[at] == nil {
			tiles[at] = map[int]int{}
		}
		tiles[at][c.Group]++
		used[c.Group]++
		large[at] = large[at] || c.Large
		wide, high = max(wide, c.X+1), max(high, c.Y+1)
	}
	var order []tile
	for at, groups := range tiles {
		order = append(order, at)
		_, n := dominant(groups)
		most = max(most, n)
	}
	slices.SortFunc(order, func(a, b tile) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x)) })
	size := min(float64(width-20)/float64(wide), 10)
	rows := f.legendRows(used)
	total := int(float64(high)*size) + 34 + 18*rows + 14
	d := beginSized(f.Title, total)
	d.text(10, 18, "start", ink, f.Title)
	d.add(`<rect x="10" y="28" width="%.1f" height="%.1f" fill="none" stroke="%s"/>`,
		float64(wide)*size, float64(high)*size, line)
	for _, at := range order {
		group, n := dominant(tiles[at])
		opacity := 0.35 + 0.65*float64(n)/float64(most)
		stroke := ""
		if large[at] {
			opacity, stroke = 1, fmt.Sprintf(` stroke="%s" stroke-width="0.7"`, ink)
		}
		d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="%.2f"%s/>`,
			10+float64(at.x)*size, 28+float64(at.y)*size, size*0.92, size*0.92, hue(group), opacity, stroke)
	}
	f.legend(d, used, 28+float64(high)*size+18)
	return d.end()
}

// dominant is the group with most cells, the first of equals, and the cells of all.
func dominant(groups map[int]int) (best, total int) {
	best = -1
	for g, n := range groups {
		total += n
		if best < 0 || n > groups[best] || n == groups[best] && g < best {
			best = g
		}
	}
	return best, total
}

// hue gives more groups than a chart has colours one each: the golden angle keeps neighbours apart.
func hue(group int) string { return hsl(float64((215+group*137)%360), 0.62, 0.48) }

// hsl is a colour of the given hue in degrees, saturation and lightness, as CSS defines it.
func hsl(hue, saturation, lightness float64) string {
	part := func(n float64) int {
		k := math.Mod(n+hue/30, 12)
		return int(math.Round(255 * (lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1)))))
	}
	return fmt.Sprintf("#%02x%02x%02x", part(0), part(8), part(4))
}

const legendColumns = 3

func (f Floor) legendRows(used map[int]int) int { return (len(used)+1)/legendColumns + 1 }

func (f Floor) legend(d *drawing, used map[int]int, y float64) {
	i := 0
	place := func() (float64, float64) {
		x, row := 10+float64(i%legendColumns)*(width-20)/legendColumns, y+float64(i/legendColumns)*18
		i++
		return x, row
	}
	for g, name := range f.Groups {
		if used[g] == 0 {
			continue
		}
		x, row := place()
		d.add(`<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/>`, x, row-9, hue(g))
		d.text(x+15, row, "start", ink, fmt.Sprintf("%s (%d)", name, used[g]))
	}
	x, row := place()
	d.add(`<rect x="%.1f" y="%.1f" width="9" height="9" fill="none" stroke="%s"/>`, x, row-9, ink)
	d.text(x+15, row, "start", soft, "multiplier or memory block")
}
