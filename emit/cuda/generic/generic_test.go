// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"errors"
	"strings"
	"testing"

	"lathe/cuda/word"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// compiled makes the kernels of one result.
func compiled(t *testing.T, b *hlo.Builder, v hlo.Value, inputs ...hlo.Type) (*Group, string) {
	t.Helper()
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	b.Return(v)
	all := b.Program()
	p := &Program{Ops: all.Ops, Weights: all.Data()}
	for _, in := range inputs {
		p.Inputs = append(p.Inputs, Buffer{Store: TypeOf(in.DType)})
	}
	p.Results = []Result{{Op: v.Number(), Buffer: Buffer{Store: TypeOf(v.Type().DType)}}}
	n, err := Compile("k", []string{"doc"}, p)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, s := range n.Steps {
		text += kernel.Print(s.Kernel)
	}
	return n, text
}

// TestWide: indices beyond 31 bits take 64.
func TestWide(t *testing.T) {
	for elems, want := range map[int]string{3_000_000_000: "for (u64 k0 = 0; k0 < 3000000000ull; k0++)",
		2_000_000_000: "for (u32 k0 = 0; k0 < 2000000000u; k0++)"} {
		b := hlo.New("wide")
		x := hlo.TypeOf(hlo.F32, 1, elems)
		_, text := compiled(t, b, b.Reduce(hlo.ReduceAdd, b.Arg("x", x), 1), x)
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestSplit: what is read often at some cost is computed once, what is cheap is not.
func TestSplit(t *testing.T) {
	x := hlo.TypeOf(hlo.I32, 64, 64)
	for name, c := range map[string]struct {
		kernels int
		build   func(b *hlo.Builder, x hlo.Value) hlo.Value
	}{
		"a sum that is read once": {1, func(b *hlo.Builder, x hlo.Value) hlo.Value {
			return b.Neg(b.Reduce(hlo.ReduceAdd, x, 1))
		}},
		"a cheap operand of a product": {1, func(b *hlo.Builder, x hlo.Value) hlo.Value {
			return b.DotGeneral(b.Neg(x), x, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, hlo.I32)
		}},
		"a product of products": {2, func(b *hlo.Builder, x hlo.Value) hlo.Value {
			d := hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}
			return b.DotGeneral(b.DotGeneral(x, x, d, hlo.I32), x, d, hlo.I32)
		}},
	} {
		b := hlo.New(name)
		n, text := compiled(t, b, c.build(b, b.Arg("x", x)), x)
		if len(n.Steps) != c.kernels || len(n.Scratch) != c.kernels-1 || len(n.Notes) != c.kernels-1 {
			t.Errorf("%s: %d kernels, %d scratch buffers, notes %q\n%s", name, len(n.Steps), len(n.Scratch), n.Notes, text)
		}
	}
}

// TestRows: where blocks can compute rows by themselves, what is computed once lies in shared memory, and each long sum
// of integers is shared by threads; a sum over all of more than a block computes has a kernel of its own.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		rows, size, axis int
		dtype            hlo.DType
		blocks           int64 // 0: not in rows
		threads, phases  int
	}{
		{64, 64, 1, hlo.I32, 32, 128, 3}, {64, 64, 1, hlo.F32, 32, 128, 2}, {8, 700, 1, hlo.I64, 8, 512, 3},
		{3, 100, 1, hlo.I32, 1, 384, 2}, {4, 8192, 1, hlo.I32, 4, 512, 3}, {4, 8193, 1, hlo.I32, 0, 0, 0},
		{40, 30, 0, hlo.I32, 1, 512, 2}, {400, 30, 0, hlo.I32, 0, 0, 0},
	} {
		b, x := hlo.New("rows"), hlo.TypeOf(c.dtype, c.rows, c.size)
		v := b.Arg("x", x)
		sum := b.BroadcastInDim(b.ReduceKeep(hlo.ReduceAdd, b.Mul(v, v), c.axis), x.Dims, []int{0, 1})
		g, text := compiled(t, b, b.Sub(v, sum), x)
		k := g.Steps[0].Kernel
		if c.blocks == 0 {
			if len(g.Steps) != 2 || len(g.Scratch) != 1 || k.Team != 0 {
				t.Errorf("%v:\n%s", c, text)
			}
			continue
		}
		phases, barriers := strings.Count(text, "j0 < ")+strings.Count(text, "j1 < ")+strings.Count(text, "j2 < "),
			strings.Count(text, "__syncthreads();")
		if len(g.Steps) != 1 || len(g.Scratch) != 0 || k.Blocks() != c.blocks || k.Threads() != c.threads ||
			phases != c.phases || barriers != phases-1 {
			t.Errorf("%v: %d blocks of %d threads, %d phases, %d barriers\n%s", c, k.Blocks(), k.Threads(), phases, barriers,
				text)
		}
	}
}

// TestIntegers: sums that are exact in floats become sums of integers.
func TestIntegers(t *testing.T) {
	x := hlo.TypeOf(hlo.I32, 4, 8)
	for bits, want := range map[int]string{20: "i32 s0 = 0;", 50: "i64 s0 = 0ll;"} {
		b := hlo.New("sum")
		v := b.DotInt(b.Arg("x", x), b.Weight(hlo.FromInt64s(hlo.I8, []int{2, 8}, []int64{15: 3})),
			hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, bits)
		n, text := compiled(t, b, v, x)
		if strings.Contains(text, "f32") || strings.Contains(text, "f64") || !strings.Contains(text, want) {
			t.Errorf("sums of %d bits:\n%s", bits, text)
		}
		if n.Tables[0].Type != word.U8 && n.Tables[0].Type != word.I8 || len(n.Tables[0].Data) != 16 {
			t.Errorf("a table of %d bytes of %s", len(n.Tables[0].Data), n.Tables[0].Type)
		}
	}
}

func TestUnknown(t *testing.T) {
	b := hlo.New("odd")
	x := b.Convert(b.Arg("x", hlo.TypeOf(hlo.I32, 4)), hlo.I1)
	v := b.ShiftLeft(x, x)
	b.Return(v)
	p := &Program{Ops: b.Program().Ops, Inputs: []Buffer{{Store: word.I32}}, Results: []Result{{Op: v.Number()}}}
	_, err := Compile("k", nil, p)
	var unknown *UnknownError
	if !errors.As(err, &unknown) || len(unknown.Kinds) != 1 || unknown.Kinds[0] != "shift_left of i1" {
		t.Errorf("%v", err)
	}
}
