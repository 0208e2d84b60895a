// SPDX-License-Identifier: Apache-2.0

package format

import (
	"cmp"
	"slices"
)

// gridWidth bounds the codes of a grid.
const gridWidth = 12

// Grid is the codes that a constant of a format may have, in the order of their values at scale 1.
type Grid struct {
	Codes  []int64
	Values []float64
}

// GridOf is the grid of a constant that is encoded in f and kept in codes of as: f itself, integers of which f is a
// part, or for formats that find scales for output channels their ChannelFormat. Of blocks it is the grid of elements.
// Codes that encoding never makes, and values that as does not hold, are left out. ok is false beyond 12 bits.
func GridOf(f, as Format) (g Grid, ok bool) {
	if b, blocks := f.(Block); blocks {
		f, as = b.Element(), b.Element()
	}
	channels, listed := f.(ListedChannels)
	unit := 0
	if listed {
		unit, _ = lattice(channels.values())
	}
	if f.Width() > gridWidth {
		return Grid{}, false
	}
	type point struct {
		code  int64
		value float64
	}
	var points []point
	for c := range int64(1) << f.Width() {
		v := f.Decode(c)
		if !v.IsFinite() {
			continue
		}
		if listed {
			if k, whole := v.Int64(unit); whole {
				points = append(points, point{k, float64(k)})
			}
		} else if code := as.Encode(v); as.Decode(code).Cmp(v) == 0 {
			points = append(points, point{code, v.Float64()})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.value, b.value) })
	points = slices.CompactFunc(points, func(a, b point) bool { return a.value == b.value })
	for _, p := range points {
		g.Codes, g.Values = append(g.Codes, p.code), append(g.Values, p.value)
	}
	return g, len(points) > 1
}

// Below is the index of the greatest value of the grid that is not greater than v; 0 where all are.
func (g Grid) Below(v float64) int {
	i, found := slices.BinarySearch(g.Values, v)
	if !found && i > 0 {
		i--
	}
	return min(i, len(g.Values)-1)
}

// Nearest is the index of the value of the grid next to v, of the lesser one in the middle between two.
func (g Grid) Nearest(v float64) int {
	i := g.Below(v)
	if i+1 < len(g.Values) && g.Values[i+1]-v < v-g.Values[i] {
		return i + 1
	}
	return i
}
