// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"
	"slices"

	"lathe/cuda"
	"lathe/ir"
	"lathe/ir/format"
)

// AttentionAttrs are the attributes of attention.
type AttentionAttrs struct {
	// Scale multiplies the scores; 0 is 1/sqrt(D).
	Scale float32
	// Causal lets query i see the keys up to i + S - T, so that the last query sees all.
	Causal bool
	// Softcap, where it is not 0, makes the scaled scores s Softcap*tanh(s/Softcap), before the mask.
	Softcap float32
}

// Attention is softmax(scale*q*transpose(k) + mask)*v for every head (Vaswani et al., 2017): q [B,H,T,D], k [B,G,S,D],
// v [B,G,S,E], y [B,H,T,E]. Query head h reads head h/(H/G) of k and v. The mask, which may be missing, broadcasts to
// [B,H,T,S]: truth values keep a score, floats are added to it. A query that may see no key gives zeros.
var Attention = composite(ir.Op{
	Name: "attention", Doc: "softmax(scale*q*transpose(k) + mask)*v for each head", Attrs: AttentionAttrs{},
	Arity: [2]int{3, 4}, Traits: ir.Traits{FloatOnly: true},
	Infer: attentionInfer, Format: attentionFormat, Eval: attentionEval, Expand: attentionExpand,
	CUDA:  ir.OneNode(attentionCUDA),
	Legal: noInteger, Gen: genAttention,
})

func attentionInfer(n *ir.Node) ([]int, error) {
	q, k, v := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Args[2].Type.Shape
	if len(q) != 4 || len(k) != 4 || len(v) != 4 || !slices.Equal(k[:3], v[:3]) || q[0] != k[0] || q[3] != k[3] {
		return nil, fmt.Errorf("queries %s, keys %s and values %s are not BxHxTxD, BxGxSxD and BxGxSxE", ir.ShapeString(q),
			ir.ShapeString(k), ir.ShapeString(v))
	}
	if k[1] == 0 || q[1]%k[1] != 0 {
		return nil, fmt.Errorf("%d heads of keys do not divide %d heads of queries", k[1], q[1])
	}
	if len(n.Args) > 3 {
		scores, mask := []int{q[0], q[1], q[2], k[2]}, n.Args[3].Type.Shape
		if shape, err := broadcast(mask, scores); err != nil || !slices.Equal(shape, scores) {
			return nil, fmt.Errorf("mask %s does not broadcast to the scores %s", ir.ShapeString(mask), ir.ShapeString(scores))
		}
	}
	return []int{q[0], q[1], q[2], v[3]}, nil
}

func attentionFormat(n *ir.Node) (format.Format, error) {
	for i, a := range n.Args {
		if !a.Type.IsFloat() && (i < 3 || a.Type.Format != ir.Bool) {
			return nil, fmt.Errorf("attention is of floats, masks are floats or truth values; %q is %s", a.Name, a.Type.Format)
		}
	}
	return format.FP32, nil
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
	if len(n.Args) > 3 {
		mask, step := n.Args[3].Type.Shape, 1
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
	e, a := expand(n), n.Attrs.(*AttentionAttrs)
	q, k, v := n.Args[0], n.Args[1], n.Args[2]
	s, keys, heads := q.Type.Shape, k.Type.Shape[2], k.Type.Shape[1]
	rows := s[1] / max(heads, 1) * s[2]
	turned := e.do("keys", Transpose, &TransposeAttrs{[]int{0, 1, 3, 2}}, k)
	x := e.do("scores", MatMul, nil, e.reshape("queries", q, s[0], heads, rows, s[3]), turned)
	x = e.do("scaled", Mul, nil, x, e.number("scale", attentionScale(n)))
	if c := float64(a.Softcap); c != 0 {
		x = e.do("tanh", Tanh, nil, e.do("small", Mul, nil, x, e.number("per_cap", 1/c)))
		x = e.do("capped", Mul, nil, x, e.number("cap", c))
	}
	x = e.masked(e.reshape("of_heads", x, s[0], s[1], s[2], keys))
	last := &ReduceAttrs{[]int{3}}
	// The least float instead of the maximum of nothing, and 1 instead of a sum of nothing, make zeros of such rows.
	top := e.do("top", Max, nil, e.do("max", ReduceMax, last, x), e.number("least", -math.MaxFloat32))
	w := e.do("exp", Exp, nil, e.do("below", Sub, nil, x, top))
	total := e.do("total", Max, nil, e.do("sum", ReduceSum, last, w), e.number("tiny", 0.5))
	w = e.do("weights", Mul, nil, w, e.do("per_total", Reciprocal, &ReciprocalAttrs{Numerator: 1}, total))
	y := e.do("sums", MatMul, nil, e.reshape("weights_of_rows", w, s[0], heads, rows, keys), v)
	e.reshape("result", y, n.Type.Shape...)
	return e.done()
}

// masked adds the mask of attention to scores, and that of causal order.
func (e *expansion) masked(x *ir.Node) *ir.Node {
	if e.err != nil {
		return x
	}
	n := e.of
	switch {
	case len(n.Args) < 4:
	case n.Args[3].Type.IsFloat():
		x = e.do("masked", Add, nil, x, n.Args[3])
	default:
		x = e.do("kept", Where, nil, n.Args[3], x, e.number("never", math.Inf(-1)))
	}
	if !n.Attrs.(*AttentionAttrs).Causal {
		return x
	}
	queries, keys := n.Args[0].Type.Shape[2], n.Args[1].Type.Shape[2]
	values := make([]float32, queries*keys)
	for i := range values {
		if i%keys > i/keys+keys-queries {
			values[i] = float32(math.Inf(-1))
		}
	}
	order := &ir.Node{Name: n.Name + ".order", Op: Const, Pos: n.Pos, Type: ir.Float(queries, keys),
		Attrs: &ir.Const{Data: ir.FloatBlob(values)}}
	e.parts = append(e.parts, order)
	return e.do("causal", Add, nil, x, order)
}

func attentionCUDA(n *ir.Node, _ cuda.Target) (*cuda.Unit, error) {
	return nil, cuda.Refuse("the library's attention takes bf16 and f16, not %s", n.Type.Format)
}
