// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/emit/cuda/generic"
	"lathe/emit/cuda/kernel"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir/hlo"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// primitive is a program in StableHLO operations that kernels are held to on XLA, with its inputs. Operations of graphs
// use few forms of each; these are the others.
type primitive struct {
	name  string
	build func(b *hlo.Builder, x []hlo.Value) []hlo.Value
	in    []hlo.Array
}

// randomInts fills a tensor with numbers of all sizes, extremes among them.
func randomInts(r *rand.Rand, d hlo.DType, dims ...int) hlo.Array {
	v := make([]int64, hlo.TypeOf(d, dims...).Len())
	n := d.Bits()
	for i := range v {
		x := int64(r.Uint64()) >> (64 - n) >> r.IntN(n)
		if !d.IsSigned() {
			x &= 1<<(n-1) - 1
		}
		switch r.IntN(12) {
		case 0:
			x = 0
		case 1:
			x = 1<<(n-1) - 1
		case 2:
			if x = -1 << (n - 1); !d.IsSigned() {
				x = 1
			}
		case 3:
			if x = -1; !d.IsSigned() {
				x = 2
			}
		}
		v[i] = x
	}
	return hlo.FromInt64s(d, dims, v)
}

// small are integers of up to three bits.
func small(r *rand.Rand, d hlo.DType, dims ...int) hlo.Array {
	v := make([]int64, hlo.TypeOf(d, dims...).Len())
	for i := range v {
		v[i] = r.Int64N(15) - 7
	}
	return hlo.FromInt64s(d, dims, v)
}

func one(v hlo.Value) []hlo.Value { return []hlo.Value{v} }

// wordPrimitives are element-wise operations on all integer types.
func wordPrimitives(r *rand.Rand) (list []primitive) {
	for _, d := range []hlo.DType{hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64} {
		list = append(list, primitive{"words of " + string(d), func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			p, q := x[0], x[1]
			by := b.And(q, b.Splat(q, 127)) // shifts beyond the width too
			out := []hlo.Value{b.Add(p, q), b.Sub(p, q), b.Mul(p, q), b.Max(p, q), b.Min(p, q), b.And(p, q), b.Or(p, q),
				b.Xor(p, q), b.Not(p), b.PopCount(p), b.CountLeadingZeros(p), b.ShiftLeft(p, by), b.ShiftRightLogical(p, by),
				b.Select(b.Compare(hlo.LT, p, q), p, q), b.Select(b.Compare(hlo.GE, p, q), b.Not(p), q),
				b.Clamp(b.Int(d, 3), p, b.Int(d, 100)), b.Div(p, q), b.Rem(p, q)}
			if d.IsSigned() {
				out = append(out, b.ShiftRightArith(p, by), b.Neg(p), b.Abs(p), b.Sign(p))
			}
			for _, to := range []hlo.DType{hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64, hlo.F32, hlo.F64} {
				out = append(out, b.Convert(p, to))
			}
			return append(out, b.Convert(b.Compare(hlo.NE, p, q), hlo.I32), b.Compare(hlo.EQ, p, q))
		}, []hlo.Array{randomInts(r, d, 1, 300), randomInts(r, d, 1, 300)}})
	}
	return list
}

