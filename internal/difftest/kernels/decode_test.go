// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/sequence"
	"lathe/lower/kernels"
)

// TestFusedCaches: keys and values of new tokens go into caches in place, turned or not, and attention reads them
// there: one kernel each behind the product, and one more where keys are in parts. The first tokens stand at a constant
// 0.
func TestFusedCaches(t *testing.T) {
	fusedGraphs(t, "fused caches", 0x1p-5, func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph {
		b.f = halfOf(r)
		batch, kv, dim := 1+r.IntN(2), 1+r.IntN(2), []int{16, 32, 64, 80}[r.IntN(4)]
		heads, tokens, room := kv*(1+r.IntN(3)), 1, 1+r.IntN(80)
		want := []string{"w16a16", "rope_append", "sdpa_decode"}
		if i%3 == 1 {
			tokens = 1 + r.IntN(room)
			want[2] = "sdpa"
		} else if i%3 == 2 {
			room += 400
			want = append(want, "sdpa_join")
		}
		position := &ir.Node{Name: "position", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1},
			Format: ir.Int32}}
		if i%3 == 1 {
			position.Op, position.Attrs = leaf.Const, &ir.Const{Data: ir.CodeBlob([]int64{0})}
		} else {
			b.g.In = append(b.g.In, position)
		}
		b.g.Nodes = append(b.g.Nodes, position)
		x := b.input("x", batch, tokens, 24)
		rows := func(h int) *ir.Node {
			n := b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, tokens, h, dim}}, b.linear(r, x, h*dim))
			return b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n)
		}
		q, k, v := rows(heads), rows(kv), rows(kv)
		if i%2 == 0 {
			cos, sin := constantOf(r, "cos", format.FP32, room, dim/2), constantOf(r, "sin", format.FP32, room, dim/2)
			a := &sequence.RotaryAttrs{}
			q, k = b.node(sequence.Rotary, a, q, cos, sin, position), b.node(sequence.Rotary, a, k, cos, sin, position)
		}
		k = b.node(sequence.Append, nil, b.input("keys", batch, kv, room, dim), k, position)
		v = b.node(sequence.Append, nil, b.input("values", batch, kv, room, dim), v, position)
		b.g.Out = []ir.Output{{Name: "keys", Node: k}, {Name: "values", Node: v}}
		y := b.node(sequence.Attention, &sequence.AttentionAttrs{Placed: true}, q, k, v, position)
		y = b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
		y = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, tokens, heads * dim}}, y)
		return b.finish(engine, y, want...)
	})
}

// TestTurnedCaches: columns of one value, of any float, are turned and go into caches by one kernel.
func TestTurnedCaches(t *testing.T) {
	fusedGraphs(t, "turned caches", 1e-5, func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph {
		b.f = []format.Format{format.FP32, format.BF16, format.F16}[i%3]
		batch, kv, dim, tokens := 1+r.IntN(2), 1+r.IntN(2), 16*(1+r.IntN(3)), 1+r.IntN(3)
		heads, room := kv*(1+r.IntN(3)), tokens+r.IntN(5)
		position := &ir.Node{Name: "position", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1},
			Format: ir.Int32}}
		b.g.In, b.g.Nodes = append(b.g.In, position), append(b.g.Nodes, position)
		x := b.input("x", batch, tokens, (heads+2*kv)*dim)
		rows := func(from, h int) *ir.Node {
			n := b.node(move.Slice, &move.SliceAttrs{Axis: 2, Start: from * dim, Count: h * dim, Step: 1}, x)
			n = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, tokens, h, dim}}, n)
			return b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n)
		}
		q, k, v := rows(0, heads), rows(heads, kv), rows(heads+kv, kv)
		cos, sin := constantOf(r, "cos", format.FP32, room, dim/2), constantOf(r, "sin", format.FP32, room, dim/2)
		a := &sequence.RotaryAttrs{}
		q, k = b.node(sequence.Rotary, a, q, cos, sin, position), b.node(sequence.Rotary, a, k, cos, sin, position)
		k = b.node(sequence.Append, nil, b.input("keys", batch, kv, room, dim), k, position)
		v = b.node(sequence.Append, nil, b.input("values", batch, kv, room, dim), v, position)
		b.g.Out = []ir.Output{{Name: "keys", Node: k}, {Name: "values", Node: v}}
		return b.finish(engine, q, "rope_append")
	})
}

