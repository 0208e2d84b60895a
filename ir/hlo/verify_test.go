// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// looping is a program with a loop in a loop, a sort, a requantize and sums.
func looping(t *testing.T) *hlo.Program {
	t.Helper()
	b := hlo.New("looping")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 3, 2))
	w := b.Weight(hlo.FromInt64s(hlo.I32, []int{2, 2}, []int64{1, 2, 3, 4}))
	b.At("first")
	two := b.Int(hlo.I32, 2)
	out := b.Times(3, []hlo.Value{b.Splat(x, 0)}, func(i hlo.Value, now []hlo.Value) []hlo.Value {
		row := b.Times(2, []hlo.Value{b.Row(x, 0, i)}, func(_ hlo.Value, now []hlo.Value) []hlo.Value {
			return []hlo.Value{b.Mul(now[0], b.Splat(now[0], 2))}
		})
		return []hlo.Value{b.PutRow(now[0], row[0], 0, i)}
	})
	b.At("second")
	dot := b.DotInt(out[0], w, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, 20)
	q := b.Requant(dot, hlo.Requantize{Bits: 20, Shift: hlo.Shift{By: []int{1, 2}, Axis: 1}, Width: 8, Signed: true,
		Out: hlo.I8})
	values, places := b.SortPlaces(b.Convert(q, hlo.I32), 0, true)
	turned := b.Transpose(b.Reshape(values, 2, 3), 1, 0)
	sum := b.Reduce(hlo.ReduceAdd, b.Select(b.Compare(hlo.GT, values, two), values, turned), 0)
	b.Return(sum, places, b.ScatterRows(hlo.ReduceAdd, values, b.Iota(hlo.TypeOf(hlo.I32, 2), 0), w))
	p := b.Program()
	if p == nil {
		t.Fatal(b.Err())
	}
	return p
}

// of is the first operation of a kind.
func of(p *hlo.Program, k hlo.Kind) *hlo.Operation {
	return &p.Ops[slices.IndexFunc(p.Ops, func(o hlo.Operation) bool { return o.Kind == k })]
}

