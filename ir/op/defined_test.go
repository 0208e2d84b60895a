// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/custom"
	"lathe/ir/op/draw"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/walk"
)

// defined are the meanings of operations that are evaluated as what they expand to.
var defined = map[*ir.Op]func(n *ir.Node, args []*ir.Tensor) (*ir.Tensor, error){
	norm.GroupNorm: groupNormDefined, custom.Module: moduleDefined,
	sum.LinearEach: sumEachDefined, sum.ConvEach: sumEachDefined,
}

// sumEachDefined gives each channel, the last axis, a format of its own.
func sumEachDefined(n *ir.Node, args []*ir.Tensor) (*ir.Tensor, error) {
	s, codes := *n, pointwise.QuantEachAttrs{}
	switch a := n.Attrs.(type) {
	case *sum.LinearEachAttrs:
		s.Op, s.Attrs, codes = sum.Linear, nil, a.QuantEachAttrs
	case *sum.ConvEachAttrs:
		s.Op, s.Attrs, codes = sum.Conv, &a.ConvAttrs, a.QuantEachAttrs
	}
	y, err := draw.Run(&s, args)
	if err != nil {
		return nil, err
	}
	all, err := format.Parse(codes.Format)
	for i, v := range y.Floats {
		c, own := i%len(codes.Bits), all.(format.Fixed)
		if y.Floats[i] = 0; codes.Bits[c] > 0 {
			own.W, own.F = codes.Bits[c], own.F-codes.Drop[c]
			y.Floats[i] = own.Decode(own.Encode(format.FromFloat32(v))).Float32()
		}
	}
	return y, err
}

// groupNormDefined is group_norm by its formula, in float64: the elements of a sample's group follow each other.
func groupNormDefined(n *ir.Node, args []*ir.Tensor) (*ir.Tensor, error) {
	a, shape, out := n.Attrs.(*norm.GroupNormAttrs), n.Type.Shape, ir.NewTensor(n.Type)
	full, err := column.FixedArgs(n)(args)
	if err != nil {
		return nil, err
	}
	x, each := full[0].Floats, walk.Size(shape[2:])
	size := each * shape[1] / a.Groups
	for from := 0; from < len(x); from += size {
		mean, variance := norm.Moments(x[from : from+size])
		for i := from; i < from+size; i++ {
			y := (float64(x[i]) - mean) / math.Sqrt(variance+float64(a.Eps))
			if len(full) > 1 {
				y *= float64(full[1].Floats[i/each%shape[1]])
			}
			if len(full) > 2 {
				y += float64(full[2].Floats[i/each%shape[1]])
			}
			out.Floats[i] = float32(y)
		}
	}
	return out, nil
}

// moduleDefined is the relu that random graphs take for a module.
func moduleDefined(n *ir.Node, args []*ir.Tensor) (*ir.Tensor, error) {
	y := ir.NewTensor(n.Type)
	for i, v := range args[0].Floats {
		y.Floats[i] = max(v, 0)
	}
	return y, nil
}
