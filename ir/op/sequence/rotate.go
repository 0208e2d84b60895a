// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
	"lathe/ir/op/move"
)

// Rotate is Rotary of tokens that come before their heads: x [B,T,H,D] with constant cosines and sines [T,Dim/2] gives
// (a*cos - b*sin, a*sin + b*cos) for the pair (a, b). Quantized, each of both is rounded once, and the constants have
// one format.
var Rotate = composite.OnCodes(ir.Op{
	Name: "rotate", Doc: "pairs of elements turned by an angle for each token, tokens first", Attrs: RotaryAttrs{},
	Arity: [2]int{3, 3}, Traits: ir.Traits{RoundsOnce: true, Tokens: ir.EachToken},
	Infer: rotateInfer, Bounds: rotateBounds, Eval: rotateEval, Expand: rotateExpand, HLO: rotateHLO,
	RTL: rotateRTL, Lanes: rotateLanes, Gen: genRotate,
	Legal: func(n *ir.Node) error {
		_, err := planRotate(n)
		return err
	},
})

func rotateInfer(n *ir.Node) ([]int, error) {
	x := n.Args[0].Type.Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("%s is not batch x tokens x heads x elements", ir.ShapeString(x))
	}
	dim := rotated(n)
	if dim < 2 || dim > x[3] || dim%2 != 0 {
		return nil, fmt.Errorf("%d elements of %s cannot be rotated in pairs", dim, ir.ShapeString(x))
	}
	for _, a := range n.Args[1:] {
		if s := a.Type.Shape; !slices.Equal(s, []int{x[1], dim / 2}) {
			return nil, fmt.Errorf("%s has shape %s, %s needs %dx%d", a.Name, ir.ShapeString(s), ir.ShapeString(x), x[1], dim/2)
		}
	}
	return x, nil
}

// rotateBounds: no element of a pair grows by more than its cosine and its sine together.
func rotateBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	most := magnitude(args[0]) * max(1, magnitude(args[1])+magnitude(args[2]))
	return column.Between(n, -most, most), nil
}

// rotateExpand is rotary between transposes.
func rotateExpand(n *ir.Node) ([]*ir.Node, error) {
	e, perm, attrs := composite.Expand(n), []int{0, 2, 1, 3}, *n.Attrs.(*RotaryAttrs)
	x := e.Do("heads", move.Transpose, &move.TransposeAttrs{Perm: perm}, n.Args[0])
	x = e.Do("turned", Rotary, &attrs, x, n.Args[1], n.Args[2])
	e.Do("tokens", move.Transpose, &move.TransposeAttrs{Perm: perm}, x)
	return e.Done()
}

// turns are the rotations of a node in integers: an element is own*itself + other*its partner, in steps of 2^exp.
type turns struct {
	x, angle   format.Fixed
	exp, bits  int     // of the sums, sign included
	factor     int     // bits of own and other, two's complement
	partner    []int   // of each element of a head; its own number where it is not turned
	own, other []int64 // of each token and element
	pair       []int   // of each element; -1 where it is not turned
}

// planRotate finds factors and partners.
func planRotate(n *ir.Node) (*turns, error) {
	if err := column.Plain(n); err != nil {
		return nil, err
	}
	p, fixed := &turns{}, true
	for i, to := range []*format.Fixed{&p.x, &p.angle} {
		fx, ok := format.AsFixed(n.Args[i].Type.Format)
		*to, fixed = fx, fixed && ok
	}
	_, result := format.AsFixed(n.Type.Format)
	switch {
	case !fixed || !result:
		return nil, fmt.Errorf("rotate takes and makes fixed values, not %s, %s and %s", n.Args[0].Type.Format,
			n.Args[1].Type.Format, n.Type.Format)
	case !n.Args[1].IsConst() || !n.Args[2].IsConst() || n.Args[0].IsConst():
		return nil, errors.New("cosines and sines of rotate are constants, and the rest is not")
	case !n.Args[1].Type.SameFormat(n.Args[2].Type):
		return nil, fmt.Errorf("cosines of %s need sines of that format, not of %s", n.Args[1].Type.Format,
			n.Args[2].Type.Format)
	case p.angle.F < 0 || p.angle.F > 30:
		return nil, fmt.Errorf("cosines of %s do not have 0 to 30 fraction bits", p.angle)
	}
	p.factor = arith.Magnitude(p.angle)
	if rotated(n) < n.Type.Shape[3] {
		p.factor = max(p.factor, p.angle.F+2) // holds 1
	}
	p.exp, p.bits = -p.x.F-p.angle.F, p.x.W+p.factor+1
	if p.bits > 63 {
		return nil, fmt.Errorf("products of %s and %s take %d bits; at most 63 are possible", p.x, p.angle, p.bits)
	}
	return p, nil
}

