// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math/rand/v2"
	"testing"

	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/sequence"
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