// faults are changes that make the program unsound, and what is said of them.
var faults = map[string]struct {
	change func(p *hlo.Program)
	want   string
}{
	"reads later": {func(p *hlo.Program) {
		of(p, hlo.KindSelect).Operands[1] = len(p.Ops) - 1
	}, "does not see"},
	"reads itself": {func(p *hlo.Program) {
		o := of(p, hlo.KindWhile)
		o.Operands[1] = o.Regions[0].From - 1
	}, "does not see"},
	"reads nothing": {func(p *hlo.Program) { of(p, hlo.KindSelect).Operands[0] = -1 }, "does not see"},
	"reads a region": {func(p *hlo.Program) {
		of(p, hlo.KindDot).Operands[0] = of(p, hlo.KindWhile).Regions[1].From
	}, "does not see"},
	"returns a region": {func(p *hlo.Program) {
		p.Results[0] = of(p, hlo.KindWhile).Regions[1].From
	}, "does not see"},
	"region returns outer's later": {func(p *hlo.Program) {
		of(p, hlo.KindWhile).Regions[1].Results[1] = of(p, hlo.KindWhile).Regions[1].To
	}, "does not see"},
	"returns nothing": {func(p *hlo.Program) { p.Results = nil }, "returns nothing"},
	"no kind":         {func(p *hlo.Program) { of(p, hlo.KindDot).Kind = hlo.KindInvalid }, "unknown kind"},
	"own kind":        {func(p *hlo.Program) { of(p, hlo.KindDot).Kind = hlo.NumKinds }, "unknown kind"},
	"fewer operands": {func(p *hlo.Program) {
		o := of(p, hlo.KindSelect)
		o.Operands = o.Operands[:2]
	}, "2 operands"},
	"more operands": {func(p *hlo.Program) {
		o := of(p, hlo.KindConvert)
		o.Operands = []int{0, 0}
	}, "2 operands"},
	"element type": {func(p *hlo.Program) { of(p, hlo.KindTranspose).Type.DType = hlo.I64 }, "transpose"},
	"no type":      {func(p *hlo.Program) { of(p, hlo.KindConvert).Type.DType = "i4" }, "element type"},
	"shape":        {func(p *hlo.Program) { of(p, hlo.KindReduce).Type.Dims = []int{3} }, "reduce"},
	"other shape":  {func(p *hlo.Program) { of(p, hlo.KindReshape).Type.Dims = []int{7} }, "param 1"},
	"no change": {func(p *hlo.Program) {
		o := of(p, hlo.KindReshape)
		o.Type = p.Ops[o.Operands[0]].Type
	}, "param 1"},
	"other operands": {func(p *hlo.Program) { of(p, hlo.KindMultiply).Operands[1] = 0 }, "multiply"},
	"spread scalar": {func(p *hlo.Program) {
		o := of(p, hlo.KindCompare)
		*o = *of(p, hlo.KindMultiply)
		o.Operands = []int{0, 0}
	}, "region gives"},
	"foreign attribute": {func(p *hlo.Program) { of(p, hlo.KindSelect).Attrs.Axes = []int{0} }, "attributes"},
	"foreign regions":   {func(p *hlo.Program) { of(p, hlo.KindSelect).Regions = []hlo.Region{{}} }, "attributes"},
	"axis":              {func(p *hlo.Program) { of(p, hlo.KindReduce).Attrs.Axes = []int{2} }, "reduce"},
	"no axis":           {func(p *hlo.Program) { of(p, hlo.KindSort).Attrs.Axes = nil }, "sort"},
	"reducer":           {func(p *hlo.Program) { of(p, hlo.KindReduce).Attrs.Reducer = hlo.ReduceLast }, "reduce"},
	"scatter":           {func(p *hlo.Program) { of(p, hlo.KindScatter).Attrs.Reducer = "or" }, "scatter"},
	"relation":          {func(p *hlo.Program) { of(p, hlo.KindCompare).Attrs.Dir = "LARGER" }, "relation"},
	"order":             {func(p *hlo.Program) { of(p, hlo.KindSort).Attrs.Dir = hlo.NE }, "sort"},
	"contracted axes":   {func(p *hlo.Program) { of(p, hlo.KindDot).Attrs.Dot.LhsContract = []int{0} }, "dot"},
	"permutation":       {func(p *hlo.Program) { of(p, hlo.KindTranspose).Attrs.Axes = []int{0, 1} }, "transpose"},
	"code range": {func(p *hlo.Program) {
		of(p, hlo.KindRequantize).Attrs.Requantize.Width = 9
	}, "requantize"},
	"shifts": {func(p *hlo.Program) {
		of(p, hlo.KindRequantize).Attrs.Requantize.Shift.Axis = 0
	}, "shifts"},
	"constant":          {func(p *hlo.Program) { of(p, hlo.KindConstant).Type.DType = hlo.I64 }, "constant"},
	"index of an input": {func(p *hlo.Program) { of(p, hlo.KindInput).Attrs.Index = 1 }, "argument 1"},
	"type of an input":  {func(p *hlo.Program) { p.Inputs[0].Type.DType = hlo.F32 }, "argument 0"},
	"unused argument":   {func(p *hlo.Program) { p.Inputs = append(p.Inputs, p.Inputs[0]) }, "arguments"},
	"donation":          {func(p *hlo.Program) { p.Inputs[0].Becomes = 1 }, "cannot become"},
	"data":              {func(p *hlo.Program) { p.Weights[0].Data.Data = nil }, "data"},
	"place":             {func(p *hlo.Program) { of(p, hlo.KindDot).Place = 9 }, "place 9"},
	"place before":      {func(p *hlo.Program) { of(p, hlo.KindDot).Place = 0 }, "place 0"},
	"stray param": {func(p *hlo.Program) {
		*of(p, hlo.KindIota) = hlo.Operation{Kind: hlo.KindParam, Type: hlo.TypeOf(hlo.I32, 2), Place: 2}
	}, "beginning"},
	"result of none":   {func(p *hlo.Program) { of(p, hlo.KindResult).Operands[0] = 0 }, "result 1"},
	"result too far":   {func(p *hlo.Program) { of(p, hlo.KindResult).Attrs.Index = 2 }, "result 2"},
	"type of a result": {func(p *hlo.Program) { of(p, hlo.KindResult).Type.DType = hlo.I8 }, "result 1"},
	"one region": {func(p *hlo.Program) {
		o := of(p, hlo.KindWhile)
		o.Regions = o.Regions[:1]
	}, "regions"},
	"regions apart":   {func(p *hlo.Program) { of(p, hlo.KindWhile).Regions[1].From++ }, "region"},
	"region too long": {func(p *hlo.Program) { of(p, hlo.KindWhile).Regions[1].To = len(p.Ops) + 1 }, "region"},
	"no params": {func(p *hlo.Program) {
		of(p, hlo.KindWhile).Regions[0].To = of(p, hlo.KindWhile).Regions[0].From
	}, "region"},
	"param": {func(p *hlo.Program) { of(p, hlo.KindParam).Attrs.Index = 1 }, "param 0"},
	"test of a number": {func(p *hlo.Program) {
		r := of(p, hlo.KindWhile).Regions
		r[0].Results[0] = r[0].From
	}, "gives"},
	"round of one value": {func(p *hlo.Program) {
		r := of(p, hlo.KindWhile).Regions
		r[1].Results = r[1].Results[:1]
	}, "gives"},
	"places": {func(p *hlo.Program) { of(p, hlo.KindDynamicSlice).Operands[1] = 0 }, "dynamic_slice"},
	"part": {func(p *hlo.Program) {
		of(p, hlo.KindDynamicUpdate).Operands[1] = 0
		of(p, hlo.KindDynamicUpdate).Type.Dims = []int{1, 2}
	}, "region gives"},
}

// TestVerify accepts a sound program, also expanded, and refuses each fault at the place of the operation.
func TestVerify(t *testing.T) {
	p := looping(t)
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	e := p.Expand()
	if err := e.Verify(); err != nil {
		t.Error(err)
	}
	kinds := func(p *hlo.Program) (n int) {
		for _, o := range p.Ops {
			if o.Kind == hlo.KindRequantize {
				n++
			}
		}
		return n
	}
	if kinds(p) != 1 || kinds(e) != 0 || e.Expand() != e {
		t.Errorf("%d marks, %d expanded", kinds(p), kinds(e))
	}
	for name, f := range faults {
		p := looping(t)
		f.change(p)
		err := p.Verify()
		if diag.CodeOf(err) != diag.HLOBuild || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: %v, want %q", name, err, f.want)
		}
	}
	broken := looping(t)
	of(broken, hlo.KindDot).Type.Dims = []int{2, 2}
	if err := broken.Verify(); err == nil || !strings.HasPrefix(err.Error(), "second: ") {
		t.Errorf("the place is lost: %v", err)
	}
}
