// SPDX-License-Identifier: Apache-2.0

// Package pointwise holds the operations that compute each element of the result from the elements at its place.
package pointwise

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

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
// two: up to TableBits bits it is a table of its exact meaning.
func tabled(n *ir.Node) bool {
	in, out := n.Args[0].Type.Format, n.Type.Format
	if n.Type.IsFloat() || arith.IsFixed(out) && arith.IsFixed(in) {
		return false
	}
	return ScalarCodes(in) && ScalarCodes(out) && in.Width() <= arith.TableBits
}

// ScalarCodes says that values of f are told by one code each: tables may be made of f.
func ScalarCodes(f format.Format) bool {
	_, integers := format.IntegersOf(f)
	return integers || format.Coded(f)
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
func affineHLO(column carrier.Column) carrier.Column {
	return func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if !tabled(n) {
			return column(b, n, args)
		}
		table, err := evalTable(n)
		if err != nil {
			return hlo.Value{}, err
		}
		return LookUp(b, n, args[0], table)
	}
}

// LookUp prints table[code & mask] for every element of x.
func LookUp(b *hlo.Builder, n *ir.Node, x hlo.Value, table []int64) (hlo.Value, error) {
	t := b.Weight(hlo.FromInt64s(carrier.DType(n.Type), []int{len(table)}, table))
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
		return hardware.Table(n, table)
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
