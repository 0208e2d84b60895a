// SPDX-License-Identifier: Apache-2.0

package cmvm

import "slices"

// A heap is a sum of bits, modulo 2^len(columns): in each column bits that count alike, and a constant.
type heap struct {
	columns [][]item
	k       uint64
	group   int
	at      []float64 // when each net of the bits is there
}

// An item is a bit with the time at which it is there.
type item struct {
	Bit
	at float64
}

// add puts a bit with a weight of 2^column, or of its negative, into h: -b is the complement of b minus one.
func (h *heap) add(b Bit, column int, minus bool) {
	if column >= len(h.columns) {
		return
	}
	if minus {
		h.k -= 1 << column
		b.Not = !b.Not
	}
	switch {
	case b.Net != Zero:
		h.columns[column] = append(h.columns[column], item{b, h.at[b.Net]})
	case b.Not:
		h.k += 1 << column
	}
}

// word adds w times 2^shift, or its negative.
func (h *heap) word(w Word, shift int, minus bool) {
	for j, b := range w.Bits {
		h.add(b, j+shift, minus != (w.Signed && j == len(w.Bits)-1))
	}
}

// A setting is one way to add a heap up.
type setting struct {
	need  int     // bits of a column that must be there before a round
	slack float64 // levels that a round waits for more
	low   int     // bits of the column in which a chain begins
	late  float64 // levels that a bit may lack which a chain takes beside sums of the one before
	last  int     // bits of the column in which a chain begins once all bits are there
	wide  bool    // chains of counts take bits that are there rather than sums of the chain before
	alone bool    // they never take these sums
}

// settings are tried in this order, the usual ones first.
var settings = func() (all []setting) {
	for _, last := range []int{2, 3} {
		for _, late := range []float64{1, 0} {
			for _, low := range []int{4, 3, 2, 5, 6} {
				for _, need := range []int{6, 5, 7, 4} {
					for _, slack := range []float64{0.35, 1, 0.7, 2} {
						all = append(all, setting{need, slack, low, late, last, false, false})
					}
				}
				for _, need := range []int{6, 8, 10} {
					for _, slack := range []float64{0, 0.35} {
						all = append(all, setting{need, slack, low, late, last, true, false},
							setting{need, slack, low, late, last, true, true})
					}
				}
			}
		}
	}
	// A fixed shuffle, so that few of them are different ones.
	x := uint32(1)
	for i := len(all) - 1; i > 0; i-- {
		x = x*1664525 + 1013904223
		j := int(x>>8) % (i + 1)
		all[i], all[j] = all[j], all[i]
	}
	return append([]setting{{6, 1, 4, 1, 2, false, false}}, all...)
}()

// A built heap: its chains, whose own nets count from first, and a bit a column.
type built struct {
	chains []Chain
	nets   Net // after those of the chains
	out    []item
	cells  int
	levels float64
	bares  int
	rounds int // before the last chain
}

// best builds h in several ways and keeps the cheapest within the limit, a bare cell at half the price. Half of the
// ways have one setting for all rounds; the others change that of a round, or of all from one on. Where none keeps to
// the limit there are more of them, for the one of least levels.
func (h *heap) best(first Net, effort int, limit float64) *built {
	for _, column := range h.columns {
		slices.SortStableFunc(column, earlier)
	}
	price := func(b *built) float64 {
		if limit > 0 && b.levels > limit {
			return 1e6 * b.levels
		}
		return float64(b.cells) - 0.5*float64(b.bares) + 0.01*b.levels
	}
	best, trial := new(builder), new(builder)
	var plan []setting
	for i := 0; i < effort || i < 4*effort && limit > 0 && best.levels > limit; i++ {
		next := []setting{settings[i%len(settings)]}
		if i >= (effort+1)/2 {
			next = vary(plan, best.rounds, uint32(i))
		}
		trial.build(h, first, next)
		if i == 0 || price(&trial.built) < price(&best.built) || len(next) > 1 && price(&trial.built) == price(&best.built) {
			best, trial, plan = trial, best, next
		}
		if len(best.chains) < 2 {
			break // no choice
		}
	}
	return &best.built
}

// vary changes the setting of a round of a plan, or of all rounds from one on.
func vary(plan []setting, rounds int, x uint32) []setting {
	draw := func(n int) int {
		x = x*1664525 + 1013904223
		return int(x>>8) % n
	}
	draw(1)
	next := slices.Clone(plan)
	for len(next) < rounds {
		next = append(next, next[len(next)-1])
	}
	s, from, all := settings[draw(len(settings))], draw(len(next)), draw(2) == 0
	for i := from; i < len(next) && (all || i == from); i++ {
		next[i] = s
	}
	return next
}

