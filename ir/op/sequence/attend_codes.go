// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"fmt"
	"math/bits"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/norm"
	"lathe/ir/op/walk"
)

// products are sums of products of two values, in integers.
type products struct {
	a, b, out format.Fixed
	exp       int // of the sums; 0 where scales are real, and out counts in steps of the product of both
	bits      int // of them, sign included
}

// productLegal takes fixed values whose sums have up to 63 bits, integers with real scales and no zero point, or values
// in blocks.
func productLegal(n *ir.Node) error {
	if dot.PairNamesWindow(n) {
		_, err := planBlocks(n)
		return err
	}
	_, err := planProducts(n)
	return err
}

// planProducts finds how wide the sums are. Where a scale is no power of two, the result counts in steps of
// the product of both, so that it is exact.
func planProducts(n *ir.Node) (p products, err error) {
	if err := column.Plain(n); err != nil {
		return p, err
	}
	fixed := true
	for i, to := range []*format.Fixed{&p.a, &p.b} {
		arg := n.Args[i]
		if arg.IsConst() {
			return p, fmt.Errorf("%s multiplies two values, and %q is a constant", n.Op.Name, arg.Name)
		}
		v, ok := format.IntegersOf(arg.Type.Format)
		if !ok || v.Zero != 0 {
			return p, fmt.Errorf("%s takes fixed values, or integers without a zero point, not %s", n.Op.Name,
				arg.Type.Format)
		}
		if *to, ok = format.AsFixed(arg.Type.Format); !ok {
			*to, fixed = v.Codes, false
		}
	}
	out, outFixed := format.AsFixed(n.Type.Format)
	if p.out = out; !fixed {
		exact, _ := ExactProducts(n)
		of, _ := format.IntegersOf(exact)
		is, ok := format.IntegersOf(n.Type.Format)
		if !ok || outFixed || is.Zero != 0 || is.Step.Cmp(of.Step) != 0 {
			return p, fmt.Errorf("%s of values with real scales makes integers of their product, as %s, not %s", n.Op.Name,
				exact, n.Type.Format)
		}
		p.out = is.Codes
	} else if !outFixed {
		return p, fmt.Errorf("%s makes fixed values, not %s", n.Op.Name, n.Type.Format)
	}
	terms := n.Args[0].Type.Shape[3]
	if p.bits = p.a.W + p.b.W + bits.Len(uint(terms)); fixed {
		p.exp = -p.a.F - p.b.F
	}
	if p.bits > 63 {
		return p, fmt.Errorf("%d products of %s and %s take %d bits; at most 63 are possible", terms,
			n.Args[0].Type.Format, n.Args[1].Type.Format, p.bits)
	}
	return p, nil
}

// ExactProducts is the format that holds every sum of the products of two values n with real scales; false for others.
func ExactProducts(n *ir.Node) (format.Format, bool) {
	if n.Op.Traits.Meets == 0 {
		return nil, false
	}
	return format.Product(n.Args[0].Type.Format, n.Args[1].Type.Format, n.Args[0].Type.Shape[3])
}

// each computes the rows of the result, several at once: row is that of head h of token t of batch b.
func each(n *ir.Node, row func(args []*ir.Tensor, y []int64, b, t, h int)) ir.Kernel {
	s := n.Type.Shape
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		few := 1 + walk.Grain/max(1, s[3]*n.Args[0].Type.Shape[3])
		workers.Ranges(s[0]*s[1]*s[2], few, func(from, to int) {
			for i := from; i < to; i++ {
				row(args, out.Codes[i*s[3]:(i+1)*s[3]], i/s[2]/s[1], i/s[2]%s[1], i%s[2])
			}
		})
		return out, nil
	}
}

func scoresEval(n *ir.Node) (ir.Kernel, error) {
	if dot.PairNamesWindow(n) {
		return blockScoresEval(n)
	}
	p, err := planProducts(n)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	q, k, a := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Attrs.(*SeenAttrs)
	enc, each1 := arith.Encoder(p.out, p.exp), q[2]/k[2]
	return each(n, func(args []*ir.Tensor, y []int64, b, t, h int) {
		query := args[0].Codes[((b*q[1]+t)*q[2]+h)*q[3]:][:q[3]]
		for s := range y {
			if !a.sees(t, s) {
				continue
			}
			sum := int64(0)
			for d, v := range args[1].Codes[((b*k[1]+s)*k[2]+h/each1)*k[3]:][:k[3]] {
				sum += query[d] * v
			}
			y[s] = enc(sum)
		}
	}), nil
}

