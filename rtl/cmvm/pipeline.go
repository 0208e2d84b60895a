// SPDX-License-Identifier: Apache-2.0

package cmvm

import "slices"

// A Pipeline says between which rows of registers the chains of a Graph stand: those of stage 0 read the inputs, and
// Rows rows of registers lie between the inputs and the outputs, all of which are there in the last stage.
type Pipeline struct {
	Of     []int // stage of each chain
	Rows   int
	Levels float64 // of the longest path between registers
}

// A piper puts chains into stages.
type piper struct {
	*Graph
	Pipeline
	limit   float64
	tail    float64 // levels behind outputs
	maker   []int   // of a net: its chain, -1 for an input
	readers [][]int // of a net: chains
	reads   [][]Net // of a chain, each net once
	out     []bool  // nets that are outputs
	at      []float64
}

// Pipeline cuts g into stages of limit levels, or of one chain where that alone takes longer, with few registers.
// Behind its outputs are another tail levels in the last stage.
func (g *Graph) Pipeline(limit, tail float64) Pipeline {
	p := newPiper(g)
	p.limit, p.tail = limit, tail
	for i := range g.Chains {
		p.early(i)
		p.Rows = max(p.Rows, p.Of[i])
	}
	for i := range g.Chains {
		if p.last(i) > limit && p.ends(i) {
			p.Rows++
			break
		}
	}
	for p.better() {
	}
	for i := range g.Chains {
		p.Levels = max(p.Levels, p.last(i))
	}
	return p.Pipeline
}

// Staged cuts g into stages, no more than one, two, ... rows of registers between them, as short as it finds.
func (g *Graph) Staged(rows int, tail float64) Pipeline {
	low, high := 0.0, g.Cost().Levels+tail
	best := g.Pipeline(high, tail)
	for high-low > cellDelay/8 {
		limit := (low + high) / 2
		if p := g.Pipeline(limit, tail); p.Rows <= rows {
			best, high = p, limit
		} else {
			low = limit
		}
	}
	return best
}

func newPiper(g *Graph) *piper {
	p := &piper{Graph: g, maker: make([]int, g.Nets), readers: make([][]int, g.Nets),
		reads: make([][]Net, len(g.Chains)), out: make([]bool, g.Nets), at: make([]float64, g.Nets)}
	p.Of = make([]int, len(g.Chains))
	for n := range p.maker {
		p.maker[n] = -1
	}
	for i := range g.Chains {
		p.link(i)
	}
	for _, w := range g.Outputs {
		for _, b := range w.Bits {
			p.out[b.Net] = b.Net != Zero
		}
	}
	return p
}

// nets are those that a chain drives.
func (c *Chain) nets() []Net {
	var list []Net
	for j := range c.Cells {
		list = append(list, c.Out+Net(j))
	}
	if c.Carry != Zero {
		list = append(list, c.Carry)
	}
	return list
}

func (p *piper) link(i int) {
	c := &p.Chains[i]
	for _, n := range c.nets() {
		p.maker[n] = i
	}
	read := func(n Net) {
		if n == Zero {
			return
		}
		if of := p.readers[n]; len(of) == 0 || of[len(of)-1] != i {
			p.readers[n] = append(of, i)
			p.reads[i] = append(p.reads[i], n)
		}
	}
	for j := range c.Cells {
		read(c.Cells[j].A)
		for _, b := range c.Cells[j].B.Of {
			read(b.Net)
		}
	}
}

// stage is that in which a net is made.
func (p *piper) stage(n Net) int {
	if p.maker[n] < 0 {
		return 0
	}
	return p.Of[p.maker[n]]
}

// early puts a chain into the first stage that has time for it.
func (p *piper) early(i int) {
	for _, n := range p.reads[i] {
		p.Of[i] = max(p.Of[i], p.stage(n))
	}
	p.arrive(i)
	if p.end(i) > p.limit && p.waits(i) {
		p.Of[i]++
		p.arrive(i)
	}
}

// waits says whether a chain reads one of its own stage.
func (p *piper) waits(i int) bool {
	for _, n := range p.reads[i] {
		if p.maker[n] >= 0 && p.Of[p.maker[n]] == p.Of[i] {
			return true
		}
	}
	return false
}

