// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// Attention as hardware has it is three operations on values in the order in which beats come: token after token, in
// it head after head. None of them turns anything over.

// SeenAttrs say which keys a token sees.
type SeenAttrs struct {
	// Causal lets token t see the keys up to t + Offset; else it sees all.
	Causal bool
	Offset int
}

// sees says that token t sees key s.
func (a *SeenAttrs) sees(t, s int) bool { return !a.Causal || s <= t+a.Offset }

// WeightsAttrs are the attributes of attend_weights.
type WeightsAttrs struct {
	SeenAttrs
	// Scale multiplies the scores.
	Scale float32
}

// AttendScores is y[b,t,h,s] = sum over d of q[b,t,h,d]*k[b,s,g,d], 0 for keys that token t does not see: q [B,T,H,D],
// k [B,S,G,D], y [B,T,H,S]. Query head h reads head g = h/(H/G) of the keys.
var AttendScores = composite.OnCodes(ir.Op{
	Name: "attend_scores", Doc: "products of queries and keys for each head, tokens first", Attrs: SeenAttrs{},
	Arity: [2]int{2, 2}, Traits: ir.Traits{RoundsOnce: true, Meets: 3, Blocks: column.SumsInBlocks, Tokens: ir.EachToken},
	Infer: scoresInfer, Eval: scoresEval, Expand: scoresExpand, HLO: scoresHLO,
	RTL: scoresRTL, Lanes: scoresLanes, DSPCause: productDSPCause, Legal: productLegal, MACs: productMACs,
	Bounds: productBounds, Gen: genScores,
})

// AttendWeights is softmax(Scale*x) along the keys, the last axis, among those that the token sees; 0 for the others,
// and for tokens that see none: x [B,T,H,S]. With a second argument, a mask [B,S], no token sees the keys at which it
// is 0. Quantized, it is that of norm.Rows.
var AttendWeights = composite.OnCodes(ir.Op{
	Name: "attend_weights", Doc: "softmax of scores among the keys that a token sees", Attrs: WeightsAttrs{},
	Arity: [2]int{1, 2}, Traits: ir.Traits{RoundsOnce: true, Reads16: true, Fraction: true, Index: maskIndex,
		Tokens: ir.EachToken},
	Infer: weightsInfer, Eval: weightsEval, Expand: weightsExpand, HLO: weightsHLO,
	Bounds: func(n *ir.Node, _ []ir.Bounds) (ir.Bounds, error) { return column.Between(n, 0, 1), nil },
	Gen:    genWeights,
	RTL:    weightsRTL, Lanes: weightsLanes,
	Format: func(*ir.Node) (format.Format, error) { return format.FP32, nil }, Legal: weightsLegal,
})

// maskIndex: elements of a mask are 0 or 1.
func maskIndex(_ *ir.Node, i int) int {
	if i == 1 {
		return 2
	}
	return 0
}

func weightsLegal(n *ir.Node) error {
	if len(n.Args) > 1 {
		if _, ok := format.AsFixed(n.Args[1].Type.Format); !ok || n.Args[1].IsConst() {
			return fmt.Errorf("a mask is a fixed value, and %q is %s", n.Args[1].Name, n.Args[1].Type.Format)
		}
	}
	_, err := norm.PlanRows(n, float64(n.Attrs.(*WeightsAttrs).Scale))
	return err
}

// AttendSum is y[b,t,h,e] = sum over s of p[b,t,h,s]*v[b,s,g,e]: p [B,T,H,S], v [B,S,G,E], y [B,T,H,E]. Head h reads
// head g = h/(H/G) of the values.
var AttendSum = composite.OnCodes(ir.Op{
	Name: "attend_sum", Doc: "sums of values by weights for each head, tokens first", Attrs: SeenAttrs{},
	Arity: [2]int{2, 2}, Traits: ir.Traits{RoundsOnce: true, Meets: 1, Blocks: column.SumsInBlocks, Tokens: ir.EachToken},
	Infer: sumInfer, Eval: sumEval, Expand: sumExpand, HLO: sumHLO,
	RTL: sumRTL, Lanes: sumLanes, DSPCause: productDSPCause, Legal: productLegal, MACs: productMACs,
	Bounds: productBounds, Gen: genSum,
})

