// SPDX-License-Identifier: Apache-2.0

// Package sequence holds the operations on sequences of tokens: attention and rotary positions.
package sequence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/dense"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/walk"
	"lathe/ir/op/whole"
)

// AttentionAttrs are the attributes of attention.
type AttentionAttrs struct {
	// Scale multiplies the scores; 0 is 1/sqrt(D).
	Scale float32
	// Causal lets query i see the keys up to i + S - T, so that the last query sees all.
	Causal bool
	// Placed says that the last argument is the position of the first query, a whole number: query i sees the keys up to
	// that place + i.
	Placed bool
	// Softcap, where it is not 0, makes the scaled scores s Softcap*tanh(s/Softcap), before the mask.
	Softcap float32
}

// Attention is softmax(scale*q*transpose(k) + mask)*v for every head (Vaswani et al., 2017): q [B,H,T,D], k [B,G,S,D],
// v [B,G,S,E], y [B,H,T,E]. Query head h reads head h/(H/G) of k and v. The mask, which may be missing, broadcasts to
// [B,H,T,S]: truth values keep a score, floats are added to it. A query that may see no key gives zeros. Where the
// attributes say so a position follows. Keys and values may be caches in blocks along D, which are read as values.
var Attention = composite.New(ir.Op{
	Name: "attention", Doc: "softmax(scale*q*transpose(k) + mask)*v for each head", Attrs: AttentionAttrs{},
	Arity: [2]int{3, 5}, Traits: ir.Traits{FloatOnly: true, Blocks: readsBlocks, Index: attentionIndex},
	Infer: attentionInfer, Format: attentionFormat, Eval: attentionEval, Expand: attentionExpand,
	CUDA:  attentionCUDA,
	Legal: attentionLegal, MACs: attentionMACs, Gen: genAttention,
})

// extra are the arguments behind q, k and v; nil for those that are not there.
func extra(n *ir.Node) (mask, position *ir.Node) {
	rest := n.Args[3:]
	if n.Attrs.(*AttentionAttrs).Placed && len(rest) > 0 {
		rest, position = rest[:len(rest)-1], rest[len(rest)-1]
	}
	if len(rest) > 0 {
		mask = rest[0]
	}
	return mask, position
}

// attentionIndex: positions are those of keys.
func attentionIndex(n *ir.Node, i int) int {
	if _, position := extra(n); position == nil || i != len(n.Args)-1 {
		return 0
	}
	return n.Args[1].Type.Shape[2]
}

// attentionMACs are those of the scores and of the means of v.
func attentionMACs(n *ir.Node) int {
	q, v := n.Args[0].Type.Shape, n.Args[2].Type.Shape
	return q[0] * q[1] * q[2] * v[2] * (q[3] + v[3])
}

func attentionInfer(n *ir.Node) ([]int, error) {
	q, k, v := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Args[2].Type.Shape
	if len(q) != 4 || len(k) != 4 || len(v) != 4 || !slices.Equal(k[:3], v[:3]) || q[0] != k[0] || q[3] != k[3] {
		return nil, fmt.Errorf("queries %s, keys %s and values %s are not BxHxTxD, BxGxSxD and BxGxSxE", ir.ShapeString(q),
			ir.ShapeString(k), ir.ShapeString(v))
	}
	if k[1] == 0 || q[1]%k[1] != 0 {
		return nil, fmt.Errorf("%d heads of keys do not divide %d heads of queries", k[1], q[1])
	}
	mask, position := extra(n)
	switch rest := len(n.Args) - 3; {
	case n.Attrs.(*AttentionAttrs).Placed && position == nil:
		return nil, errors.New("the position is missing")
	case rest == 2 && position == nil:
		return nil, errors.New("five arguments are queries, keys, values, a mask and a position, which is not asked for")
	case position != nil:
		if err := placeShape(position); err != nil {
			return nil, err
		}
	}
	if mask != nil {
		scores, mask := []int{q[0], q[1], q[2], k[2]}, mask.Type.Shape
		if shape, err := walk.Broadcast(mask, scores); err != nil || !slices.Equal(shape, scores) {
			return nil, fmt.Errorf("mask %s does not broadcast to the scores %s", ir.ShapeString(mask), ir.ShapeString(scores))
		}
	}
	return []int{q[0], q[1], q[2], v[3]}, nil
}

