// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"fmt"
	"slices"

	"lathe/cuda/word"
	"lathe/emit/cuda/index"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// Norms, softmax and scales of blocks compute few numbers of a row from all of it, and then the row from them. A block
// of threads does that for rows of its own, in one launch: values that are computed once lie in shared memory, and
// threads wait for each other before they are read.

const (
	// mostRow bounds the elements that a block computes of one value, and mostShared its bytes of shared memory.
	mostRow    = 8192
	mostShared = 32 << 10
	// leastTeam and mostTeam bound the threads of a block.
	leastTeam, mostTeam = kernel.Threads, 512
	// mostTaps bounds products that are summed: more of them want as many threads as there are.
	mostTaps = 16
)

// rows is what a kernel whose blocks compute rows knows beside.
type rows struct {
	row   index.Expr // the row of the block
	count int64
	local map[int]*kernel.Param // shared buffers, of operations
	// written are those written since the last barrier; waits says that one was read.
	written map[*kernel.Param]bool
	waits   bool
	crosses bool // a value of another row is read
}

// inRows compiles p as one kernel whose blocks compute rows; nil where values of one row need those of another one, or
// rows are too long.
func inRows(name string, doc []string, p *Program) *Group {
	p, partial := chunks(p)
	if sumsProducts(p) {
		return nil
	}
	own := split(p, partial).own
	for _, count := range rowCounts(p, own) {
		c := &compiler{p: p, name: name, doc: doc, group: &Group{}, tables: map[int]int{}}
		g := widened(func(as word.Type) *gen { return c.rowKernel(count, own, as) })
		if g.err != nil || g.rows.crosses {
			continue
		}
		c.add(g)
		c.group.Notes = []string{fmt.Sprintf("a block of %d threads computes one of %d rows, with what is computed once in "+
			"shared memory", g.k.Threads(), count)}
		return c.group
	}
	return nil
}

// sumsProducts says that elements of p sum many products.
func sumsProducts(p *Program) bool {
	for n, o := range p.Ops {
		switch o.Kind {
		case hlo.KindDot, hlo.KindConvolution, kindRank, kindRanked, hlo.KindScatter:
			if iterations(p, n) > mostTaps {
				return true
			}
		}
	}
	return false
}

// rowCounts are the numbers of rows that may be: those that divide all results and values computed once, with short
// rows first that keep a team of threads busy.
func rowCounts(p *Program, own []int) (counts []int64) {
	all := slices.Clone(own)
	for _, r := range p.Results {
		all = append(all, r.Op)
	}
	most, divisor := 0, 0
	for _, n := range all {
		size := p.Ops[n].Type.Len()
		if size == 0 {
			return nil
		}
		most, divisor = max(most, size), gcd(divisor, size)
	}
	short := most / min(most, leastTeam) // rows of at least a team
	for count := min(divisor, short); count > 0 && most/count <= mostRow; count-- {
		if divisor%count != 0 {
			continue
		}
		bytes := 0
		for _, n := range own {
			t := p.Ops[n].Type
			bytes += t.Len() / count * TypeOf(t.DType).Bytes()
		}
		if bytes <= mostShared {
			counts = append(counts, int64(count))
		}
	}
	return counts
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// rowKernel writes the kernel: a phase for each of own, and one for each result.
func (c *compiler) rowKernel(count int64, own []int, w word.Type) *gen {
	g := newGen(c, c.name, count, w)
	g.rows = &rows{count: count, local: map[int]*kernel.Param{}, written: map[*kernel.Param]bool{}}
	g.rows.row = g.variable("r", count)
	g.k.Index = g.vars["r0"]
	longest := int64(0)
	for _, n := range own {
		t := c.p.Ops[n].Type
		each := int64(t.Len()) / count
		p := &kernel.Param{Name: g.name("t"), Type: TypeOf(t.DType), Stride: each, Shared: true,
			Doc: "of " + dims(t)}
		g.phase(n, n, each, func(at index.Expr, v *kernel.Expr) {
			g.top().block.Add(kernel.Store{Param: p, Index: g.code(at), Value: v})
		})
		g.k.Local, g.rows.local[n] = append(g.k.Local, p), p
		g.rows.written[p] = true
		longest = max(longest, each)
	}
	for i, r := range c.p.Results {
		size := int64(c.p.Ops[r.Op].Type.Len())
		out := &kernel.Param{Name: g.name("y"), Type: r.Store, Out: true, Stride: size, Doc: r.Doc}
		g.k.Params, g.args = append(g.k.Params, out), append(g.args, Ref{Output, i})
		g.phase(r.Op, -1, size/count, func(at index.Expr, v *kernel.Expr) {
			to := g.space.Add(g.space.Scale(g.rows.row, size/count), at)
			g.top().block.Add(kernel.Store{Param: out, Index: g.code(to), Value: kernel.Convert(r.Store, v)})
		})
		longest = max(longest, size/count)
	}
	g.k.Team = int(min(max((longest+leastTeam-1)/leastTeam*leastTeam, leastTeam), mostTeam))
	return g
}

// phase computes each elements of operation n, those of the block's row, and has them stored.
func (g *gen) phase(n, root int, each int64, store func(at index.Expr, v *kernel.Expr)) {
	g.root, g.rows.waits = root, false
	at := g.variable("j", each)
	block := &kernel.Block{}
	v := g.vars[g.space.Atom(at.Terms[0].Atom).Name]
	if each == 1 {
		at = index.Const(0)
	}
	g.inside(block, func() {
		flat := g.space.Add(g.space.Scale(g.rows.row, each), at)
		if v := g.eval(n, g.space.Apart(flat, g.c.p.Ops[n].Type.Dims)); v != nil {
			store(at, v)
		}
	})
	if g.rows.waits {
		g.top().block.Add(kernel.Barrier{})
		clear(g.rows.written)
	}
	g.top().block.Add(kernel.Each{Var: v, Count: each, Body: block})
}

// loadLocal reads an element of a shared buffer, which must be of the block's row.
func (g *gen) loadLocal(p *kernel.Param, flat index.Expr) *kernel.Expr {
	if g.rows.count > 1 && g.space.Div(flat, p.Stride).Key() != g.rows.row.Key() {
		g.rows.crosses = true
	}
	g.rows.waits = g.rows.waits || g.rows.written[p]
	return kernel.Element(p, g.code(g.space.Mod(flat, p.Stride)))
}
