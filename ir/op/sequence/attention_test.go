// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"math"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
)

// attend is attention of one head: a query of one element for each row, keys 1, 2, ..., values 1, 10, 100, ...
func attend(t *testing.T, a AttentionAttrs, q []float32, keys int, mask *ir.Tensor) []float32 {
	t.Helper()
	k, v := make([]float32, keys), make([]float32, keys)
	for j := range k {
		k[j], v[j] = float32(j+1), float32(math.Pow10(j))
	}
	tensors := []*ir.Tensor{{Floats: q}, {Floats: k}, {Floats: v}}
	var args []*ir.Node
	for i, x := range tensors {
		x.Type = ir.Float(1, 1, len(x.Floats), 1)
		args = append(args, draw.Input([]string{"q", "k", "v"}[i], x.Type))
	}
	if mask != nil {
		tensors, args = append(tensors, mask), append(args, draw.Input("mask", mask.Type))
	}
	n := draw.Graph(Attention, &a, ir.Type{Format: format.FP32}, args...).Out[0].Node
	y, err := draw.Run(n, tensors)
	if err != nil {
		t.Fatal(err)
	}
	return y.Floats
}

// softmaxOf weighs the values 1, 10, 100, ... by scores.
func softmaxOf(scores ...float64) float32 {
	sum, total := 0.0, 0.0
	for j, s := range scores {
		sum, total = sum+math.Exp(s)*math.Pow10(j), total+math.Exp(s)
	}
	return float32(sum / total)
}

// TestAttention states masks, causal order and the cap by hand.
func TestAttention(t *testing.T) {
	inf := float32(math.Inf(-1))
	keep := &ir.Tensor{Type: ir.Type{Shape: []int{2, 3}, Format: ir.Bool}, Codes: []int64{1, 0, 1, 0, 0, 0}}
	add := &ir.Tensor{Type: ir.Float(3), Floats: []float32{inf, 1, -2}}
	none := &ir.Tensor{Type: ir.Float(2, 1), Floats: []float32{inf, 0}}
	for _, c := range []struct {
		name string
		a    AttentionAttrs
		q    []float32
		keys int
		mask *ir.Tensor
		want []float32
	}{
		{"plain", AttentionAttrs{}, []float32{0.5, -1}, 3, nil, []float32{softmaxOf(.5, 1, 1.5), softmaxOf(-1, -2, -3)}},
		{"scale", AttentionAttrs{Scale: 2}, []float32{0.5}, 2, nil, []float32{softmaxOf(1, 2)}},
		{"cap", AttentionAttrs{Softcap: 2}, []float32{3}, 2, nil, []float32{softmaxOf(2*math.Tanh(1.5), 2*math.Tanh(3))}},
		{"last sees all", AttentionAttrs{Causal: true}, []float32{1, 1}, 3, nil,
			[]float32{softmaxOf(1, 2), softmaxOf(1, 2, 3)}},
		{"first sees none", AttentionAttrs{Causal: true}, []float32{1, 1, 1}, 2, nil, []float32{0, 1, softmaxOf(1, 2)}},
		{"truth values", AttentionAttrs{}, []float32{1, 1}, 3, keep, []float32{softmaxOf(1, math.Inf(-1), 3), 0}},
		{"summands", AttentionAttrs{}, []float32{1}, 3, add, []float32{softmaxOf(math.Inf(-1), 3, 1)}},
		{"none allowed", AttentionAttrs{}, []float32{1, 1}, 2, none, []float32{0, softmaxOf(1, 2)}},
		{"large scores", AttentionAttrs{}, []float32{1e4}, 2, nil, []float32{10}},
	} {
		got := attend(t, c.a, c.q, c.keys, c.mask)
		for i, want := range c.want {
			if math.Abs(float64(got[i]-want)) > 1e-5*float64(want) {
				t.Errorf("%s: query %d gives %g, want %g", c.name, i, got[i], want)
			}
		}
	}
}

// TestPlaced states positions by hand: of queries, and of rows in a cache. Those without room are moved.
func TestPlaced(t *testing.T) {
	run := func(o *ir.Op, attrs any, position int64, args ...*ir.Tensor) []float32 {
		t.Helper()
		args = append(args, &ir.Tensor{Type: ir.Type{Shape: []int{1}, Format: ir.Int32}, Codes: []int64{position}})
		var nodes []*ir.Node
		for i, x := range args {
			nodes = append(nodes, draw.Input(string(rune('a'+i)), x.Type))
		}
		y, err := draw.Run(draw.Graph(o, attrs, ir.Type{Format: format.FP32}, nodes...).Out[0].Node, args)
		if err != nil {
			t.Fatal(err)
		}
		return y.Floats
	}
	column := func(v ...float32) *ir.Tensor { return &ir.Tensor{Type: ir.Float(1, 1, len(v), 1), Floats: v} }
	cache, rows := column(1, 2, 3, 4), column(8, 9)
	for position, want := range map[int64][]float32{-3: {8, 9, 3, 4}, 1: {1, 8, 9, 4}, 2: {1, 2, 8, 9}, 9: {1, 2, 8, 9}} {
		if got := run(Append, nil, position, cache, rows); !slices.Equal(got, want) {
			t.Errorf("rows at %d make %v, want %v", position, got, want)
		}
	}
	for position, want := range map[int64][]float32{-2: {0, 0}, -1: {0, 1}, 0: {1, 1.5}, 2: {2, 2.5}, 9: {2.5, 2.5}} {
		got := run(Attention, &AttentionAttrs{Placed: true}, position, column(0, 0), cache, cache)
		if !slices.Equal(got, want) {
			t.Errorf("queries at %d give %v, want %v", position, got, want)
		}
	}
}