func attentionFormat(n *ir.Node) (format.Format, error) {
	_, position := extra(n)
	for i, a := range n.Args {
		if position != nil && i == len(n.Args)-1 {
			if err := placeFormat(a); err != nil {
				return nil, err
			}
			continue
		}
		blocks := (i == 1 || i == 2) && a.Type.InBlocks()
		if !a.Type.IsFloat() && !blocks && (i < 3 || a.Type.Format != ir.Bool) {
			return nil, fmt.Errorf("attention takes floats, and masks of floats or booleans; %q is %s", a.Name, a.Type.Format)
		}
	}
	return format.FP32, nil
}

// Resolved are the attributes with the scale that 0 stands for.
func (a *AttentionAttrs) Resolved(n *ir.Node) any {
	r := *a
	r.Scale = float32(attentionScale(n))
	return &r
}

// attentionScale is the factor of scores.
func attentionScale(n *ir.Node) float64 {
	if s := n.Attrs.(*AttentionAttrs).Scale; s != 0 {
		return float64(s)
	}
	return 1 / math.Sqrt(float64(n.Args[0].Type.Shape[3]))
}

// scoring is what attention does with one score.
type scoring struct {
	scale, cap float64
	diagonal   int // query i sees keys up to i + diagonal
	strides    [4]int
}

func newScoring(n *ir.Node) scoring {
	a := n.Attrs.(*AttentionAttrs)
	q, k := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	s := scoring{scale: attentionScale(n), cap: float64(a.Softcap), diagonal: k[2]}
	if a.Causal {
		s.diagonal = k[2] - q[2]
	}
	if m, _ := extra(n); m != nil {
		mask, step := m.Type.Shape, 1
		for i := 1; i <= len(mask); i++ {
			if d := mask[len(mask)-i]; d != 1 {
				s.strides[4-i], step = step, step*d
			}
		}
	}
	return s
}

// of is the score of a dot product, masked by element at of the mask, rounded as engines of float32 do: what a large
// mask leaves of it decides the weights.
func (s scoring) of(dot float64, mask *ir.Tensor, at int) float64 {
	v := dot * s.scale
	if s.cap != 0 {
		v = s.cap * math.Tanh(v/s.cap)
	}
	switch {
	case mask == nil:
		return v
	case mask.Floats != nil:
		v += float64(mask.Floats[at])
		if sum := float64(float32(v)); math.IsInf(sum, 0) { // two masks of the least float32, added before
			return sum
		}
		return v
	case mask.Codes[at] == 0:
		return math.Inf(-1)
	}
	return v
}

// attentionExpand never repeats keys and values: the queries of the heads that share them are rows of one matrix.
func attentionExpand(n *ir.Node) ([]*ir.Node, error) {
	if err := noProgram(n); err != nil {
		return nil, err
	}
	e, a := composite.Expand(n), n.Attrs.(*AttentionAttrs)
	q, k, v := n.Args[0], n.Args[1], n.Args[2]
	s, keys, heads := q.Type.Shape, k.Type.Shape[2], k.Type.Shape[1]
	rows := s[1] / max(heads, 1) * s[2]
	turned := e.Do("keys", move.Transpose, &move.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, k)
	x := e.Do("scores", sum.MatMul, nil, e.Reshape("queries", q, s[0], heads, rows, s[3]), turned)
	x = e.Do("scaled", pointwise.Mul, nil, x, e.Number("scale", attentionScale(n)))
	if c := float64(a.Softcap); c != 0 {
		x = e.Do("tanh", curve.Tanh, nil, e.Do("small", pointwise.Mul, nil, x, e.Number("per_cap", 1/c)))
		x = e.Do("capped", pointwise.Mul, nil, x, e.Number("cap", c))
	}
	x = masked(e, e.Reshape("of_heads", x, s[0], s[1], s[2], keys))
	w := rowSoftmax(e, x)
	y := e.Do("sums", sum.MatMul, nil, e.Reshape("weights_of_rows", w, s[0], heads, rows, keys), seenValues(e, v))
	e.Reshape("result", y, n.Type.Shape...)
	return e.Done()
}

