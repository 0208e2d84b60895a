// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"math"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
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