// A builder is a heap on its way to a bit a column.
type builder struct {
	heap
	built
	setting
	time   float64 // bits up to this are ready
	sums   []item  // of the chains of this round, by column; Zero: none
	places [3][]Count
	chain  *Chain
	carry  float64   // when that of the chain is there
	first  Net       // of its own
	times  []float64 // of its own nets
	all    []Cell    // of all chains
	of     []Bit     // of all cells
}

// build adds h up, whose columns are in order, with the settings of a plan, the last of which goes on.
func (b *builder) build(h *heap, first Net, plan []setting) {
	n := len(h.columns)
	b.group, b.k, b.at, b.nets, b.first = h.group, h.k, h.at, first, first
	b.chains, b.out, b.cells, b.levels, b.rounds, b.bares = b.chains[:0], b.out[:0], 0, 0, 0, 0
	b.times, b.all, b.of = b.times[:0], b.all[:0], b.of[:0]
	if b.columns == nil {
		b.columns, b.sums = make([][]item, n), make([]item, n)
		for p := range b.places {
			b.places[p] = make([]Count, n+3)
		}
	}
	for c, column := range h.columns {
		b.columns[c] = append(b.columns[c][:0], column...)
	}
	for !b.flat() {
		b.setting = plan[min(b.rounds, len(plan)-1)]
		b.rounds++
		b.round()
	}
	clear(b.sums)
	b.ripple()
	for c, column := range b.columns {
		bit := item{Bit: Bit{Net: Zero, Not: b.constant(c)}}
		if len(column) > 0 {
			bit = column[0]
			b.levels = max(b.levels, bit.at)
		}
		b.out = append(b.out, bit)
	}
}

func earlier(a, b item) int {
	switch {
	case a.at < b.at:
		return -1
	case a.at > b.at:
		return 1
	}
	return int(a.Net - b.Net)
}

// constant says whether the constant has a one in column c.
func (b *builder) constant(c int) bool { return b.k>>c&1 != 0 }

// spend takes the one in column c out of the constant, if there is one.
func (b *builder) spend(c int) bool {
	is := b.constant(c)
	b.k &^= 1 << c
	return is
}

// flat says whether one chain can add up what is left: two bits a column, one of them plain.
func (b *builder) flat() bool {
	started := false
	for c := range b.columns {
		if len(b.columns[c]) == 1 && b.constant(c) && b.columns[c][0].Not && started {
			// 1 + ~x = x + 2 ~x
			x := b.columns[c][0]
			b.spend(c)
			b.columns[c][0].Not = false
			b.put(c+1, x)
		}
		n := len(b.columns[c])
		plain := slices.ContainsFunc(b.columns[c], func(x item) bool { return !x.Not })
		if n > 2 || n == 2 && (!plain || b.constant(c) && started) {
			return false
		}
		started = started || n == 2 || n == 1 && b.constant(c)
	}
	return true
}

// put sorts an item into its column.
func (b *builder) put(c int, x item) {
	if c >= len(b.columns) {
		return
	}
	column := append(b.columns[c], x)
	i := len(column) - 1
	for ; i > 0 && earlier(x, column[i-1]) < 0; i-- { // it is mostly one of the last
		column[i] = column[i-1]
	}
	column[i] = x
	b.columns[c] = column
}

// ready is the number of bits of column c that are there.
func (b *builder) ready(c int) int {
	n := 0
	for n < len(b.columns[c]) && b.columns[c][n].at <= b.time {
		n++
	}
	return n
}

// take takes the earliest n items out of column c.
func (b *builder) take(c, n int) []Bit {
	from := len(b.of)
	for _, x := range b.columns[c][:n] {
		b.of = append(b.of, x.Bit)
	}
	b.columns[c] = slices.Delete(b.columns[c], 0, n)
	return b.of[from:len(b.of):len(b.of)]
}

// plain takes the latest plain bit among the first n items of column c out, or gives Zero.
func (b *builder) plain(c, n int) Net {
	for i := n - 1; i >= 0; i-- {
		if x := b.columns[c][i]; !x.Not {
			b.columns[c] = slices.Delete(b.columns[c], i, i+1)
			return x.Net
		}
	}
	return Zero
}