// seenValues are values with zeros behind the last query's position: what caches hold there is not seen, not even NaN.
func seenValues(e *composite.Expansion, v *ir.Node) *ir.Node {
	n := e.Of
	_, position := extra(n)
	if e.Err != nil || position == nil {
		return v
	}
	queries, keys := n.Args[0].Type.Shape[2], v.Type.Shape[2]
	last := e.Do("last_of_all", pointwise.Add, nil, wholes(e, "last_query", []int64{int64(queries - 1)}),
		placed(e, position, -queries, keys))
	there := e.Do("there", whole.Compare, &whole.CompareAttrs{Rel: "le"}, wholes(e, "place", upTo(keys), keys, 1), last)
	return e.Do("values", whole.Where, nil, there, v, e.Number("nothing", 0))
}

// masked adds the mask of attention to scores, and that of causal order.
func masked(e *composite.Expansion, x *ir.Node) *ir.Node {
	if e.Err != nil {
		return x
	}
	n := e.Of
	mask, position := extra(n)
	switch {
	case mask == nil:
	case mask.Type.IsFloat():
		x = e.Do("masked", pointwise.Add, nil, x, mask)
	default:
		x = e.Do("kept", whole.Where, nil, mask, x, e.Number("never", math.Inf(-1)))
	}
	queries, keys := n.Args[0].Type.Shape[2], n.Args[1].Type.Shape[2]
	if position != nil {
		last := e.Do("last", pointwise.Add, nil, wholes(e, "query", upTo(queries), queries, 1),
			placed(e, position, -queries, keys))
		seen := e.Do("seen", whole.Compare, &whole.CompareAttrs{Rel: "le"}, wholes(e, "key", upTo(keys), 1, keys), last)
		return e.Do("behind", whole.Where, nil, seen, x, e.Number("unseen", math.Inf(-1)))
	}
	if !n.Attrs.(*AttentionAttrs).Causal {
		return x
	}
	values := make([]float32, queries*keys)
	for i := range values {
		if i%keys > i/keys+keys-queries {
			values[i] = float32(math.Inf(-1))
		}
	}
	return e.Do("causal", pointwise.Add, nil, x, e.Const("order", ir.Float(queries, keys), ir.FloatBlob(values)))
}

// Attention computes a block of queries of one head at a time: at most queryBlock, and blockScores scores.
const (
	queryBlock  = 128
	blockScores = 1 << 20
)

func attentionEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	all := &attending{n: n, scoring: newScoring(n)}
	_, position := extra(n)
	q, k := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	block := max(1, min(queryBlock, blockScores/max(1, k[2]), q[2]))
	blocks, fill := (q[2]+block-1)/block, column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		for i, t := range args[1:3] {
			if args[1+i], err = inFloats(t); err != nil {
				return nil, err
			}
		}
		a := *all
		if position != nil {
			p := args[len(args)-1].Codes[0]
			a.diagonal = int(min(max(p, int64(-q[2])), int64(k[2])))
		}
		y := ir.NewTensor(n.Type)
		few := 1 + walk.Grain/max(1, block*k[2])
		workers.Ranges(q[0]*q[1]*blocks, few, func(from, to int) {
			for i := from; i < to; i++ {
				first := i % blocks * block
				a.block(args, y, i/blocks, first, min(block, q[2]-first))
			}
		})
		return y, nil
	}, nil
}

// attending is the evaluation of attention.
type attending struct {
	scoring
	n *ir.Node
}