// TestBlocks: rows go into a cache in blocks encoded, each block by itself, the last one short.
func TestBlocks(t *testing.T) {
	const dim = 40
	cache, rows := kept(4, dim), ir.NewTensor(ir.Float(1, 1, 2, dim))
	for i := range rows.Floats {
		rows.Floats[i] = float32(i*i) / 64
	}
	at := &ir.Tensor{Type: ir.Type{Shape: []int{1}, Format: ir.Int32}, Codes: []int64{1}}
	y := compute(t, Append, nil, cache.Type.Format, cache, rows, at)
	fresh := ir.EncodeFloats(cache.Type.WithShape(rows.Type.Shape), rows.Floats)
	codes := slices.Concat(cache.Codes[:dim], fresh.Codes, cache.Codes[3*dim:])
	scales := slices.Concat(cache.BlockScales[:2], fresh.BlockScales, cache.BlockScales[6:])
	if !slices.Equal(y.Codes, codes) || !slices.Equal(y.BlockScales, scales) || scales[2] == scales[3] {
		t.Errorf("%v %v, want %v %v", y.Codes, y.BlockScales, codes, scales)
	}
}

// TestBlocksRead: attention over caches in blocks is that over their values.
func TestBlocksRead(t *testing.T) {
	cache, query := kept(4, 40), ir.NewTensor(ir.Float(1, 1, 1, 40))
	query.Floats[39] = 0.01
	values, err := cache.Decode()
	if err != nil {
		t.Fatal(err)
	}
	plain := ir.NewTensor(ir.Float(cache.Type.Shape...))
	for i, v := range values {
		plain.Floats[i] = float32(v)
	}
	a := &AttentionAttrs{}
	got, want := compute(t, Attention, a, format.FP32, query, cache, cache), compute(t, Attention, a, format.FP32, query,
		plain, plain)
	if !slices.Equal(got.Floats, want.Floats) {
		t.Errorf("over blocks %v, over their values %v", got.Floats, want.Floats)
	}
}

// kept is a cache in blocks.
func kept(room, dim int) *ir.Tensor {
	cache := ir.NewTensor(ir.Type{Shape: []int{1, 1, room, dim}, Format: format.MXInt8})
	for i := range cache.Codes {
		cache.Codes[i] = int64(i % 100)
	}
	for i := range cache.BlockScales {
		cache.BlockScales[i] = int64(120 + i)
	}
	return cache
}

// compute evaluates an operation of a float graph.
func compute(t *testing.T, o *ir.Op, attrs any, f format.Format, args ...*ir.Tensor) *ir.Tensor {
	t.Helper()
	var nodes []*ir.Node
	for i, x := range args {
		nodes = append(nodes, draw.Input(string(rune('a'+i)), x.Type))
	}
	g := draw.Graph(o, attrs, ir.Type{Format: f}, nodes...)
	g.Stage = ir.StageFloat
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	y, err := draw.Run(g.Out[0].Node, args)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestBlocksRefused: nothing but caches is in blocks, and nothing else takes them.
func TestBlocksRefused(t *testing.T) {
	cache, rows := draw.Input("cache", kept(4, 40).Type), draw.Input("rows", ir.Float(1, 1, 4, 40))
	at := draw.Input("at", ir.Type{Shape: []int{1}, Format: ir.Int32})
	for _, n := range []*ir.Node{
		{Op: pointwise.Relu, Args: []*ir.Node{cache}, Type: cache.Type},
		{Op: pointwise.Add, Args: []*ir.Node{rows, cache}, Type: rows.Type},
		{Op: Append, Args: []*ir.Node{rows, cache, at}, Type: rows.Type},
		{Op: Append, Args: []*ir.Node{cache, rows, at}, Type: rows.Type},
		{Op: Attention, Args: []*ir.Node{cache, rows, rows}, Type: rows.Type, Attrs: &AttentionAttrs{}},
		{Op: Attention, Args: []*ir.Node{rows, rows, rows}, Type: cache.Type, Attrs: &AttentionAttrs{}},
	} {
		n.Name = "y"
		in := []*ir.Node{cache, rows, at}
		g := &ir.Graph{Name: "g", In: in, Nodes: append(slices.Clone(in), n), Out: []ir.Output{{Name: "y", Node: n}}}
		if err := g.Check(); err == nil {
			t.Errorf("%s of %s to %s passes", n.Op.Name, n.Args[0].Type, n.Type)
		}
	}
}
