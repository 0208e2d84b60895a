// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/dot"
	"lathe/ir/op/leaf"
	"lathe/ir/unit"
)

// levelBits is how many bits results have at most that thresholds make: their number doubles with each bit.
const levelBits = 4

// PlaceThresholds puts thresholds on exact sums in place of bias, scales, rounding, monotone functions and casts behind
// them, down to a result of few bits, where the headers of the modules say that it costs less.
func PlaceThresholds(units *unit.Cache, g *ir.Graph) error {
	users := g.Users()
	for _, n := range slices.Clone(g.Nodes) {
		bare := n.Op.Traits.Weighted && n.Op.Arity[0] <= 2 // there is a sum without a summand of its own
		if !bare || n.HW.Style == ir.StyleUnroll || n.HW.Weights != "" || n.HW.Unit != "" {
			continue
		}
		chain := levelChain(g, users, n)
		if len(chain) == 0 {
			continue
		}
		sum, ok := dot.LevelsOf(n)
		if !ok {
			continue
		}
		if low, from, ok := levels(n, chain); ok {
			putLevels(units, g, chain, sum, low, from)
		}
	}
	g.DropDead()
	return nil
}

// levelChain is n and the monotone functions behind it, one after the other, down to the last result of few bits; empty
// if there is none.
func levelChain(g *ir.Graph, users map[*ir.Node][]*ir.Node, n *ir.Node) []*ir.Node {
	chain, few := []*ir.Node{n}, 0
	for {
		if n.Type.InBlocks() || n.Type.Scales != nil {
			break
		}
		if n.Type.Format.Width() <= levelBits {
			few = len(chain)
		}
		if len(users[n]) != 1 || g.IsOutput(n) {
			break
		}
		u := users[n][0]
		t := u.Op.Traits
		if len(u.Args) != 1 || !t.Elementwise || !t.Monotone || t.KeepsCodes || format.Rounding(u.Type.Format) ==
			format.RoundStochastic {
			break
		}
		if t.Curve && n.Type.Format.Width() > curve.LookedUp { // parabolas may fall by a step where the function rises
			break
		}
		if f, fixed := format.AsFixed(u.Type.Format); fixed && f.Over == format.Wrap {
			break
		}
		chain, n = append(chain, u), u
	}
	return chain[:few]
}

// levels are the codes of the last node of a chain as numbers low, low+1, ... and for each but the first the least code
// of n from which on it is the result; false where those codes are no such numbers.
func levels(n *ir.Node, chain []*ir.Node) (low int64, from []int64, ok bool) {
	code, err := functionOf(chain)
	in, fixed := format.AsFixed(n.Type.Format)
	if err != nil || !fixed {
		return 0, nil, false
	}
	f := chain[len(chain)-1].Type.Format
	rank := ranks(f)
	at := func(q int64) int {
		c, e := code(q)
		if err = e; e != nil {
			return 0
		}
		return rank[c&(1<<f.Width()-1)]
	}
	least, most := at(in.Min()), at(in.Max())
	if least >= most {
		return 0, nil, false
	}
	for r := least + 1; r <= most; r++ {
		from = append(from, format.First(in.Min(), in.Max(), func(q int64) bool { return at(q) >= r }))
	}
	low, ok = numbered(f, rank, least, most)
	return low, from, ok && err == nil
}

// ranks is, for each code of f, its place among the values of all codes, -0 below 0.
func ranks(f format.Format) []int {
	var codes []int64
	raw := format.Raw(f)
	for c := raw.Min(); c <= raw.Max(); c++ {
		codes = append(codes, c)
	}
	order := func(a, b int64) int {
		x, y := f.Decode(a), f.Decode(b)
		if by := x.Cmp(y); by != 0 || x.Signbit() == y.Signbit() {
			return by
		} else if x.Signbit() {
			return -1
		}
		return 1
	}
	slices.SortStableFunc(codes, order)
	rank, mask := make([]int, 1<<f.Width()), int64(1)<<f.Width()-1
	place := 0
	for i, c := range codes {
		if i > 0 && order(c, codes[i-1]) > 0 {
			place++
		}
		rank[c&mask] = place
	}
	return rank
}