// block computes rows queries from first on of one head of one batch.
func (a *attending) block(args []*ir.Tensor, y *ir.Tensor, head, first, rows int) {
	q, k, wide := a.n.Args[0].Type.Shape, a.n.Args[1].Type.Shape, a.n.Type.Shape[3]
	b, h := head/q[1], head%q[1]
	at := (b*k[1] + h/(q[1]/k[1])) * k[2] // the first row of the keys and the values
	keys := a.seen(first+rows-1, k[2])
	scores := make([]float64, rows*keys)
	(&dense.Product{M: rows, N: keys, K: q[3], Wide: scores, Row: keys, Col: 1,
		Left:  dense.Left(args[0].Floats[(head*q[2]+first)*q[3]:], q[3]),
		Right: dense.Rows(args[1].Floats[at*q[3]:], q[3])}).Run()
	var mask *ir.Tensor
	if m, _ := extra(a.n); m != nil {
		mask = args[3]
	}
	totals := make([]float64, rows)
	for i := range rows {
		place := b*a.strides[0] + h*a.strides[1] + (first+i)*a.strides[2]
		totals[i] = a.weights(scores[i*keys:(i+1)*keys], a.seen(first+i, k[2]), mask, place)
	}
	sums := make([]float64, rows*wide)
	(&dense.Product{M: rows, N: wide, K: keys, Wide: sums, Row: wide, Col: 1,
		Left:  func(i int, row []float64) { copy(row, scores[i*keys:(i+1)*keys]) },
		Right: dense.Columns(args[2].Floats[at*wide:], wide)}).Run()
	out := y.Floats[(head*q[2]+first)*wide:]
	for i, s := range sums {
		out[i] = float32(s / totals[i/wide])
	}
}

// seen is how many of all keys query i sees.
func (s *scoring) seen(i, all int) int { return max(0, min(all, i+s.diagonal+1)) }

// weights turns dot products into exp(score - greatest score), zeros from place seen on, and returns their sum; where
// no score is more than -Inf all are zeros, and the sum is 1.
func (s *scoring) weights(dots []float64, seen int, mask *ir.Tensor, place int) (total float64) {
	top := math.Inf(-1)
	for j := range seen {
		dots[j] = s.of(dots[j], mask, place+j*s.strides[3])
		top = max(top, dots[j])
	}
	if math.IsInf(top, -1) {
		clear(dots)
		return 1
	}
	for j := range seen {
		dots[j] = math.Exp(dots[j] - top)
		total += dots[j]
	}
	clear(dots[seen:])
	return total
}

// genAttention draws heads that share keys, every mask, and scales so small that inputs of 100 do not decide all.
func genAttention(r *rand.Rand, o *ir.Op) *ir.Graph {
	batch, heads, each := draw.Between(r, 1, 2), draw.Between(r, 1, 2), draw.Between(r, 1, 2)
	t, s, d := draw.Between(r, 1, 4), draw.Between(r, 1, 5), draw.Between(r, 1, 4)
	a := &AttentionAttrs{Scale: []float32{1e-3, 5e-4}[r.IntN(2)], Causal: draw.Chance(r, 40)}
	if draw.Chance(r, 30) {
		a.Softcap = 4
	}
	args := []*ir.Node{
		draw.Input("q", ir.Float(batch, heads*each, t, d)),
		draw.Operand(r, 10, "k", batch, heads, s, d), draw.Operand(r, 10, "v", batch, heads, s, draw.Between(r, 1, 4)),
	}
	if draw.Chance(r, 50) {
		shape := []int{batch, heads * each, t, s}
		for i := range shape {
			if draw.Chance(r, 40) {
				shape[i] = 1
			}
		}
		t := ir.Type{Shape: shape[r.IntN(4):], Format: format.FP32}
		if draw.Chance(r, 50) {
			t.Format = ir.Bool
		}
		if args = append(args, draw.Input("mask", t)); draw.Chance(r, 40) {
			args[3] = draw.Values(r, "mask", t)
		}
	}
	if a.Placed = draw.Chance(r, 30); a.Placed {
		args = append(args, genPlace(r, s))
	}
	return draw.FloatGraph(o, a, args...)
}
