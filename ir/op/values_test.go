// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/op/draw"
)

// What traits and columns say of the values of results, for TestTraits.

// hasPositions wants whole numbers below the size.
func hasPositions(r *rand.Rand, n *ir.Node) error {
	y, err := draw.Run(n, drawn(r, n))
	if err != nil {
		return err
	}
	values, err := y.Decode()
	for i, v := range values {
		if v != math.Trunc(v) || v < 0 || v >= float64(n.Op.Traits.Positions(n)) {
			return fmt.Errorf("element %d is %g, of %d positions", i, v, n.Op.Traits.Positions(n))
		}
	}
	return err
}

func permutes(r *rand.Rand, n *ir.Node) error {
	x := drawn(r, n)
	y, err := draw.Run(n, x)
	if err != nil {
		return err
	}
	for i, from := range ir.TransposeIndex(x[0].Type.Shape, n.Op.Traits.Perm(n.Attrs)) {
		if element(y, i) != element(x[0], from) {
			return fmt.Errorf("element %d is not that at %d of the argument", i, from)
		}
	}
	return nil
}

// casts wants each element alone rounded into the format of the result; blocks are encoded together.
func casts(r *rand.Rand, n *ir.Node) error {
	if n.Type.InBlocks() || n.Args[0].Type.InBlocks() {
		return nil
	}
	x := drawn(r, n)
	y, err := draw.Run(n, x)
	if err != nil {
		return err
	}
	for i, c := range x[0].Codes {
		v := n.Args[0].Type.Format.Decode(c)
		if want := n.Type.Format.Encode(v); y.Codes[i] != want {
			return fmt.Errorf("element %d is %d, %g is coded %d", i, y.Codes[i], v.Float64(), want)
		}
	}
	return nil
}

// bounds evaluates the node in float on values inside of random bounds.
func bounds(r *rand.Rand, n *ir.Node) error {
	f := *n
	f.Type, f.Args = ir.Float(n.Type.Shape...), slices.Clone(n.Args)
	x, args := make([]*ir.Tensor, len(n.Args)), make([]ir.Bounds, len(n.Args))
	for i, a := range n.Args {
		value := func() float32 { return float32(r.NormFloat64()) }
		c := *a
		c.Type = ir.Float(a.Type.Shape...)
		f.Args[i] = &c
		lo, hi := ir.NewTensor(c.Type), ir.NewTensor(c.Type)
		x[i] = ir.NewTensor(c.Type)
		for k := range lo.Floats {
			at := value()
			lo.Floats[k], hi.Floats[k] = at, at
			if x[i].Floats[k] = at; !a.IsConst() {
				hi.Floats[k] += r.Float32()
				x[i].Floats[k] = min(at+r.Float32(), hi.Floats[k])
			}
		}
		if args[i] = (ir.Bounds{Lo: lo, Hi: hi}); a.IsConst() {
			c.Attrs = &ir.Const{Data: ir.FloatBlob(x[i].Floats)}
			if n.Op.Traits.Weighted {
				args[i] = ir.Bounds{}
			}
		}
	}
	y, err := draw.Run(&f, x)
	if err != nil {
		return err
	}
	b, err := n.Op.Bounds(&f, args)
	if err != nil {
		return err
	}
	values, err := y.Decode()
	for i, v := range values {
		lo, hi := float64(b.Lo.Floats[i]), float64(b.Hi.Floats[i])
		if slack := 1e-4 * (1 + max(-lo, hi)); v < lo-slack || v > hi+slack {
			return fmt.Errorf("element %d is %g, beyond [%g, %g]", i, v, lo, hi)
		}
	}
	return err
}
