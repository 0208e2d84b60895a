// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"encoding/binary"
	"fmt"
	"lathe/internal/workers"
	"math/bits"
	"slices"
)

// A term of a sum: a node, shifted, or its negative.
type term struct {
	node  int32
	shift int
	minus bool
}

// A member is an output whose products are those of a row, shifted, or their negative.
type member struct {
	row, shift int
	minus      bool
}

// distinct finds the rows that are no multiples of one another by a power of two or its negative.
func (s *solver) distinct() {
	known := map[string]member{}
	for o, coefficients := range s.Matrix {
		any, first := uint64(0), int64(0)
		for _, w := range coefficients {
			any |= uint64(w)
			if first == 0 {
				first = w
			}
		}
		shift := bits.TrailingZeros64(any | 1<<63)
		row, key := make([]int64, len(coefficients)), []byte(nil)
		for i, w := range coefficients {
			row[i] = w >> shift
			if first < 0 {
				w = -w
			}
			key = binary.AppendVarint(key, w>>shift)
		}
		m, found := known[string(key)]
		if !found {
			m = member{row: len(s.unique), minus: first < 0}
			known[string(key)] = m
			s.unique, s.users, s.whole = append(s.unique, row), append(s.users, 0), append(s.whole, false)
		}
		s.users[m.row]++
		s.whole[m.row] = s.whole[m.row] || s.users[m.row] > 1 || s.Scale[o] != 1
		s.members = append(s.members, member{m.row, shift, m.minus != (first < 0)})
	}
}

// wire makes the nets of the inputs. What is constant of an input goes into the biases: what is left is a number of as
// many bits as change, none of them a sign unless the input changes its own.
func (s *solver) wire() (inputs []Range, bias []int64) {
	bias = append(bias, s.Bias...)
	for i, r := range s.Inputs {
		w := Word{Signed: r.Lo < 0 && r.Hi >= 0}
		n := r.Bits() // also of numbers that are all negative
		fixed := int64(0)
		if !w.Signed {
			for n > 0 && r.Lo>>(n-1) == r.Hi>>(n-1) {
				n--
			}
			fixed = r.Lo >> n << n
		}
		for range n {
			w.Bits = append(w.Bits, Bit{Net: Net(s.graph.Nets)})
			s.graph.Nets++
			s.at = append(s.at, 0)
		}
		for o := range bias {
			bias[o] += s.Scale[o] * s.Matrix[o][i] * fixed
		}
		inputs = append(inputs, Range{r.Lo - fixed, r.Hi - fixed})
		s.words = append(s.words, w)
		s.graph.Inputs = append(s.graph.Inputs, w)
	}
	return inputs, bias
}

// inline puts nodes that are used once where they are used, and gives the sums of the rows. Row o takes no shared sums
// of a level above deep[o].
func (s *solver) inline(deep []int) (rows [][]term) {
	s.sums = make([][]term, len(s.nodes))
	s.uses = make([]int, len(s.nodes))
	for o := range s.rows {
		var row []term
		for n, at := range s.rows[o] {
			each(at.plus, func(j int) { row = s.open(row, term{int32(n), j, false}, deep[o]) })
			each(at.minus, func(j int) { row = s.open(row, term{int32(n), j, true}, deep[o]) })
		}
		rows = append(rows, row)
		for _, t := range row {
			s.uses[t.node]++
		}
	}
	for n := len(s.nodes) - 1; n >= len(s.inputs); n-- {
		if x := &s.nodes[n]; s.uses[n] > 0 {
			s.sums[n] = []term{{x.a, 0, false}, {x.b, x.shift, x.minus}}
			s.uses[x.a]++
			s.uses[x.b]++
		}
	}
	for n, sum := range s.sums {
		s.sums[n] = s.expand(sum)
	}
	for o, row := range rows {
		rows[o] = s.expand(row)
	}
	return rows
}

// open adds a term to a row, or those of a node above a level.
func (s *solver) open(row []term, t term, level int) []term {
	x := &s.nodes[t.node]
	if x.level <= level {
		return append(row, t)
	}
	row = s.open(row, term{x.a, t.shift, t.minus}, level)
	return s.open(row, term{x.b, t.shift + x.shift, t.minus != x.minus}, level)
}

// expand replaces the nodes of a sum that are used nowhere else.
func (s *solver) expand(sum []term) (all []term) {
	for _, t := range sum {
		if s.uses[t.node] != 1 || int(t.node) < len(s.inputs) {
			all = append(all, t)
			continue
		}
		for _, u := range s.expand(s.sums[t.node]) {
			all = append(all, term{u.node, u.shift + t.shift, u.minus != t.minus})
		}
	}
	return all
}

