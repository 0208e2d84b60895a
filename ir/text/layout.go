// SPDX-License-Identifier: Apache-2.0

package text

import (
	"slices"

	"lathe/ir"
)

const (
	sweeps  = 8  // rounds of ordering
	maxBend = 30 // ranks that an arrow crosses with bends; longer ones are drawn in one piece
)

// layout is a drawing in ranks (after Sugiyama, Tagawa and Toda 1981): a node stands below all that it reads, bends
// stand where an arrow crosses a rank, and ranks are ordered by the mean position of neighbours to avoid crossings.
type layout struct {
	boxes []*box
	ranks [][]*box
	edges []edge
	down  bool // direction of the next sweep
}

func newLayout(g *ir.Graph) *layout {
	l := &layout{down: true}
	of := make(map[*ir.Node]*box, len(g.Nodes))
	for _, n := range g.Nodes {
		if n.IsConst() && !g.IsOutput(n) {
			continue
		}
		rank := 0
		for _, a := range n.Args {
			if of[a] != nil {
				rank = max(rank, of[a].rank+1)
			}
		}
		of[n] = newBox(labels(n), rank, lookOf(n))
		l.add(of[n])
		for _, a := range n.Args {
			if of[a] != nil {
				l.connect(of[a], of[n])
			}
		}
	}
	for _, o := range g.Out {
		if from := of[o.Node]; from != nil {
			b := newBox([]string{o.Name, "output"}, from.rank+1, ends)
			l.add(b)
			l.connect(from, b)
		}
	}
	return l
}

func (l *layout) add(b *box) {
	for len(l.ranks) <= b.rank {
		l.ranks = append(l.ranks, nil)
	}
	b.at = len(l.ranks[b.rank])
	l.ranks[b.rank] = append(l.ranks[b.rank], b)
	l.boxes = append(l.boxes, b)
}

// connect adds an arrow, with a bend in each rank between.
func (l *layout) connect(from, to *box) {
	e := edge{[]*box{from}}
	if to.rank-from.rank <= maxBend {
		for r := from.rank + 1; r < to.rank; r++ {
			bend := newBox(nil, r, look{})
			l.add(bend)
			e.through = append(e.through, bend)
		}
	}
	e.through = append(e.through, to)
	for i, b := range e.through[1:] {
		before := e.through[i]
		before.below, b.above = append(before.below, b), append(b.above, before)
	}
	l.edges = append(l.edges, e)
}

// sweep orders each rank by the mean position of the neighbours in the rank before, downwards and upwards in turn.
func (l *layout) sweep() {
	for i := range l.ranks {
		r := l.ranks[i]
		if !l.down {
			r = l.ranks[len(l.ranks)-1-i]
		}
		mean := make(map[*box]float64, len(r))
		for _, b := range r {
			mean[b] = float64(b.at)
			if near := l.neighbours(b); len(near) > 0 {
				sum := 0
				for _, n := range near {
					sum += n.at
				}
				mean[b] = float64(sum) / float64(len(near))
			}
		}
		slices.SortStableFunc(r, func(a, b *box) int {
			switch {
			case mean[a] < mean[b]:
				return -1
			case mean[a] > mean[b]:
				return 1
			}
			return 0
		})
		for at, b := range r {
			b.at = at
		}
	}
	l.down = !l.down
}

func (l *layout) neighbours(b *box) []*box {
	if l.down {
		return b.above
	}
	return b.below
}

// place gives coordinates and returns the size of the picture. A box wants to stand below the mean of what it reads;
// neighbours push it aside.
func (l *layout) place() (width, height float64) {
	y := float64(margin)
	for _, r := range l.ranks {
		tallest := 0.0
		right := float64(margin)
		for _, b := range r {
			b.y = y
			tallest = max(tallest, b.height)
			want := 0.0
			for _, a := range b.above {
				want += a.x / float64(len(b.above))
			}
			b.x = max(want, right+b.width/2)
			right = b.x + b.width/2 + gapAcross
		}
		for _, b := range r {
			if len(b.lines) == 0 {
				b.height = tallest
			}
		}
		y += tallest + gapDown
	}
	for pass := range 4 {
		l.settle(pass%2 == 0)
	}
	left := 0.0
	for i, b := range l.boxes {
		if edge := b.x - b.width/2; i == 0 || edge < left {
			left = edge
		}
	}
	for _, b := range l.boxes {
		b.x += margin - left
		width = max(width, b.x+b.width/2)
	}
	return width + margin, max(y-gapDown, 0) + margin
}

// settle moves every box towards the mean of its neighbours on one side, as far as the rank leaves room.
func (l *layout) settle(up bool) {
	for i := range l.ranks {
		r := l.ranks[i]
		if up {
			r = l.ranks[len(l.ranks)-1-i]
		}
		want := make([]float64, len(r))
		for j, b := range r {
			near := b.above
			if up {
				near = b.below
			}
			want[j] = b.x
			if len(near) > 0 {
				want[j] = 0
				for _, n := range near {
					want[j] += n.x / float64(len(near))
				}
			}
		}
		shift := 0.0 // what the boxes are pushed to the right, on average
		for j, b := range r {
			b.x = want[j]
			if j > 0 {
				b.x = max(b.x, r[j-1].x+(r[j-1].width+b.width)/2+gapAcross)
			}
			shift += (b.x - want[j]) / float64(len(r))
		}
		for _, b := range r {
			b.x -= shift
		}
	}
}