// movePrimitives choose, repeat and join elements.
func movePrimitives(r *rand.Rand) []primitive {
	x := func(dims ...int) []hlo.Array { return []hlo.Array{randomInts(r, hlo.I32, dims...)} }
	return []primitive{
		{"reshape and transpose", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			v := b.Transpose(b.Reshape(x[0], 3, 4, 2, 5), 2, 0, 3, 1)
			return []hlo.Value{v, b.Reshape(v, 15, 8), b.Transpose(b.Reshape(b.Transpose(x[0], 1, 2, 0), 8, 15), 1, 0)}
		}, x(1, 12, 10)},
		{"pad", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			v := b.Pad(x[0], b.Int(hlo.I32, 9), []int{0, 2, -1}, []int{1, -2, 3}, []int{0, 1, 2})
			return []hlo.Value{v, b.Pad(v, b.Int(hlo.I32, 5), []int{0, -1, 4}, []int{0, 0, -3}, []int{1, 0, 0}),
				b.Slice(v, []int{1, 0, 2}, []int{2, 9, 11}, []int{1, 3, 2})}
		}, x(1, 6, 5)},
		{"reverse and slice", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			return one(b.Reverse(b.Slice(b.Reverse(x[0], 1, 2), []int{0, 1, 0}, []int{1, 6, 5}, []int{1, 2, 3}), 1))
		}, x(1, 6, 5)},
		{"concat", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			v := b.Concat(1, x[0], b.Neg(x[0]), b.SliceAxis(x[0], 1, 2, 3), b.SliceAxis(x[0], 1, 0, 0))
			return []hlo.Value{v, b.SliceAxis(v, 1, 5, 11), b.Reshape(b.Concat(2, v, v), 13, 10), b.Concat(0, v, v)}
		}, x(1, 6, 5)},
		{"take", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			table := b.Iota(hlo.TypeOf(hlo.I32, 7, 3), 0)
			wide := b.Const(hlo.FromInt64s(hlo.I64, []int{5}, []int64{-1 << 60, 3, 5, 7, 1 << 62}))
			return []hlo.Value{b.TakeI(table, x[0]), b.TakeI(wide, x[0]), b.TakeI(wide, b.Convert(x[0], hlo.I8)),
				b.TakeI(b.Reshape(x[0], 30), b.Convert(x[0], hlo.UI8)), b.TakeI(b.SliceAxis(table, 0, 2, 3), x[0])}
		}, x(1, 6, 5)},
		{"iota and broadcast", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			v := b.BroadcastInDim(b.Reshape(x[0], 6, 1), []int{2, 6, 4}, []int{1, 2})
			return []hlo.Value{b.Mul(v, b.Iota(v.Type(), 2)), b.BroadcastTo(x[0], 3, 1, 6),
				b.Mul(b.Iota(hlo.TypeOf(hlo.F32, 4, 4), 1), b.Iota(hlo.TypeOf(hlo.F32, 4, 4), 0))}
		}, x(1, 6)},
	}
}

