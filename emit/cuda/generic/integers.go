// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"slices"

	"lathe/ir/hlo"
)

// integers replaces floats that only carry exact integer sums by integers: XLA multiplies floats faster, a GPU does
// not.
func integers(p *Program) *Program {
	r := retyper{p: p, at: make([]int, len(p.Ops)), twins: map[twin]int{}, sums: map[int]int{}}
	for n, o := range p.Ops {
		o.Operands = slices.Clone(o.Operands)
		for i, k := range o.Operands {
			o.Operands[i] = r.at[k]
		}
		d := o.Type.DType
		switch {
		case o.Attrs.Exact && d.IsFloat():
			d = wordOf(d)
			for i, k := range p.Ops[n].Operands {
				o.Operands[i] = r.twin(k, d)
			}
			o.Type.DType = d
			r.ops = append(r.ops, o)
			sum := len(r.ops) - 1
			r.at[n] = r.add(hlo.Operation{Kind: hlo.KindConvert, Operands: []int{sum}, Type: p.Ops[n].Type})
			r.sums[r.at[n]] = sum
			continue
		case o.Kind == hlo.KindConvert && d.IsInt():
			if sum, ok := r.sums[o.Operands[0]]; ok {
				o.Operands[0] = sum
			}
		case o.Kind == hlo.KindReshape: // of a sum, on its way to a conversion
			if sum, ok := r.sums[o.Operands[0]]; ok {
				t := o.Type.With(r.ops[sum].Type.DType)
				moved := r.add(hlo.Operation{Kind: hlo.KindReshape, Operands: []int{sum}, Type: t})
				r.at[n] = r.add(hlo.Operation{Kind: hlo.KindConvert, Operands: []int{moved}, Type: o.Type})
				r.sums[r.at[n]] = moved
				continue
			}
		}
		r.at[n] = r.add(o)
	}
	return r.program()
}

// program is the old one with the new operations.
func (r *retyper) program() *Program {
	out := *r.p
	out.Ops = r.ops
	out.Results = slices.Clone(r.p.Results)
	for i := range out.Results {
		out.Results[i].Op = r.at[out.Results[i].Op]
	}
	return &out
}

// wordOf is the integer type that holds every exact sum of a float type.
func wordOf(d hlo.DType) hlo.DType {
	if d == hlo.F32 {
		return hlo.I32 // sums stay below 2^24
	}
	return hlo.I64
}

// twin is the value of an operation of the old program in another type.
type twin struct {
	op int
	d  hlo.DType
}

type retyper struct {
	p     *Program
	ops   []hlo.Operation
	at    []int // old numbers to new ones
	twins map[twin]int
	sums  map[int]int // conversions to float: the exact integer sums that they convert
}

func (r *retyper) add(o hlo.Operation) int {
	r.ops = append(r.ops, o)
	return len(r.ops) - 1
}

// twin returns the number of old operation n with integers of type d, where it holds integers.
func (r *retyper) twin(n int, d hlo.DType) int {
	if k, ok := r.twins[twin{n, d}]; ok {
		return k
	}
	o := r.p.Ops[n]
	c := hlo.Operation{Kind: hlo.KindConvert, Operands: []int{r.at[n]}, Type: o.Type.With(d)}
	switch o.Kind {
	case hlo.KindConvert:
		if from := o.Operands[0]; r.p.Ops[from].Type.DType.IsInt() {
			c.Operands[0] = r.at[from]
		}
	case hlo.KindReshape, hlo.KindTranspose, hlo.KindBroadcast, hlo.KindSlice, hlo.KindReverse, hlo.KindPad,
		hlo.KindConcatenate:
		c.Kind, c.Attrs, c.Operands = o.Kind, o.Attrs, make([]int, len(o.Operands))
		for i, k := range o.Operands {
			c.Operands[i] = r.twin(k, d)
		}
	}
	k := r.add(c)
	r.twins[twin{n, d}] = k
	return k
}
