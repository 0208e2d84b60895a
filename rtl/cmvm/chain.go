// SPDX-License-Identifier: Apache-2.0

package cmvm

import "math"

// round adds up what is there: a chain takes groups of bits of each column, and the higher bits of their counts enter
// two more chains on top of it, one and two columns further left.
func (b *builder) round() {
	from := b.await()
	clear(b.sums)
	for p := range b.places {
		clear(b.places[p])
	}
	for c := 0; c < len(b.columns); c++ {
		if b.ready(c) >= from {
			c = b.groups(c)
		}
	}
	for place := 1; place < 3; place++ {
		for c := 0; c < len(b.columns); c++ {
			if len(b.places[place][c].Of) > 0 {
				c = b.above(place, c)
			}
		}
	}
	for c, x := range b.sums {
		if x.Net != Zero {
			b.put(c, x)
		}
	}
}

// await finds the time of the next round, and how many bits there begin a chain.
func (b *builder) await() (from int) {
	b.time = math.Inf(1)
	for _, column := range b.columns {
		if len(column) >= b.need {
			b.time = min(b.time, column[b.need-1].at)
		}
	}
	if math.IsInf(b.time, 1) {
		from = b.last
	} else {
		b.time += b.slack
		from = min(b.low, b.need)
	}
	for c := range b.columns {
		if b.ready(c) >= from {
			return from
		}
	}
	return 2 // and no plain bit among them
}

// groups is the first chain of a round, from column c; it gives the last column that it looked at.
func (b *builder) groups(c int) int {
	b.open(c)
	for start := c; c < len(b.columns); c++ {
		n := b.ready(c)
		if c > start && n < 2 {
			break
		}
		cell := Cell{A: b.plain(c, n)}
		if cell.A != Zero {
			n--
		}
		plus := b.constant(c)
		with := n
		if plus {
			with++
		}
		switch {
		case b.group >= 5 && (n >= 5 || with == 5):
			cell.B = Count{Of: b.take(c, min(n, 5)), Plus: b.spend(c)}
			b.places[2][c+2] = Count{cell.B.Of, cell.B.Plus, 2}
			b.places[1][c+1] = Count{cell.B.Of, cell.B.Plus, 1}
		case b.group >= 3 && (with >= 3 || n == 2 && cell.A == Zero):
			cell.B = Count{Of: b.take(c, min(n, 3)), Plus: n < 3 && b.spend(c)}
			b.places[1][c+1] = Count{cell.B.Of, cell.B.Plus, 1}
		case n >= 1:
			cell.B = Count{Of: b.take(c, 1)}
		case plus:
			cell.B = Count{Plus: b.spend(c)}
		}
		b.cell(cell)
	}
	b.end(c)
	return c
}

// above is a chain of the counts' bits at a place, from column c, over the sums of the chains below.
func (b *builder) above(place, c int) int {
	b.open(c)
	for ; c < len(b.columns); c++ {
		count := b.places[place][c]
		sum := b.sums[c]
		n := b.ready(c)
		if len(count.Of) == 0 && (sum.Net == Zero || n == 0) {
			break
		}
		cell := Cell{A: sum.Net, B: count}
		if len(count.Of) == 0 {
			cell.B = Count{Of: b.take(c, 1)}
		} else if b.wide && sum.Net != Zero {
			if raw := b.plain(c, n); raw != Zero || b.alone {
				cell.A = raw
				b.put(c, sum)
			}
		} else if sum.Net == Zero {
			late := 0
			for late < len(b.columns[c]) && b.columns[c][late].at <= b.carry+b.late {
				late++
			}
			cell.A = b.plain(c, late)
		}
		b.sums[c] = item{}
		b.cell(cell)
	}
	b.end(c)
	return c
}

// ripple is the last chain, over all columns from the lowest one with two bits.
func (b *builder) ripple() {
	from := 0
	for from < len(b.columns) {
		n := len(b.columns[from])
		if n == 2 || n == 1 && b.constant(from) {
			break
		}
		from++
	}
	if from == len(b.columns) {
		return
	}
	b.open(from)
	for c := from; c < len(b.columns); c++ {
		n := len(b.columns[c])
		cell := Cell{A: b.plain(c, n)}
		if len(b.columns[c]) > 0 {
			cell.B = Count{Of: b.take(c, 1)}
		} else if b.spend(c) {
			cell.B = Count{Plus: true}
		}
		b.cell(cell)
		b.put(c, b.sums[c])
	}
	b.end(len(b.columns))
}

// open begins a chain, whose carry in is the constant of its column.
func (b *builder) open(c int) {
	b.chains = append(b.chains, Chain{Column: c, CarryIn: b.spend(c), Out: b.nets})
	b.chain, b.carry = &b.chains[len(b.chains)-1], 0
}

// cell puts a cell on top of the chain.
func (b *builder) cell(cell Cell) {
	n := len(b.chain.Cells)
	b.all = append(b.all, cell)
	b.chain.Cells = b.all[len(b.all)-n-1:]
	b.carry = cell.arrive(b.carry, b.when)
	c := b.chain.Column + len(b.chain.Cells) - 1
	b.sums[c] = item{Bit: Bit{Net: b.nets}, at: b.carry}
	b.times = append(b.times, b.carry)
	b.nets++
	b.cells++
	if cell.bare() {
		b.bares++
	}
}

// end ends the chain below column c, where its carry becomes a bit.
func (b *builder) end(c int) {
	if c < len(b.columns) {
		b.chain.Carry = b.nets
		b.times = append(b.times, b.carry+carryDelay)
		b.put(c, item{Bit: Bit{Net: b.nets}, at: b.carry + carryDelay})
		b.nets++
	}
}

// when is the time at which a net is there.
func (b *builder) when(n Net) float64 {
	if n < b.first {
		return b.at[n]
	}
	return b.times[n-b.first]
}