// attentionLegal says what keeps attention, which tokens_first has left as it is, out of hardware.
func attentionLegal(n *ir.Node) error {
	a := n.Attrs.(*AttentionAttrs)
	mask, position := extra(n)
	switch {
	case position != nil:
		return errors.New("attention at a position, into a cache, has no hardware in this version")
	case a.Softcap != 0:
		return errors.New("attention whose scores a tanh bounds has no hardware in this version")
	case mask != nil:
		return fmt.Errorf("hardware takes constants that are added to scores and hide all keys from a token by equal "+
			"numbers, causal order, and masks that hide keys from all tokens; %q is %s %s", mask.Name,
			ir.ShapeString(mask.Type.Shape), mask.Type.Format)
	}
	return errors.New("attention to constant keys or values, or of constant queries that differ between batches, " +
		"has no hardware in this version")
}

// heads checks that both values are batches of tokens of heads, and that the heads of the second serve those of the
// first.
func heads(n *ir.Node) (a, b []int, err error) {
	a, b = n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(a) != 4 || len(b) != 4 || a[0] != b[0] {
		return nil, nil, fmt.Errorf("%s and %s are not batch x tokens x heads x elements", ir.ShapeString(a),
			ir.ShapeString(b))
	}
	if b[2] == 0 || a[2]%b[2] != 0 {
		return nil, nil, fmt.Errorf("%d heads of keys or values do not divide %d heads", b[2], a[2])
	}
	return a, b, nil
}

func scoresInfer(n *ir.Node) ([]int, error) {
	q, k, err := heads(n)
	if err != nil {
		return nil, err
	}
	if q[3] != k[3] {
		return nil, fmt.Errorf("queries of %d elements do not fit keys of %d", q[3], k[3])
	}
	return []int{q[0], q[1], q[2], k[1]}, nil
}

func sumInfer(n *ir.Node) ([]int, error) {
	p, v, err := heads(n)
	if err != nil {
		return nil, err
	}
	if p[3] != v[1] {
		return nil, fmt.Errorf("%d weights do not fit %d values", p[3], v[1])
	}
	return []int{p[0], p[1], p[2], v[3]}, nil
}

func weightsInfer(n *ir.Node) ([]int, error) {
	x := n.Args[0].Type.Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("%s is not batch x tokens x heads x keys", ir.ShapeString(x))
	}
	if len(n.Args) > 1 && !slices.Equal(n.Args[1].Type.Shape, []int{x[0], x[3]}) {
		return nil, fmt.Errorf("mask %s does not fit the scores %s: it has an element for each key",
			ir.ShapeString(n.Args[1].Type.Shape), ir.ShapeString(x))
	}
	return x, nil
}

// productMACs: an element of either product is a sum along the last axis of argument 0.
func productMACs(n *ir.Node) int { return n.Type.Elems() * n.Args[0].Type.Shape[3] }

// productBounds: as many products as are summed, of the greatest values; by weights of attention means of values.
func productBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	most := magnitude(args[1])
	if n.Args[0].Op != AttendWeights {
		most *= float64(n.Args[0].Type.Shape[3]) * magnitude(args[0])
	}
	return column.Between(n, -most, most), nil
}

// magnitude is the greatest absolute value within bounds.
func magnitude(b ir.Bounds) float64 {
	most := 0.0
	for i, lo := range b.Lo.Floats {
		most = max(most, math.Abs(float64(lo)), math.Abs(float64(b.Hi.Floats[i])))
	}
	return most
}

// headsFirst is x [B,T,H,D] as [B,G,H/G*T,D]: a matrix for each head of the keys.
func headsFirst(e *composite.Expansion, name string, x *ir.Node, groups int) *ir.Node {
	s := x.Type.Shape
	x = e.Do(name, move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, x)
	return e.Reshape(name+"_rows", x, s[0], groups, s[2]/groups*s[1], s[3])
}