// fill lists the factors of all elements.
func (p *turns) fill(n *ir.Node) error {
	cos, err := n.Args[1].Value()
	if err != nil {
		return err
	}
	sin, err := n.Args[2].Value()
	if err != nil {
		return err
	}
	half, size := rotated(n)/2, n.Type.Shape[3]
	for i := range size {
		partner, pair := i, -1
		switch {
		case i >= 2*half:
		case n.Attrs.(*RotaryAttrs).Interleaved:
			partner, pair = i^1, i/2
		default:
			partner, pair = (i+half)%(2*half), i%half
		}
		p.partner, p.pair = append(p.partner, partner), append(p.pair, pair)
	}
	for t := range n.Type.Shape[1] {
		for i, pair := range p.pair {
			own, other := int64(1)<<p.angle.F, int64(0)
			if pair >= 0 {
				own, other = cos.Codes[t*half+pair], sin.Codes[t*half+pair]
				if i < p.partner[i] {
					other = -other
				}
			}
			p.own, p.other = append(p.own, own), append(p.other, other)
		}
	}
	return nil
}

func rotateEval(n *ir.Node) (ir.Kernel, error) {
	p, err := planRotate(n)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	if err := p.fill(n); err != nil {
		return nil, err
	}
	s, enc := n.Type.Shape, arith.Encoder(n.Type.Format, p.exp)
	return each(n, func(args []*ir.Tensor, y []int64, b, t, h int) {
		x := args[0].Codes[((b*s[1]+t)*s[2]+h)*s[3]:][:s[3]]
		own, other := p.own[t*s[3]:], p.other[t*s[3]:]
		for i, v := range x {
			y[i] = enc(v*own[i] + x[p.partner[i]]*other[i])
		}
	}), nil
}

func rotateHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	p, err := planRotate(n)
	if err == nil {
		err = p.fill(n)
	}
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
	}
	s, half := n.Type.Shape, rotated(n)/2
	x, dims, axis := carrier.Wide(b, args[0]), b.Dims(s...), b.Axis(3)
	turned := b.SliceAxis(x, axis, 0, 2*half)
	cut, place := []int{2, half}, axis // pairs are rows or columns of a matrix
	if n.Attrs.(*RotaryAttrs).Interleaved {
		cut, place = []int{half, 2}, axis+1
	}
	turned = b.Reshape(turned, append(b.Dims(s[:3]...), cut...)...)
	turned = b.Concat(place, b.SliceAxis(turned, place, 1, 2), b.SliceAxis(turned, place, 0, 1))
	turned = b.Reshape(turned, b.Dims(s[0], s[1], s[2], 2*half)...)
	if s[3] > 2*half {
		turned = b.Concat(axis, turned, b.SliceAxis(x, axis, 2*half, s[3]))
	}
	factor := func(codes []int64) hlo.Value {
		return b.BroadcastInDim(b.Const(hlo.FromInt64s(hlo.I64, []int{s[1], s[3]}, codes)), dims, b.Axes(1, 3))
	}
	y := b.Add(b.Mul(x, factor(p.own)), b.Mul(turned, factor(p.other)))
	return carrier.Requant(b, n, y, p.exp, p.bits)
}

// genRotate draws both ways of pairing, and rows that are turned in part.
func genRotate(r *rand.Rand, o *ir.Op) *ir.Graph {
	a := &RotaryAttrs{Interleaved: draw.Chance(r, 50)}
	s := []int{draw.Between(r, 1, 2), draw.Between(r, 1, 4), draw.Between(r, 1, 3), draw.Between(r, 2, 8)}
	a.Dim = s[3] &^ 1
	if draw.Chance(r, 40) {
		a.Dim = 2 * draw.Between(r, 1, s[3]/2)
	}
	f := draw.Fixed(r, 16)
	f.Over, f.F = format.Sat, draw.Between(r, 0, f.W)
	t := ir.Type{Shape: []int{s[1], a.Dim / 2}, Format: f}
	size := t.Shape[0] * t.Shape[1]
	x := drawCodes(r, "x", s...)
	top := draw.Top(x.Type) + int(math.Max(float64(draw.Top(t)), 0)) + 1
	return draw.Graph(o, a, ir.Type{Format: draw.Result(r, top)}, x, draw.Const("cos", t, draw.Codes(r, f, size)),
		draw.Const("sin", t, draw.Codes(r, f, size)))
}