// TestCachesInBlocks: rows of new tokens go into caches of MXINT8, bit for bit as in the reference where angles turn
// them exactly, and attention reads the values there: of the first tokens, of one more, and of one more in parts.
func TestCachesInBlocks(t *testing.T) {
	tools.NeedNVRTC(t)
	for i := range fusedCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand("caches in blocks", i)
			engine := libraryEngine(r)
			b := &built{t: t, g: &ir.Graph{Name: "g"}, f: format.FP32}
			b.p = kernels.Precision{Act: format.BF16, Weight: format.BF16, Cache: format.MXInt8}
			g := b.cachesInBlocks(i, r, engine)
			samples := difftest.Samples(r, g, kernelSamples)
			for _, s := range samples {
				for _, v := range s {
					for k := range v.BlockScales { // about 1, as an overflow means something else in each engine
						v.BlockScales[k] = 119 + int64(r.IntN(9))
					}
				}
			}
			d, err := cuda.Emit(g, engine.options)
			if err != nil {
				t.Fatal(err)
			}
			compareSamplesDesign(t, engine, g, d, samples, 0x1p-6)
		})
	}
}

// cachesInBlocks draws attention over caches, whose rows are columns of an input.
func (b *built) cachesInBlocks(i int, r *rand.Rand, engine kernelEngine) *ir.Graph {
	batch, kv, dim := 1+r.IntN(2), 1+r.IntN(2), []int{16, 32, 64, 80}[r.IntN(4)]
	heads, tokens, room := kv*(1+r.IntN(3)), 1, 1+r.IntN(80)
	want := []string{"rope_append", "sdpa_decode_mxint8"}
	position := &ir.Node{Name: "position", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1},
		Format: ir.Int32}}
	switch i % 3 {
	case 1:
		tokens, want[1] = 1+r.IntN(room), "sdpa_mxint8"
		position.Op, position.Attrs = leaf.Const, &ir.Const{Data: ir.CodeBlob([]int64{0})}
	case 2:
		room, want = room+400, append(want, "sdpa_join")
	}
	if position.IsInput() {
		b.g.In = append(b.g.In, position)
	}
	b.g.Nodes = append(b.g.Nodes, position)
	x := b.input("x", batch, tokens, (heads+2*kv)*dim)
	rows := func(from, h int) *ir.Node {
		n := b.node(move.Slice, &move.SliceAttrs{Axis: 2, Start: from * dim, Count: h * dim, Step: 1}, x)
		n = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, tokens, h, dim}}, n)
		return b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n)
	}
	q, k, v := rows(0, heads), rows(heads, kv), rows(heads+kv, kv)
	if i%2 == 0 {
		var angles [2]*ir.Node
		for n, name := range []string{"cos", "sin"} {
			values := make([]float32, room*dim/2)
			for j := range values {
				values[j] = []float32{0, 1, -1, 0.5}[r.IntN(4)]
			}
			angles[n] = &ir.Node{Name: name, Op: leaf.Const, Type: ir.Float(room, dim/2),
				Attrs: &ir.Const{Data: ir.FloatBlob(values)}}
		}
		a := &sequence.RotaryAttrs{}
		if i%4 == 0 { // else keys are encoded unrounded
			q = b.node(sequence.Rotary, a, q, angles[0], angles[1], position)
		}
		k = b.node(sequence.Rotary, a, k, angles[0], angles[1], position)
	}
	k = b.node(sequence.Append, nil, b.input("keys", batch, kv, room, dim), k, position)
	v = b.node(sequence.Append, nil, b.input("values", batch, kv, room, dim), v, position)
	b.g.Out = []ir.Output{{Name: "keys", Node: k}, {Name: "values", Node: v}}
	y := b.node(sequence.Attention, &sequence.AttentionAttrs{Placed: true}, q, k, v, position)
	return b.finish(engine, y, want...)
}

// TestSharedCache: a cache that is read as it was, too, is not written in place.
func TestSharedCache(t *testing.T) {
	b := &built{t: t, g: &ir.Graph{Name: "g"}, f: format.BF16}
	r := difftest.Rand("shared cache", 0)
	cache, rows := b.input("cache", 1, 2, 5, 16), b.input("rows", 1, 2, 1, 16)
	position := &ir.Node{Name: "position", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1},
		Format: ir.Int32}}
	b.g.In, b.g.Nodes = append(b.g.In, position), append(b.g.Nodes, position)
	b.g.Out = []ir.Output{{Name: "before", Node: cache}}
	g := b.finish(emulated, b.node(sequence.Append, nil, cache, rows, position), "")
	compareKernel(t, emulated, g, r, 0)
}