// assemble builds the heaps, those first that others read.
func (s *solver) assemble(rows [][]term, bias []int64) {
	s.words = append(s.words, make([]Word, len(s.nodes)+len(rows)-len(s.words))...)
	for level := 1; level <= sharedLevels; level++ {
		var jobs []job
		for n := range s.nodes {
			if s.nodes[n].level == level && s.uses[n] > 1 {
				jobs = append(jobs, job{fmt.Sprintf("s%d", n-len(s.inputs)), s.sums[n], 0, s.nodes[n].Range, &s.words[n]})
			}
		}
		s.build(jobs, 0)
		s.graph.Shared += len(jobs)
	}
	s.repeated(rows)
	var jobs []job
	s.graph.Outputs = make([]Word, len(s.Matrix))
	for o, m := range s.members {
		sum := []term{{int32(len(s.nodes) + m.row), 0, false}}
		if !s.whole[m.row] {
			sum = rows[m.row]
		}
		var all []term
		plus, minus := digits(s.Scale[o])
		for _, t := range sum {
			each(plus, func(j int) { all = append(all, term{t.node, t.shift + m.shift + j, t.minus != m.minus}) })
			each(minus, func(j int) { all = append(all, term{t.node, t.shift + m.shift + j, t.minus == m.minus}) })
		}
		r := s.reach(o)
		jobs = append(jobs, job{fmt.Sprintf("y%d", o), all, bias[o], r.Range, &s.graph.Outputs[o]})
	}
	s.build(jobs, s.Levels)
}

// repeated builds the rows of which there are several outputs, or scaled ones.
func (s *solver) repeated(rows [][]term) {
	var jobs []job
	for u, row := range rows {
		if s.whole[u] {
			r := reachOf(s.unique[u], s.sharer.inputs, 0)
			jobs = append(jobs, job{fmt.Sprintf("r%d", u), row, 0, r.Range, &s.words[len(s.nodes)+u]})
			if s.users[u] > 1 {
				s.graph.Shared++
			}
		}
	}
	s.build(jobs, s.Levels)
}

// A job is a sum to be made, and where its word goes.
type job struct {
	name string
	sum  []term
	k    int64
	Range
	word *Word
}

// build makes chains of sums that do not read one another, on all processors.
func (s *solver) build(jobs []job, limit float64) {
	results := make([]*built, len(jobs))
	first := Net(s.graph.Nets)
	workers.Each(len(jobs), func(i int) {
		if results[i] = s.adder(&jobs[i], first); results[i] == nil {
			results[i] = s.heap(&jobs[i]).best(first, s.effort, limit)
		}
	})
	for i := range jobs {
		s.place(&jobs[i], results[i], first)
	}
}

// heap is the sum of a job, as wide as its numbers need.
func (s *solver) heap(j *job) *heap {
	h := &heap{columns: make([][]item, j.Bits()), group: s.Group, at: s.at, k: uint64(j.k)}
	for _, t := range j.sum {
		h.word(s.words[t.node], t.shift, t.minus)
	}
	return h
}

// adder is the chain of a sum of two words, the first of which is taken as it is; nil for any other sum.
func (s *solver) adder(j *job, first Net) *built {
	if len(j.sum) != 2 || j.k != 0 || j.sum[0].minus || j.sum[0].shift != 0 {
		return nil
	}
	a, b, t := s.words[j.sum[0].node], s.words[j.sum[1].node], j.sum[1]
	for _, x := range a.Bits {
		if x.Not {
			return nil
		}
	}
	n := j.Bits()
	r := &built{nets: first}
	for c := range min(t.shift, n) {
		r.out = append(r.out, item{Bit: a.at(c)})
	}
	if n <= t.shift {
		return r
	}
	chain := Chain{Column: t.shift, CarryIn: t.minus, Out: first}
	for c := t.shift; c < n; c++ {
		x := b.at(c - t.shift)
		x.Not = x.Not != t.minus
		cell := Cell{A: a.at(c).Net}
		if x.Net != Zero {
			cell.B.Of = []Bit{x}
		} else {
			cell.B.Plus = x.Not
		}
		chain.Cells = append(chain.Cells, cell)
		r.out = append(r.out, item{Bit: Bit{Net: r.nets}})
		r.nets++
	}
	r.chains, r.cells = []Chain{chain}, n-t.shift
	return r
}

// place gives the nets of a built heap their final numbers.
func (s *solver) place(j *job, b *built, first Net) {
	by := Net(s.graph.Nets) - first
	move := func(n Net) Net {
		if n < first {
			return n
		}
		return n + by
	}
	s.graph.Nets = int(b.nets + by)
	s.at = append(s.at, make([]float64, s.graph.Nets-len(s.at))...)
	for _, c := range b.chains {
		c.Name = j.name
		c.Out += by
		if c.Carry != Zero {
			c.Carry += by
		}
		c.Cells = slices.Clone(c.Cells)
		for i := range c.Cells {
			cell := &c.Cells[i]
			cell.A = move(cell.A)
			from := len(s.bits)
			for _, x := range cell.B.Of {
				s.bits = append(s.bits, Bit{move(x.Net), x.Not})
			}
			cell.B.Of = s.bits[from:len(s.bits):len(s.bits)]
		}
		c.arrive(s.at, func(n Net) float64 { return s.at[n] })
		s.graph.Chains = append(s.graph.Chains, c)
	}
	*j.word = Word{Signed: j.Lo < 0}
	for _, x := range b.out {
		j.word.Bits = append(j.word.Bits, Bit{move(x.Net), x.Not})
	}
}
