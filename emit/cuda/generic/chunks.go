// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"math/bits"
	"slices"

	"lathe/ir/hlo"
)

// leastChunks is the least number of elements whose reduction is shared by several threads.
const leastChunks = 32

// chunks splits reductions of integers along the last axes, which give the same in any order: parts of them by a thread
// each, and then what the parts give. The parts are marked, by their numbers in the new program.
func chunks(p *Program) (_ *Program, partial []bool) {
	r := retyper{p: p, at: make([]int, len(p.Ops))}
	var parts []int
	for n, o := range p.Ops {
		old := o.Operands
		o.Operands = slices.Clone(old)
		for i, k := range old {
			o.Operands[i] = r.at[k]
		}
		if count, size := chunksOf(p, n); count > 1 {
			t := o.Type
			t.Dims = append(slices.Clone(t.Dims), count)
			whole := t
			whole.Dims = append(slices.Clone(t.Dims), size)
			value := r.add(hlo.Operation{Kind: hlo.KindReshape, Operands: o.Operands[:1], Type: whole})
			part := hlo.Operation{Kind: hlo.KindReduce, Operands: []int{value, o.Operands[1]}, Type: t,
				Attrs: hlo.Attrs{Axes: []int{len(t.Dims)}, Reducer: o.Attrs.Reducer}}
			parts = append(parts, r.add(part))
			o.Operands = []int{len(r.ops) - 1, o.Operands[1]}
			o.Attrs.Axes = []int{len(o.Type.Dims)}
		}
		r.at[n] = r.add(o)
	}
	out := r.program()
	partial = make([]bool, len(out.Ops))
	for _, n := range parts {
		partial[n] = true
	}
	return out, partial
}

// chunksOf says into how many parts of which size the reduction n falls: about the square root of its elements; 1 where
// it stays whole.
func chunksOf(p *Program, n int) (count, size int) {
	o := &p.Ops[n]
	if o.Kind != hlo.KindReduce || !o.Type.DType.IsInt() || o.Attrs.Reducer == hlo.ReduceLast ||
		o.Attrs.Reducer == hlo.ReduceMul {
		return 1, 0
	}
	from := p.Ops[o.Operands[0]].Type
	for axis := range from.Dims { // all reduced ones behind all others
		if axis >= from.Rank()-len(o.Attrs.Axes) != slices.Contains(o.Attrs.Axes, axis) {
			return 1, 0
		}
	}
	start := p.Ops[o.Operands[1]]
	if o.Attrs.Reducer == hlo.ReduceAdd && (start.Kind != hlo.KindConstant || slices.ContainsFunc(start.Attrs.Value.Data,
		func(b byte) bool { return b != 0 })) {
		return 1, 0 // it would be added for each part
	}
	all := int(iterations(p, n))
	if all < leastChunks {
		return 1, all
	}
	for count = 1 << (bits.Len(uint(all)) / 2); all%count != 0; count-- {
	}
	return count, all / count
}
