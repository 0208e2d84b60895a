// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/rtl"
)

// integers is a format seen as integers: the code q has the value (q-zero)*step.
type integers struct {
	ints format.Fixed // the codes q as numbers, F = 0, with rounding and overflow
	zero int64
	step format.Exact
}

// integersOf is the view of fixed formats and of affine ones with one scale.
func integersOf(f format.Format) (integers, bool) {
	v, ok := format.IntegersOf(f)
	return integers{v.Codes, v.Zero, v.Step}, ok
}

// span is the range of q-zero over all codes, those included that encoding never returns.
func (c integers) span() (lo, hi int64) {
	return format.Integers{Codes: c.ints, Zero: c.zero}.Span()
}

// isFixed says that codes of f are integers times a power of two, which adders and shifters compute on directly.
func isFixed(f format.Format) bool { return format.IsFixed(f) }

// exactUnary evaluates an element-wise operation by a function from the exact value to the code.
func exactUnary(n *ir.Node, f func(x format.Exact) int64) (ir.Kernel, error) {
	in := n.Args[0].Type.Format
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		for i, c := range args[0].Codes {
			out.Codes[i] = f(in.Decode(c))
		}
		return out, nil
	}, nil
}

// tabled says that an element-wise operation of one argument reads or makes codes that are no integers times a power of
// two: up to tableBits bits it is a table of its exact meaning.
func tabled(n *ir.Node) bool {
	in, out := n.Args[0].Type.Format, n.Type.Format
	if n.Type.IsFloat() || isFixed(out) && isFixed(in) {
		return false
	}
	return scalarCodes(in) && scalarCodes(out) && in.Width() <= tableBits
}

// scalarCodes says that values of f are told by one code each: tables may be made of f.
func scalarCodes(f format.Format) bool {
	_, integers := format.IntegersOf(f)
	return integers || format.Coded(f)
}

// TakesCodes says that n reads and makes codes of any scalar format as they are: it moves them, or is a table.
func TakesCodes(n *ir.Node) bool {
	t := n.Op.Traits
	if t.Table {
		return n.Args[0].Type.Format.Width() <= tableBits
	}
	return n.Op == Cast || (t.KeepsCodes || t.Joins) && !t.Compares
}

// evalTable lists the result of n for every code of its argument, indexed by the low bits of the code.
func evalTable(n *ir.Node) ([]int64, error) {
	in := format.Raw(n.Args[0].Type.Format)
	arg, m := *n.Args[0], *n
	codes := make([]int64, 1<<in.W)
	for i := range codes {
		codes[i] = int64(i)
		if in.Signed && i >= len(codes)/2 {
			codes[i] -= int64(len(codes))
		}
	}
	arg.Type.Shape, m.Type.Shape, m.Args = []int{len(codes)}, []int{len(codes)}, []*ir.Node{&arg}
	kernel, err := m.Op.Eval(&m)
	if err != nil {
		return nil, err
	}
	t, err := kernel([]*ir.Tensor{{Type: arg.Type, Codes: codes}})
	if err != nil {
		return nil, err
	}
	return t.Codes, nil
}

// affineHLO is an HLO column that looks affine codes up in a table, and leaves all others to column.
func affineHLO(column hloColumn) hloColumn {
	return func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if !tabled(n) {
			return column(b, n, args)
		}
		table, err := evalTable(n)
		if err != nil {
			return hlo.Value{}, err
		}
		return lookUp(b, n, args[0], table)
	}
}

// lookUp prints table[code & mask] for every element of x.
func lookUp(b *hlo.Builder, n *ir.Node, x hlo.Value, table []int64) (hlo.Value, error) {
	t := b.Weight(hlo.FromInt64s(carry(n.Type), []int{len(table)}, table))
	return b.TakeI(t, b.And(x, b.Splat(x, int64(len(table)-1)))), b.Err()
}

// affineRTL is an RTL column for affine codes: a table, or thresholds where codes stay what they are between two
// bounds; all other formats are left to column.
func affineRTL(column func(*ir.Node) (*rtl.Unit, error)) func(*ir.Node) (*rtl.Unit, error) {
	return func(n *ir.Node) (*rtl.Unit, error) {
		if !tabled(n) {
			return column(n)
		}
		table, err := evalTable(n)
		if err != nil {
			return nil, err
		}
		if u := bounded(n, table); u != nil {
			return u, nil
		}
		return tableUnit(n, table), nil
	}
}

// bounded is the unit of a table that keeps the codes of a run of arguments and holds one code below the run and one
// above it: relu and clip between equal formats. nil for any other table.
func bounded(n *ir.Node, table []int64) *rtl.Unit {
	in := format.Raw(n.Args[0].Type.Format)
	if in != format.Raw(n.Type.Format) {
		return nil
	}
	lo, hi := in.Min(), in.Max()
	at := func(code int64) int64 { return table[code&int64(len(table)-1)] }
	first, last := lo, hi
	for first < hi && at(first) == at(lo) {
		first++ // the first code that gives another result than the least
	}
	for last > first && at(last) == at(hi) {
		last--
	}
	for c := first; c <= last; c++ {
		if at(c) != c {
			return nil
		}
	}
	if first > last {
		return nil
	}
	return codesClip(n, in, in, clipBounds{xlo: first, xhi: last, codeLo: at(lo), codeHi: at(hi)})
}

// codesIn are the codes of t as numbers, for operations that compare them or move them: a scale above 0 and a zero
// point change nothing about their order.
func codesIn(n *ir.Node, t ir.Type) (format.Fixed, error) {
	if c, ok := integersOf(t.Format); ok {
		return c.ints, nil
	}
	return fixedOf(n, t)
}
