// SPDX-License-Identifier: Apache-2.0

// Package move holds the operations that move elements and compute nothing.
package move

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
)

// Operations that move elements and compute nothing. A unit of this kind counts beats, so its lanes must divide every
// run of elements that it moves as one.

// moves is the column of a unit that moves elements, of which legal lists the lanes.
func moves(legal func(n *ir.Node) []int) func(n *ir.Node) (*ir.Lanes, error) {
	return func(n *ir.Node) (*ir.Lanes, error) {
		d := legal(n)
		return &ir.Lanes{In: ir.Count{Legal: d, Size: d[len(d)-1], Things: "elements that move as one"}, Mem: true}, nil
	}
}

// moveEval evaluates an operation whose element i is element index[i] of argument 0, or made where that is negative.
func moveEval(n *ir.Node, index []int, float float32, code int64) ir.Kernel {
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i, k := range index {
			switch {
			case k < 0 && n.Type.IsFloat():
				out.Floats[i] = float
			case k < 0:
				out.Codes[i] = code
			case n.Type.IsFloat():
				out.Floats[i] = args[0].Floats[k]
			default:
				out.Codes[i] = args[0].Codes[k]
			}
		}
		return out, nil
	}
}

// walkEval copies the elements of argument 0 on a walk.
func walkEval(n *ir.Node, w *walk.Walk) ir.Kernel {
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		if n.Type.IsFloat() {
			walk.Move(w, out.Floats, args[0].Floats)
		} else {
			walk.Move(w, out.Codes, args[0].Codes)
		}
		return out, nil
	}
}

// along lists, for every element of an array of the result's shape, the element of argument 0 at the place that at
// gives along the axis; a negative place stays negative.
func along(n *ir.Node, axis int, at func(i int) int) []int {
	in, out := n.Args[0].Type.Shape, n.Type.Shape
	inner := walk.Size(out[axis+1:])
	index := make([]int, n.Type.Elems())
	for i := range index {
		place := at(i / inner % out[axis])
		if place < 0 {
			index[i] = -1
			continue
		}
		index[i] = (i/inner/out[axis]*in[axis]+place)*inner + i%inner
	}
	return index
}

// onAxis checks that an axis attribute names an axis of argument 0.
func onAxis(n *ir.Node, axis int) error {
	if shape := n.Args[0].Type.Shape; axis < 0 || axis >= len(shape) {
		return fmt.Errorf("axis %d is outside %s", axis, ir.ShapeString(shape))
	}
	return nil
}

// resized is the shape of argument 0 with another size of one axis.
func resized(n *ir.Node, axis, size int) []int {
	shape := append([]int(nil), n.Args[0].Type.Shape...)
	shape[axis] = size
	return shape
}

// checkMove reports lanes that the unit of n cannot have.
func checkMove(n *ir.Node) error {
	l, err := n.Op.Lanes(n)
	if err != nil {
		return err
	}
	if e := lane.Check(n, "out_lanes", n.HW.OutLanes, l.In.Legal, l.In.Size, l.In.Things); e != nil {
		return e
	}
	return nil
}