func sumEval(n *ir.Node) (ir.Kernel, error) {
	if dot.PairNamesWindow(n) {
		return blockSumEval(n)
	}
	p, err := planProducts(n)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	w, v, a := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Attrs.(*SeenAttrs)
	enc, each1 := arith.Encoder(p.out, p.exp), w[2]/v[2]
	return each(n, func(args []*ir.Tensor, y []int64, b, t, h int) {
		for s, weight := range args[0].Codes[((b*w[1]+t)*w[2]+h)*w[3]:][:w[3]] {
			if !a.sees(t, s) {
				continue
			}
			for e, value := range args[1].Codes[((b*v[1]+s)*v[2]+h/each1)*v[3]:][:v[3]] {
				y[e] += weight * value
			}
		}
		for e, sum := range y {
			y[e] = enc(sum)
		}
	}), nil
}

func weightsEval(n *ir.Node) (ir.Kernel, error) {
	a := n.Attrs.(*WeightsAttrs)
	rows, err := norm.PlanRows(n, float64(a.Scale))
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	s := n.Type.Shape
	return each(n, func(args []*ir.Tensor, y []int64, b, t, h int) {
		x := args[0].Codes[((b*s[1]+t)*s[2]+h)*s[3]:][:s[3]]
		rows.Row(y, x, func(key int) bool {
			return a.sees(t, key) && (len(args) == 1 || args[1].Codes[b*s[3]+key] != 0)
		})
	}), nil
}

// sampled are axes of a value, behind that of samples, where there is one.
func sampled(b *hlo.Builder, axes ...int) []int {
	if axes = b.Axes(axes...); b.Lead() > 0 {
		return append([]int{0}, axes...)
	}
	return axes
}

// seenMask prints which scores a token sees, in the shape of scores; nil where it sees all.
func seenMask(b *hlo.Builder, a *SeenAttrs, shape []int) *hlo.Value {
	if !a.Causal {
		return nil
	}
	codes := make([]int64, shape[1]*shape[3])
	for i := range codes {
		if a.sees(i/shape[3], i%shape[3]) {
			codes[i] = 1
		}
	}
	seen := b.Const(hlo.FromInt64s(hlo.I32, []int{shape[1], shape[3]}, codes))
	seen = carrier.IsTrue(b, b.BroadcastInDim(seen, b.Dims(shape...), b.Axes(1, 3)))
	return &seen
}

// printProducts prints sums over axis of a, [B,T,H,?], and axis other of b, [B,S,G,?], rounded: [B,T,H,?].
func printProducts(b *hlo.Builder, n *ir.Node, x, y hlo.Value, axis, other int) (hlo.Value, error) {
	p, err := planProducts(n)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
	}
	s, groups := n.Args[0].Type.Shape, n.Args[1].Type.Shape[2]
	x = b.Reshape(x, b.Dims(s[0], s[1], groups, s[2]/groups, s[3])...)
	d := hlo.Dot{LhsContract: b.Axes(axis + 1), RhsContract: b.Axes(other),
		LhsBatch: sampled(b, 0, 2), RhsBatch: sampled(b, 0, 2)}
	v := b.DotInt(x, y, d, p.bits) // [B,G,T,H/G,?]
	v = b.Reshape(b.Transpose(v, sampled(b, 0, 2, 1, 3, 4)...), b.Dims(n.Type.Shape...)...)
	return carrier.RequantTo(b, n, p.out, v, p.exp, p.bits)
}

// printScores prints the scores of all keys.
func printScores(b *hlo.Builder, n *ir.Node, q, k hlo.Value) (hlo.Value, error) {
	if dot.PairNamesWindow(n) {
		return printBlocks(b, n, q, k)
	}
	return printProducts(b, n, q, k, 3, 3)
}

func scoresHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	y, err := printScores(b, n, args[0], args[1])
	if err != nil {
		return y, err
	}
	if seen := seenMask(b, n.Attrs.(*SeenAttrs), n.Type.Shape); seen != nil {
		y = b.Select(*seen, y, b.Splat(y, 0))
	}
	return y, b.Err()
}

func sumHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	p := args[0]
	if seen := seenMask(b, n.Attrs.(*SeenAttrs), n.Args[0].Type.Shape); seen != nil {
		p = b.Select(*seen, p, b.Splat(p, 0))
	}
	if dot.PairNamesWindow(n) {
		return printBlocks(b, n, p.WithScale(args[0].Scale()), args[1])
	}
	return printProducts(b, n, p, args[1], 3, 1)
}

func weightsHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*WeightsAttrs)
	rows, err := norm.PlanRows(n, float64(a.Scale))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
	}
	seen := seenMask(b, &a.SeenAttrs, n.Type.Shape)
	if len(args) > 1 {
		live := carrier.IsTrue(b, b.BroadcastInDim(args[1], args[0].Type().Dims, sampled(b, 0, 3)))
		if seen != nil {
			live = b.And(*seen, live)
		}
		seen = &live
	}
	y := rows.Print(b, carrier.Wide(b, args[0]), b.Axis(3), seen)
	return b.Convert(y, carrier.DType(n.Type)), b.Err()
}