// tokensFirst is x [B,G,H/G*T,D] in the shape of the node.
func tokensFirst(e *composite.Expansion, name string, x *ir.Node) *ir.Node {
	s := e.Of.Type.Shape
	x = e.Reshape(name+"_heads", x, s[0], s[2], s[1], s[3])
	return e.Do(name, move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, x)
}

func scoresExpand(n *ir.Node) ([]*ir.Node, error) {
	e, groups := composite.Expand(n), n.Args[1].Type.Shape[2]
	keys := e.Do("keys", move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 3, 1}}, n.Args[1])
	x := e.Do("products", sum.MatMul, nil, headsFirst(e, "queries", n.Args[0], groups), keys)
	x = tokensFirst(e, "scores", x)
	if a := n.Attrs.(*SeenAttrs); a.Causal {
		e.Do("seen", pointwise.Mul, nil, x, seenConst(e, a, n.Type.Shape, 1, 0))
	}
	return e.Done()
}

// seenConst is [T,1,S] with one number for keys that a token sees, and another one for the rest; shape is that of
// scores.
func seenConst(e *composite.Expansion, a *SeenAttrs, shape []int, seen, unseen float32) *ir.Node {
	tokens, keys := shape[1], shape[3]
	values := make([]float32, tokens*keys)
	for i := range values {
		if values[i] = unseen; a.sees(i/keys, i%keys) {
			values[i] = seen
		}
	}
	return e.Const("order", ir.Float(tokens, 1, keys), ir.FloatBlob(values))
}

func weightsExpand(n *ir.Node) ([]*ir.Node, error) {
	e, a, x := composite.Expand(n), n.Attrs.(*WeightsAttrs), n.Args[0]
	if a.Scale != 1 {
		x = e.Do("scaled", pointwise.Mul, nil, x, e.Number("scale", float64(a.Scale)))
	}
	if len(n.Args) > 1 {
		x = maskedKeys(e, x, n.Args[1])
	}
	if !a.Causal && len(n.Args) == 1 {
		e.Do("weights", norm.Softmax, &column.AxisAttrs{Axis: 3}, x)
		return e.Done()
	}
	if a.Causal {
		x = e.Do("causal", pointwise.Add, nil, x, seenConst(e, &a.SeenAttrs, n.Type.Shape, 0, float32(math.Inf(-1))))
	}
	rowSoftmax(e, x)
	return e.Done()
}

// maskedKeys is x with -Inf for keys at which the mask is 0.
func maskedKeys(e *composite.Expansion, x, mask *ir.Node) *ir.Node {
	zero := e.Number("zero", 0)
	if zero.Type.Format = mask.Type.Format; !mask.Type.IsFloat() {
		zero.Attrs = &ir.Const{Data: ir.CodeBlob([]int64{0})}
	}
	seen := e.Do("live", whole.Compare, &whole.CompareAttrs{Rel: "ne"}, mask, zero)
	s := x.Type.Shape
	seen = e.Reshape("live_keys", seen, s[0], 1, 1, s[3])
	return e.Do("masked", whole.Where, nil, seen, x, e.Number("never", math.Inf(-1)))
}

// rowSoftmax is the softmax of scores, zeros in rows of -Inf.
func rowSoftmax(e *composite.Expansion, x *ir.Node) *ir.Node {
	last := &reduce.Attrs{Axes: []int{3}}
	// The least float instead of the maximum of nothing, and 1 instead of a sum of nothing, make zeros of such rows.
	top := e.Do("top", pointwise.Max, nil, e.Do("max", reduce.Max, last, x), e.Number("least", -math.MaxFloat32))
	w := e.Do("exp", curve.Exp, nil, e.Do("below", pointwise.Sub, nil, x, top))
	total := e.Do("total", pointwise.Max, nil, e.Do("sum", reduce.Sum, last, w), e.Number("tiny", 0.5))
	w = e.Do("weights", pointwise.Mul, nil, w,
		e.Do("per_total", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, total))
	return w
}

