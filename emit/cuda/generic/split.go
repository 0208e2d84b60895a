// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"fmt"
	"slices"

	"lathe/ir/hlo"
)

// A value is computed once, by a kernel of its own, when each element would otherwise be computed dearTimes or more and
// costs dearCost operations or more each time.
const (
	dearTimes = 2
	dearCost  = 16
)

// plan is which operations have kernels of their own, in order, and why.
type plan struct {
	own   []int
	notes []string
}

// split chooses such values twice: the second time each costs what is left when the others are loaded.
// Those of forced, nil for none, are among them in any case.
func split(p *Program, forced []bool) plan {
	first := choose(p, make([]bool, len(p.Ops)), forced)
	own := make([]bool, len(p.Ops))
	for _, n := range first.own {
		own[n] = true
	}
	return choose(p, own, forced)
}

// choose walks from the results back and counts how often each operation would be evaluated. Operations of before are
// taken to be loaded where others read them.
func choose(p *Program, before, forced []bool) plan {
	s := splitter{p: p, own: before}
	moved := make([]float64, len(p.Ops))  // evaluations at indices of their own
	shared := make([]float64, len(p.Ops)) // the most that element-wise readers ask for: they share an index
	for _, r := range p.Results {
		shared[r.Op] = max(shared[r.Op], float64(p.Ops[r.Op].Type.Len()))
	}
	var out plan
	for n := len(p.Ops) - 1; n >= 0; n-- {
		o := &p.Ops[n]
		demand := moved[n] + shared[n]
		elems := float64(max(o.Type.Len(), 1))
		if forced != nil && forced[n] && demand > 0 {
			demand = elems
			out.own = append(out.own, n)
		} else if times := demand / elems; times >= dearTimes && !source(o.Kind) {
			if cost := s.cost(n); cost >= dearCost {
				demand = elems
				out.own = append(out.own, n)
				out.notes = append(out.notes, fmt.Sprintf("%s %s is computed once: it costs %.0f operations an element and is "+
					"read %.0f times", kindName(o.Kind), o.Type, cost, times))
			}
		}
		each := demand * iterations(p, n)
		for _, k := range o.Operands {
			switch {
			case elementwise(o.Kind):
				shared[k] = max(shared[k], each)
			case o.Kind == hlo.KindConcatenate: // each element of the result reads one of them
				moved[k] += each * float64(p.Ops[k].Type.Len()) / elems
			default:
				moved[k] += each
			}
		}
	}
	slices.Reverse(out.own)
	slices.Reverse(out.notes)
	return out
}

type splitter struct {
	p   *Program
	own []bool
}

// cost is the operations that an element of n takes where it is computed.
func (s *splitter) cost(n int) float64 { return s.visit(n, map[int]bool{}, true) }

// visit counts each operation once, since evaluations at one index are shared, and loops as often as they run.
func (s *splitter) visit(n int, seen map[int]bool, root bool) float64 {
	o := &s.p.Ops[n]
	if seen[n] || source(o.Kind) {
		return 0
	}
	seen[n] = true
	if s.own[n] && !root {
		return 1
	}
	if count := iterations(s.p, n); looped(o.Kind) {
		inner, each := map[int]bool{}, 2.0
		for _, k := range o.Operands {
			each += s.visit(k, inner, false)
		}
		return count * each
	}
	sum := 1.0
	switch o.Kind {
	case hlo.KindReshape, hlo.KindBroadcast, hlo.KindTranspose, hlo.KindSlice, hlo.KindReverse:
		sum = 0
	}
	for _, k := range o.Operands {
		sum += s.visit(k, seen, false)
	}
	return sum
}

// source says that an operation is a literal or a load.
func source(k hlo.Kind) bool {
	return k == hlo.KindInput || k == hlo.KindWeight || k == hlo.KindConstant || k == hlo.KindIota
}

// looped says that an element of the result comes of a loop over many.
func looped(k hlo.Kind) bool {
	switch k {
	case hlo.KindReduce, hlo.KindReduceWindow, hlo.KindDot, hlo.KindConvolution, hlo.KindScatter, kindRank, kindRanked:
		return true
	}
	return false
}

// elementwise says that operands are read at the index of the result.
func elementwise(k hlo.Kind) bool {
	switch k {
	case hlo.KindReshape, hlo.KindBroadcast, hlo.KindTranspose, hlo.KindSlice, hlo.KindReverse, hlo.KindPad,
		hlo.KindConcatenate, hlo.KindGather:
		return false
	}
	return !looped(k)
}

// iterations is how many elements of its operands an element of operation n reads.
func iterations(p *Program, n int) float64 {
	o := &p.Ops[n]
	count := 1
	switch o.Kind {
	case hlo.KindReduce:
		for _, a := range o.Attrs.Axes {
			count *= p.Ops[o.Operands[0]].Type.Dims[a]
		}
	case hlo.KindReduceWindow:
		for _, d := range o.Attrs.Window.Size {
			count *= d
		}
	case hlo.KindDot:
		for _, a := range o.Attrs.Dot.LhsContract {
			count *= p.Ops[o.Operands[0]].Type.Dims[a]
		}
	case hlo.KindScatter:
		count = p.Ops[o.Operands[1]].Type.Dims[0]
	case kindRank, kindRanked:
		count = o.Type.Dims[o.Attrs.Axes[0]]
	case hlo.KindConvolution:
		kernel := p.Ops[o.Operands[1]].Type
		features := kernel.Dims[axisOf(o.Attrs.Conv.Kernel, 'o')]
		count = kernel.Len() / max(features, 1)
	}
	return float64(count)
}