// end is when the last net of a chain is there.
func (p *piper) end(i int) float64 {
	c := &p.Chains[i]
	if c.Carry != Zero {
		return p.at[c.Carry]
	}
	return p.at[int(c.Out)+len(c.Cells)-1]
}

// ends says whether a chain makes a part of an output in the last stage.
func (p *piper) ends(i int) bool {
	return p.Of[i] == p.Rows && slices.ContainsFunc(p.Chains[i].nets(), func(n Net) bool { return p.out[n] })
}

// last is end, and what is behind the outputs.
func (p *piper) last(i int) float64 {
	if p.ends(i) {
		return p.end(i) + p.tail
	}
	return p.end(i)
}

// arrive sets when the nets of a chain are there, after the registers in front of its stage.
func (p *piper) arrive(i int) {
	p.Chains[i].arrive(p.at, func(n Net) float64 {
		if p.maker[n] < 0 || p.Of[p.maker[n]] < p.Of[i] {
			return 0
		}
		return p.at[n]
	})
}

// better moves chains by a stage where that saves registers, and says whether it found any.
func (p *piper) better() (found bool) {
	for i := len(p.Chains) - 1; i >= 0; i-- {
		found = p.move(i, 1) || found
	}
	for i := range p.Chains {
		found = p.move(i, -1) || found
	}
	return found
}

// move tries a chain in a stage beside its own.
func (p *piper) move(i, by int) bool {
	from, to := p.Of[i], p.Of[i]+by
	if to < 0 || to > p.Rows {
		return false
	}
	for _, n := range p.reads[i] {
		if p.stage(n) > to {
			return false
		}
	}
	for _, n := range p.Chains[i].nets() {
		for _, r := range p.readers[n] {
			if p.Of[r] < to {
				return false
			}
		}
	}
	before := p.around(i)
	p.Of[i] = to
	if p.around(i) < before && p.settle(i) {
		return true
	}
	p.Of[i] = from
	p.settle(i)
	return false
}

// around counts the registers of the nets that a chain reads or drives.
func (p *piper) around(i int) (n int) {
	for _, net := range p.reads[i] {
		n += p.life(net)
	}
	for _, net := range p.Chains[i].nets() {
		n += p.life(net)
	}
	return n
}

// life is how many rows of registers a net passes.
func (p *piper) life(n Net) int {
	last := p.stage(n)
	if p.out[n] {
		last = p.Rows
	}
	for _, r := range p.readers[n] {
		last = max(last, p.Of[r])
	}
	return last - p.stage(n)
}

// settle sets the times after a chain has moved, and says whether all that depend on it keep the limit.
func (p *piper) settle(i int) bool {
	fits := true
	pending := map[int]bool{i: true}
	for k := i; k < len(p.Chains) && len(pending) > 0; k++ {
		if !pending[k] {
			continue
		}
		delete(pending, k)
		p.arrive(k)
		fits = fits && (p.last(k) <= p.limit || !p.waits(k) && !p.ends(k))
		for _, n := range p.Chains[k].nets() {
			for _, r := range p.readers[n] {
				if p.Of[r] <= p.Of[k]+1 {
					pending[r] = true
				}
			}
		}
	}
	return fits
}

// Lives gives for each net how many rows of registers it passes.
func (p Pipeline) Lives(g *Graph) []int {
	q := newPiper(g)
	q.Pipeline = p
	lives := make([]int, g.Nets)
	for n := range lives {
		if n != int(Zero) {
			lives[n] = q.life(Net(n))
		}
	}
	return lives
}

// Live counts the bits in each row of registers, the first one first.
func (p Pipeline) Live(g *Graph) []int {
	q := newPiper(g)
	q.Pipeline = p
	rows := make([]int, p.Rows)
	for n, life := range p.Lives(g) {
		for k := range life {
			rows[q.stage(Net(n))+k]++
		}
	}
	return rows
}

// Registers counts the flip-flops of p in g, without any in front of the inputs or behind the outputs.
func (p Pipeline) Registers(g *Graph) (n int) {
	for _, bits := range p.Live(g) {
		n += bits
	}
	return n
}
