// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"math/bits"
	"slices"
)

// A node is an input, or a sum a + (b << shift), or the difference, that several rows have in common.
type node struct {
	a, b  int32
	shift int
	minus bool
	level int    // 0: an input
	form  []part // over the inputs, ascending
	Range
}

// A part of a linear form.
type part struct {
	input int32
	by    int64
}

// Digits of a row at one node: bit j of plus stands for node << j, of minus for its negative.
type places struct{ plus, minus uint64 }

// A pattern is a pair of terms, a << s and ±b << s + shift, that may stand in several places.
type pattern struct {
	a, b  int32
	shift int
	minus bool
}

// pack orders patterns, and is a key of theirs.
func (p pattern) pack() uint64 {
	key := uint64(p.a)<<34 | uint64(p.b)<<7 | uint64(p.shift)<<1
	if p.minus {
		key |= 1
	}
	return key
}

func unpack(key uint64) pattern {
	return pattern{int32(key >> 34), int32(key >> 7 & (1<<27 - 1)), int(key >> 1 & 63), key&1 != 0}
}

// sharedLevels is how many shared sums may stand in a row. More found nothing better: heaps carry the rest.
const sharedLevels = 2

// A sharing is a way to look for sums that rows have in common.
type sharing struct {
	worth  float64 // of a bit less in a heap, in cells
	levels int     // of sums that stand in a row
	tie    uint64  // which of equal patterns goes first
}

// A sharer finds what rows have in common. Greedily, the pattern that saves most becomes a node, until none saves.
type sharer struct {
	inputs []Range
	nodes  []node
	rows   [][]places // row, node
	active [][]int32  // row: its nodes
	counts tally
	queue  queue
	loaded bool // all terms are there, and patterns bid
	sharing
}

// newSharer counts the patterns of a matrix.
func newSharer(matrix [][]int64, inputs []Range) *sharer {
	s := &sharer{inputs: inputs, sharing: sharing{levels: sharedLevels}}
	for i, r := range inputs {
		s.nodes = append(s.nodes, node{form: []part{{int32(i), 1}}, Range: r})
	}
	for _, row := range matrix {
		s.rows = append(s.rows, make([]places, len(inputs)))
		s.active = append(s.active, nil)
		o := len(s.rows) - 1
		for i, w := range row {
			if r := inputs[i]; r.Lo == 0 && r.Hi == 0 {
				continue
			}
			plus, minus := digits(w)
			each(plus, func(j int) { s.add(o, int32(i), j, false) })
			each(minus, func(j int) { s.add(o, int32(i), j, true) })
		}
	}
	return s
}

// shared is what one way of sharing makes of what s has counted, which stays as it is.
func (s *sharer) shared(how sharing) *sharer {
	t := &sharer{inputs: s.inputs, nodes: slices.Clone(s.nodes), loaded: true, sharing: how}
	t.counts = tally{slices.Clone(s.counts.slots), s.counts.used}
	t.queue.tie = how.tie
	for o := range s.rows {
		t.rows = append(t.rows, slices.Clone(s.rows[o]))
		t.active = append(t.active, slices.Clone(s.active[o]))
	}
	for i := range t.counts.slots {
		if c := &t.counts.slots[i]; c.n >= 2 {
			t.bid(c)
		}
	}
	t.share()
	return t
}

// each calls f with the places of ones in v, upwards.
func each(v uint64, f func(j int)) {
	for ; v != 0; v &= v - 1 {
		f(bits.TrailingZeros64(v))
	}
}

// add adds a term to a row. Two equal ones become one of twice the weight, opposite ones cancel.
func (s *sharer) add(o int, n int32, shift int, minus bool) {
	for {
		at := &s.rows[o][n]
		same, other := &at.plus, &at.minus
		if minus {
			same, other = other, same
		}
		switch bit := uint64(1) << shift; {
		case *other&bit != 0:
			s.remove(o, n, shift, !minus)
			return
		case *same&bit == 0:
			s.tally(o, n, shift, minus, 1)
			if at.plus|at.minus == 0 {
				s.active[o] = append(s.active[o], n)
			}
			*same |= bit
			return
		}
		s.remove(o, n, shift, minus)
		shift++
	}
}

func (s *sharer) remove(o int, n int32, shift int, minus bool) {
	at := &s.rows[o][n]
	if minus {
		at.minus &^= 1 << shift
	} else {
		at.plus &^= 1 << shift
	}
	if at.plus|at.minus == 0 {
		i := slices.Index(s.active[o], n)
		s.active[o] = slices.Delete(s.active[o], i, i+1)
	}
	s.tally(o, n, shift, minus, -1)
}

// tally counts the patterns that a term makes with the others of its row.
func (s *sharer) tally(o int, n int32, shift int, minus bool, by int32) {
	if s.nodes[n].level >= s.levels {
		return
	}
	for _, m := range s.active[o] {
		if s.nodes[m].level >= s.levels {
			continue
		}
		other := s.rows[o][m]
		each(other.plus, func(j int) { s.count(makePattern(n, shift, m, j, minus), by) })
		each(other.minus, func(j int) { s.count(makePattern(n, shift, m, j, !minus), by) })
	}
}