func sumExpand(n *ir.Node) ([]*ir.Node, error) {
	e, groups := composite.Expand(n), n.Args[1].Type.Shape[2]
	p := n.Args[0]
	if a := n.Attrs.(*SeenAttrs); a.Causal {
		p = e.Do("seen", pointwise.Mul, nil, p, seenConst(e, a, p.Type.Shape, 1, 0))
	}
	values := e.Do("values", move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n.Args[1])
	tokensFirst(e, "sums", e.Do("products", sum.MatMul, nil, headsFirst(e, "weights", p, groups), values))
	return e.Done()
}

// drawHeads draws batch, tokens, keys, heads, heads of the keys and elements.
func drawHeads(r *rand.Rand) (b, t, s, h, g, d int) {
	g = draw.Between(r, 1, 2)
	return draw.Between(r, 1, 2), draw.Between(r, 1, 4), draw.Between(r, 1, 6), g * draw.Between(r, 1, 2), g,
		draw.Between(r, 1, 6)
}

// drawSeen draws tokens that see all keys, all up to their own, or few.
func drawSeen(r *rand.Rand, tokens, keys int) SeenAttrs {
	if draw.Chance(r, 50) {
		return SeenAttrs{}
	}
	return SeenAttrs{Causal: true, Offset: draw.Between(r, -tokens, keys)}
}

// drawCodes is an input of fixed values of up to 12 bits.
func drawCodes(r *rand.Rand, name string, shape ...int) *ir.Node {
	return draw.Input(name, ir.Type{Shape: shape, Format: draw.Fixed(r, 12)})
}

// genScores and the others draw heads that share keys and values.
func genScores(r *rand.Rand, o *ir.Op) *ir.Graph {
	b, t, s, h, g, d := drawHeads(r)
	q, k, a := drawCodes(r, "q", b, t, h, d), drawCodes(r, "k", b, s, g, d), drawSeen(r, t, s)
	return drawProducts(r, o, &a, q, k)
}

func genSum(r *rand.Rand, o *ir.Op) *ir.Graph {
	b, t, s, h, g, d := drawHeads(r)
	p, v, a := drawCodes(r, "p", b, t, h, s), drawCodes(r, "v", b, s, g, d), drawSeen(r, t, s)
	return drawProducts(r, o, &a, p, v)
}

// drawProducts draws the format of the result, or real scales of all.
func drawProducts(r *rand.Rand, o *ir.Op, a *SeenAttrs, args ...*ir.Node) *ir.Graph {
	y := ir.Type{Format: draw.Result(r, draw.Top(args[0].Type)+draw.Top(args[1].Type)+1)}
	if draw.Chance(r, 75) {
		return draw.Graph(o, a, y, args...)
	}
	for _, x := range args {
		f := draw.Affine(r, 11)
		f.Zero = 0
		if x.Type.Format = f; draw.Chance(r, 30) {
			x.Type.Format = draw.Fixed(r, 12)
		}
	}
	g := draw.Graph(o, a, y, args...)
	n := g.Out[0].Node
	if f, ok := ExactProducts(n); ok {
		v, _ := format.IntegersOf(f)
		n.Type.Format = format.Affine{W: draw.Between(r, 1, f.Width()), Signed: draw.Chance(r, 80),
			Scale: v.Step.Float32(), Axis: format.PerTensor, Over: []format.Over{format.Sat, format.Wrap}[r.IntN(2)]}
	}
	return g
}

func genWeights(r *rand.Rand, o *ir.Op) *ir.Graph {
	b, t, s, h, _, _ := drawHeads(r)
	f := draw.Fixed(r, 16)
	f.F = max(f.W-draw.Between(r, 1, 5), -1)
	a := &WeightsAttrs{SeenAttrs: drawSeen(r, t, s), Scale: []float32{1, 0.25, 0.35355338, 3}[r.IntN(4)]}
	y := format.Fixed{W: draw.Between(r, 1, 16)}
	y.F = y.W
	args := []*ir.Node{draw.Input("x", ir.Type{Shape: []int{b, t, h, s}, Format: f})}
	if draw.Chance(r, 40) {
		mask := format.Fixed{W: draw.Between(r, 1, 2), Signed: draw.Chance(r, 30)}
		args = append(args, draw.Input("mask", ir.Type{Shape: []int{b, s}, Format: mask}))
	}
	return draw.Graph(o, a, ir.Type{Format: y}, args...)
}