// reducePrimitives sum and fold.
func reducePrimitives(r *rand.Rand) []primitive {
	in := func(d hlo.DType, a, b []int) []hlo.Array {
		return []hlo.Array{small(r, d, a...), small(r, d, b...)}
	}
	conv := func(c hlo.Conv, out hlo.DType) func(*hlo.Builder, []hlo.Value) []hlo.Value {
		return func(b *hlo.Builder, x []hlo.Value) []hlo.Value { return one(b.Convolution(x[0], x[1], c, out)) }
	}
	return []primitive{
		{"dot", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			d := hlo.Dot{LhsBatch: []int{2}, RhsBatch: []int{0}, LhsContract: []int{1, 3}, RhsContract: []int{3, 1}}
			return []hlo.Value{b.DotGeneral(x[0], x[1], d, hlo.I32), b.DotInt(x[0], x[1], d, 20), b.DotInt(x[0], x[1], d, 50)}
		}, in(hlo.I8, []int{3, 4, 2, 5}, []int{2, 5, 6, 4})},
		{"conv dilated", conv(hlo.Conv{Stride: []int{2, 1}, Low: []int{1, -1}, High: []int{2, 3}, InDilation: []int{2, 3},
			KernelDilation: []int{1, 2}}, hlo.I32), in(hlo.I32, []int{1, 5, 6, 2}, []int{3, 3, 2, 2})},
		{"conv grouped", conv(hlo.Conv{Groups: 3, Low: []int{1}, Input: "bf0", Kernel: "oi0", Output: "b0f"}, hlo.I64),
			in(hlo.I64, []int{2, 6, 7}, []int{9, 2, 3})},
		{"conv of no axes", conv(hlo.Conv{}, hlo.F32), in(hlo.F32, []int{4, 6}, []int{5, 6})},
		{"reduce", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			v, u := x[0], b.Convert(x[1], hlo.UI64)
			return []hlo.Value{b.Reduce(hlo.ReduceAdd, v, 3, 0), b.Reduce(hlo.ReduceMax, v, 1, 2), b.Reduce(hlo.ReduceMin, u, 1),
				b.Reduce(hlo.ReduceAdd, b.Mul(v, b.Convert(v, hlo.I8)), 0, 1, 2, 3), b.ArgMax(v, 1),
				b.ReduceKeep(hlo.ReduceMax, u, 0)}
		}, in(hlo.I8, []int{2, 4, 3, 5}, []int{4, 6})},
		{"reduce_window", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
			w := hlo.Window{Size: []int{1, 3, 2}, Stride: []int{1, 2, 1}, Dilation: []int{1, 2, 3}, Low: []int{0, 2, 1},
				High: []int{0, 1, 4}}
			v := b.ReduceWindow(hlo.ReduceAdd, x[0], w)
			return []hlo.Value{v, b.ReduceWindow(hlo.ReduceMax, x[0], w), b.ReduceWindow(hlo.ReduceMin, b.Mul(v, v), hlo.Window{
				Size: []int{1, 2, 1}})}
		}, in(hlo.I32, []int{2, 7, 6}, []int{1})},
		{"read often", func(b *hlo.Builder, x []hlo.Value) []hlo.Value { // what is computed once, and what reads it
			total := b.ReduceKeep(hlo.ReduceAdd, x[0], 1)
			v := b.Sub(x[0], b.BroadcastInDim(total, x[0].Type().Dims, []int{0, 1}))
			return []hlo.Value{v, b.DotGeneral(v, v, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, hlo.I32), total}
		}, in(hlo.I32, []int{3, 40}, []int{1})},
	}
}

// rowPrimitives compute few numbers of a row and then the row from them: one kernel, whose blocks compute rows.
func rowPrimitives(r *rand.Rand) (list []primitive) {
	spread := func(b *hlo.Builder, v, like hlo.Value) hlo.Value {
		axes := []int{0, 1, 2}
		return b.BroadcastInDim(v, like.Type().Dims, axes[:like.Type().Rank()])
	}
	norm := func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
		v, last := b.Convert(x[0], hlo.I64), x[0].Type().Rank()-1
		v = b.Sub(v, spread(b, b.ReduceKeep(hlo.ReduceMin, v, last), v))
		total := b.ReduceKeep(hlo.ReduceAdd, b.Mul(v, v), last)
		share := b.Div(b.Mul(v, b.Splat(v, 100)), spread(b, b.Max(total, b.Splat(total, 1)), v))
		return []hlo.Value{share, b.Convert(b.Rem(total, b.Splat(total, 1000)), hlo.I32), b.Add(total, total)}
	}
	for _, dims := range [][]int{{1, 6, 200}, {1, 3, 1}, {1, 300, 5}, {4, 7, 96}, {1, 1, 1000}, {2, 2, 37}, {1, 2, 4096}} {
		list = append(list, primitive{fmt.Sprintf("rows of %v", dims), norm, []hlo.Array{small(r, hlo.I32, dims...)}})
	}
	return append(list, primitive{"columns", func(b *hlo.Builder, x []hlo.Value) []hlo.Value {
		v := b.Convert(x[0], hlo.I64)
		total := b.ReduceKeep(hlo.ReduceAdd, b.Mul(v, b.Rem(v, b.Splat(v, 3))), 1)
		return one(b.Sub(v, spread(b, total, v)))
	}, []hlo.Array{small(r, hlo.I32, 1, 40, 30)}})
}

