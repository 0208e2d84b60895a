// SPDX-License-Identifier: Apache-2.0

package cmvm

// A Net is a bit of a Graph: Zero, or one of an input, of a chain's sum or its carry.
type Net int32

// Zero is the net that is always 0.
const Zero Net = 0

// A Bit is a net or its complement.
type Bit struct {
	Net Net
	Not bool
}

// A Word is a number: bit j counts 2^j, the last one -2^j if Signed.
type Word struct {
	Bits   []Bit
	Signed bool
}

// at is bit j of w, whose sign goes on above its bits.
func (w Word) at(j int) Bit {
	switch {
	case j < len(w.Bits):
		return w.Bits[j]
	case w.Signed:
		return w.Bits[len(w.Bits)-1]
	}
	return Bit{}
}

// A Count is bit Place of the number of ones among Of, which is one more if Plus.
type Count struct {
	Of    []Bit
	Plus  bool
	Place int
}

// A Cell adds A, a plain net, and B, a function of others, to the carry of the cell below.
type Cell struct {
	A Net
	B Count
}

// A Chain is a row of cells in neighbouring columns. Its sums are the nets Out, Out+1, ..., one a cell.
type Chain struct {
	Name    string // of the sum that it belongs to
	Column  int    // of the first cell, within that sum
	CarryIn bool
	Cells   []Cell
	Out     Net
	Carry   Net // out of the last cell; Zero: not used
}

// A Graph adds up products with constants. Chains stand after those that they read.
type Graph struct {
	Inputs  []Word // nets of each input, as many bits as its range needs
	Outputs []Word
	Chains  []Chain
	Nets    int // nets are 0 to Nets-1
	Shared  int // sums that several others read
	Group   int // of the problem
}

// Costs of a Graph.
type Cost struct {
	Cells  int     // positions of chains
	LUTs   int     // cells but those that only pass a net or a carry on
	Not    int     // outputs that are complements of nets
	Levels float64 // of the longest path
}

// Delays of a cell after its inputs, and of the carry to the next one, in levels of logic. A wire and a LUT are about
// one, and the carries of some forty cells as slow as one of those.
const (
	cellDelay  = 1.1
	carryDelay = 0.025
)

// Cost counts what g takes.
func (g *Graph) Cost() Cost {
	var c Cost
	at := make([]float64, g.Nets)
	for i := range g.Chains {
		chain := &g.Chains[i]
		c.Cells += len(chain.Cells)
		for j := range chain.Cells {
			if !chain.Cells[j].bare() {
				c.LUTs++
			}
		}
		chain.arrive(at, func(n Net) float64 { return at[n] })
	}
	for _, w := range g.Outputs {
		for _, b := range w.Bits {
			c.Levels = max(c.Levels, at[b.Net])
			if b.Not {
				c.Not++
			}
		}
	}
	return c
}

// bare says whether the sum of a cell is a net plus its carry, which takes no LUT in front.
func (c *Cell) bare() bool {
	of := c.B.Of
	return !c.B.Plus && (len(of) == 0 || c.A == Zero && len(of) == 1 && !of[0].Not)
}

// arrive is when the sum of a cell is there, given when that below is, and when the nets that it reads are.
func (c *Cell) arrive(below float64, when func(Net) float64) float64 {
	in := when(c.A)
	for _, b := range c.B.Of {
		in = max(in, when(b.Net))
	}
	return max(below+carryDelay, in+cellDelay)
}

// arrive sets when the nets that c drives are there, given when those that it reads are.
func (c *Chain) arrive(at []float64, when func(Net) float64) {
	carry := 0.0
	for j := range c.Cells {
		carry = c.Cells[j].arrive(carry, when)
		at[c.Out+Net(j)] = carry
	}
	if c.Carry != Zero {
		at[c.Carry] = carry + carryDelay
	}
}

// Eval gives the outputs for inputs within their ranges.
func (g *Graph) Eval(x []int64) []int64 {
	lanes := make([][]int64, len(x))
	for i, v := range x {
		lanes[i] = []int64{v}
	}
	var y []int64
	for _, out := range g.EvalMany(lanes) {
		y = append(y, out[0])
	}
	return y
}

// EvalMany evaluates up to 64 vectors at once: x[i][k] is input i of vector k, and so are the outputs.
func (g *Graph) EvalMany(x [][]int64) [][]int64 {
	nets := make([]uint64, g.Nets)
	n := 0
	for i, w := range g.Inputs {
		n = len(x[i])
		for k, v := range x[i] {
			for j, b := range w.Bits {
				nets[b.Net] |= uint64(v>>j) & 1 << k
			}
		}
	}
	for i := range g.Chains {
		g.Chains[i].eval(nets)
	}
	y := make([][]int64, len(g.Outputs))
	for o, w := range g.Outputs {
		y[o] = make([]int64, n)
		for j, b := range w.Bits {
			v := b.of(nets)
			weight := int64(1) << j
			if w.Signed && j == len(w.Bits)-1 {
				weight = -weight
			}
			for k := range n {
				y[o][k] += int64(v>>k&1) * weight
			}
		}
	}
	return y
}

func (b Bit) of(nets []uint64) uint64 {
	if b.Not {
		return ^nets[b.Net]
	}
	return nets[b.Net]
}

func (c *Chain) eval(nets []uint64) {
	carry := uint64(0)
	if c.CarryIn {
		carry = ^uint64(0)
	}
	for j := range c.Cells {
		a, b := nets[c.Cells[j].A], c.Cells[j].B.eval(nets)
		s := a ^ b
		nets[c.Out+Net(j)] = s ^ carry
		carry = s&carry | ^s&a
	}
	if c.Carry != Zero {
		nets[c.Carry] = carry
	}
}

// eval adds bit by bit, in three planes of the count.
func (c *Count) eval(nets []uint64) uint64 {
	var plane [3]uint64
	if c.Plus {
		plane[0] = ^uint64(0)
	}
	for _, b := range c.Of {
		v := b.of(nets)
		for p := range plane {
			plane[p], v = plane[p]^v, plane[p]&v
		}
	}
	return plane[c.Place]
}