// makePattern puts the lower term first, and the earlier node where both are as low.
func makePattern(n int32, shift int, m int32, at int, minus bool) pattern {
	if at < shift || at == shift && m < n {
		n, m, shift, at = m, n, at, shift
	}
	return pattern{n, m, at - shift, minus}
}

func (s *sharer) count(p pattern, by int32) {
	slot := s.counts.slot(p.pack())
	slot.n += by
	if s.loaded && by > 0 && slot.n >= 2 && slot.n > slot.queued {
		s.bid(slot)
	}
}

// bid puts a pattern into the queue if it saves anything.
func (s *sharer) bid(c *slot) {
	key := c.key - 1
	if gain := s.gain(unpack(key), c.n); gain > 0 {
		c.queued = c.n
		s.queue.push(bid{gain, key, c.n, false})
	}
}

// gain is how many cells a pattern saves that occurs n times: bits of heaps, less its adder.
func (s *sharer) gain(p pattern, n int32) float64 {
	w := s.rangeOf(p).Bits()
	saved := s.nodes[p.a].Bits() + s.nodes[p.b].Bits() - w
	return s.worth*float64(n)*float64(saved) - float64(w-p.shift-1)
}

// rangeOf is the range of a pattern.
func (s *sharer) rangeOf(p pattern) Range {
	r := newReach(0)
	s.parts(p, func(t part) { r.add(t.by, s.inputs[t.input]) })
	return r.Range
}

// sum is the node of a pattern.
func (s *sharer) sum(p pattern) node {
	a, b := &s.nodes[p.a], &s.nodes[p.b]
	n := node{a: p.a, b: p.b, shift: p.shift, minus: p.minus, level: max(a.level, b.level) + 1, Range: s.rangeOf(p)}
	n.form = make([]part, 0, len(a.form)+len(b.form))
	s.parts(p, func(t part) { n.form = append(n.form, t) })
	return n
}

// parts calls f with those of a pattern, ascending.
func (s *sharer) parts(p pattern, f func(t part)) {
	a, b := s.nodes[p.a].form, s.nodes[p.b].form
	by := int64(1) << p.shift
	if p.minus {
		by = -by
	}
	for len(a) > 0 || len(b) > 0 {
		var t part
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].input < b[0].input:
			t, a = a[0], a[1:]
		case len(a) == 0 || b[0].input < a[0].input:
			t, b = part{b[0].input, b[0].by * by}, b[1:]
		default:
			t, a, b = part{a[0].input, a[0].by + b[0].by*by}, a[1:], b[1:]
		}
		if t.by != 0 {
			f(t)
		}
	}
}

// share turns patterns into nodes as long as one saves cells.
func (s *sharer) share() {
	for s.queue.settle() {
		best := s.queue.pop()
		p := unpack(best.key)
		slot := s.counts.slot(best.key)
		if slot.queued == best.n && !best.exact {
			slot.queued = 0
		}
		n := slot.n
		exact := best.exact && n == best.n
		if !exact && p.a == p.b {
			n = s.occurrences(p)
		}
		gain := s.gain(p, n)
		switch {
		case n < 2 || gain <= 0:
		case gain < best.gain && s.queue.settle() && gain < s.queue.highest():
			slot.queued = max(slot.queued, slot.n)
			s.queue.push(bid{gain, best.key, slot.n, true})
		default:
			s.replace(p)
		}
	}
}

// places of p in a row, at which its first term counts positive, and negative.
func (p pattern) in(row []places) (plus, minus uint64) {
	a, b := row[p.a], row[p.b]
	if p.minus {
		b.plus, b.minus = b.minus, b.plus
	}
	plus, minus = a.plus&(b.plus>>p.shift), a.minus&(b.minus>>p.shift)
	if p.a != p.b {
		return plus, minus
	}
	// Occurrences may overlap: the lowest ones count.
	taken := uint64(0)
	all := plus | minus
	each(all, func(j int) {
		both := uint64(1)<<j | uint64(1)<<(j+p.shift)
		if taken&both != 0 {
			plus, minus = plus&^(1<<j), minus&^(1<<j)
			return
		}
		taken |= both
	})
	return plus, minus
}

func (s *sharer) occurrences(p pattern) (n int32) {
	for _, row := range s.rows {
		plus, minus := p.in(row)
		n += int32(bits.OnesCount64(plus) + bits.OnesCount64(minus))
	}
	return n
}

func (s *sharer) replace(p pattern) {
	n := int32(len(s.nodes))
	s.nodes = append(s.nodes, s.sum(p))
	for o := range s.rows {
		plus, minus := p.in(s.rows[o])
		s.rows[o] = append(s.rows[o], places{})
		put := func(j int, negative bool) {
			s.remove(o, p.a, j, negative)
			s.remove(o, p.b, j+p.shift, negative != p.minus)
			s.add(o, n, j, negative)
		}
		each(plus, func(j int) { put(j, false) })
		each(minus, func(j int) { put(j, true) })
	}
}