// TestPrimitives compares kernels with XLA operation by operation, bit for bit.
func TestPrimitives(t *testing.T) {
	dir := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	r := difftest.Rand("primitives", 0)
	for _, p := range slices.Concat(wordPrimitives(r), movePrimitives(r), reducePrimitives(r), rowPrimitives(r)) {
		t.Run(p.name, func(t *testing.T) {
			b := hlo.New("p")
			var args []hlo.Value
			for _, a := range p.in {
				args = append(args, b.Arg("x", a.Type))
			}
			outs := p.build(b, args)
			b.Return(outs...)
			if b.Err() != nil {
				t.Fatal(b.Err())
			}
			want := pjrttest.Run(t, b, p.in...)
			for i, got := range runPrimitive(t, compiler, b, p.in, outs) {
				size := want[i].Type.DType.Bytes()
				for k := range want[i].Type.Len() {
					g, w := got[k*size:(k+1)*size], want[i].Data[k*size:(k+1)*size]
					if string(g) != string(w) {
						t.Fatalf("result %d (%s), element %d: bytes %x, XLA %x", i, want[i].Type, k, g, w)
					}
				}
			}
		})
	}
}

// runPrimitive compiles the program as a node and interprets its kernels.
func runPrimitive(t *testing.T, c *nvrtc.Compiler, b *hlo.Builder, in []hlo.Array, outs []hlo.Value) [][]byte {
	t.Helper()
	all := b.Program().Expand()
	p := &generic.Program{Ops: all.Ops, Weights: all.Data()}
	for _, a := range in {
		p.Inputs = append(p.Inputs, generic.Buffer{Store: generic.TypeOf(a.Type.DType)})
	}
	for _, n := range all.Results {
		p.Results = append(p.Results, generic.Result{Op: n,
			Buffer: generic.Buffer{Store: generic.TypeOf(all.Ops[n].Type.DType)}})
	}
	n, err := generic.Compile("k", nil, p)
	if err != nil {
		t.Fatal(err)
	}
	source := kernel.Prelude
	for _, s := range n.Steps {
		source += kernel.Print(s.Kernel)
	}
	m, err := c.Compile(t.Context(), "p.cu", source, cuda.PortablePTX)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	device := gpu.Emulated(gpu.EmulatedOptions{})
	defer device.Close()
	lists := primitiveBuffers(t, device, n, in, outs)
	code, err := device.Load(&gpu.Program{Name: "p", PTX: m.PTX})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range n.Steps {
		l := cuda.Launch{Kernel: s.Kernel.Name, Grid: [3]uint32{uint32(s.Kernel.Blocks()), 1, 1},
			Block: [3]uint32{uint32(s.Kernel.Threads()), 1, 1}}
		var buffers []gpu.Buffer
		for i, a := range s.Args {
			buffers = append(buffers, lists[a.Kind][a.Index])
			l.Args = append(l.Args, cuda.Buffer(i))
		}
		if err := device.Launch(code, buffers, l); err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
	}
	var out [][]byte
	for _, d := range lists[generic.Output] {
		data := make([]byte, d.Bytes)
		if err := device.Read(d, data); err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// primitiveBuffers allocates what the kernels of a node take, and fills inputs and tables.
func primitiveBuffers(t *testing.T, device gpu.Device, n *generic.Group, in []hlo.Array,
	outs []hlo.Value) map[generic.RefKind][]gpu.Buffer {
	t.Helper()
	lists := map[generic.RefKind][]gpu.Buffer{}
	add := func(kind generic.RefKind, data []byte, bytes int) {
		d, err := device.Alloc(int64(bytes))
		if err == nil && data != nil {
			err = device.Write(d, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		lists[kind] = append(lists[kind], d)
	}
	for _, a := range in {
		add(generic.Input, a.Data, len(a.Data))
	}
	for _, v := range outs {
		add(generic.Output, nil, v.Type().Len()*v.Type().DType.Bytes())
	}
	for _, s := range n.Scratch {
		add(generic.Scratch, nil, int(s.Elems)*s.Type.Bytes())
	}
	for _, d := range n.Tables {
		add(generic.Table, d.Data, len(d.Data))
	}
	return lists
}