// numbered is the code of rank least as a number from which on codes ascend by one, modulo their bits.
func numbered(f format.Format, rank []int, least, most int) (low int64, ok bool) {
	raw := format.Raw(f)
	first := raw.Min()
	if !raw.Signed {
		first = -int64(len(rank)) / 2
	}
	for low = first; low+int64(most-least) <= raw.Max(); low++ {
		ok = true
		for r := least; r <= most; r++ {
			c := (low + int64(r-least)) & int64(len(rank)-1)
			v := c
			if raw.Signed && c >= int64(len(rank))/2 {
				v -= int64(len(rank))
			}
			ok = ok && rank[c] == r && f.Encode(f.Decode(v)) == v
		}
		if ok {
			return low, true
		}
	}
	return 0, false
}

// functionOf is the code of the last node of a chain for a code of the first one.
func functionOf(chain []*ir.Node) (func(q int64) (int64, error), error) {
	var kernels []ir.Kernel
	before := *chain[0] // a node that makes a single element
	before.Type.Shape = []int{1}
	first, last := before.Type, &before
	for _, n := range chain[1:] {
		one := *n // a kernel reads its node at each call
		one.Type.Shape, one.Args = []int{1}, []*ir.Node{last}
		k, err := n.Op.Eval(&one)
		if err != nil {
			return nil, err
		}
		kernels, last = append(kernels, k), &one
	}
	return func(q int64) (int64, error) {
		x := &ir.Tensor{Type: first, Codes: []int64{q}}
		for _, k := range kernels {
			y, err := k([]*ir.Tensor{x})
			if err != nil {
				return 0, err
			}
			x = y
		}
		return x.Codes[0], nil
	}, nil
}

// putLevels makes the last node of a chain thresholds on the exact sum of the first, if that costs less.
func putLevels(units *unit.Cache, g *ir.Graph, chain []*ir.Node, sum *dot.Levels, low int64, from []int64) {
	n, last := chain[0], chain[len(chain)-1]
	weights := &ir.Node{Name: g.FreshName(n.Name + ".integers"), Op: leaf.Const, Pos: n.Pos,
		Attrs: ir.Computed(ir.CodeBlob(sum.Weights)),
		Type:  ir.Type{Shape: n.Args[1].Type.Shape, Format: sum.WeightFormat}}
	exact := *n
	exact.Name, exact.Args = g.FreshName(n.Name+".sum"), []*ir.Node{n.Args[0], weights}
	exact.Type.Format, exact.Stats = sum.Sum, ir.Stats{}
	rows := n.Args[1].Type.Shape[0]
	at := make([]int64, rows*len(from))
	for k, q := range from {
		for c, v := range sum.From(q) {
			at[c*len(from)+k] = v
		}
	}
	t := &ir.Node{Name: g.FreshName(n.Name + ".thresholds"), Op: leaf.Const, Pos: n.Pos,
		Attrs: ir.Computed(ir.CodeBlob(at)), Type: ir.Type{Shape: []int{rows, len(from)},
			Format: format.Fixed{W: sum.Sum.W + 1, F: sum.Sum.F, Signed: true}}}
	counts := *last
	counts.Op, counts.Attrs, counts.Args = curve.Threshold, &curve.ThresholdAttrs{Low: int(low)}, []*ir.Node{&exact, t}
	if last == n {
		counts.HW = ir.HW{Widths: ir.Widths{InLanes: n.HW.OutLanes, OutLanes: n.HW.OutLanes, StreamIn: n.HW.OutLanes}}
	}
	if rows%counts.HW.InLanes != 0 {
		return
	}
	was, known := luts(units, chain...)
	now, also := luts(units, &exact, &counts)
	wider := n.HW.OutLanes * (sum.Sum.W - n.Type.Format.Width()) // of what narrows the stream
	if !known || !also || now+max(wider, 0) >= was {
		return
	}
	for _, x := range []*ir.Node{weights, &exact, t} {
		g.InsertBefore(last, x)
	}
	*last = counts
}

// luts is what the units of nodes cost, in LUTs; false where one of them has none.
func luts(units *unit.Cache, nodes ...*ir.Node) (total int, ok bool) {
	for _, n := range nodes {
		f, err := units.Facts(n)
		if err != nil {
			return 0, false
		}
		total += f.Cost.LUT + units.Part.LUTsPerDSP()*f.Cost.DSP
	}
	return total, true
}
