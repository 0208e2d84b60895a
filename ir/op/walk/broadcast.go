// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"fmt"

	"lathe/ir"
)

// Broadcast is NumPy's rule: shapes are aligned at the end, sizes agree or one of them is 1.
func Broadcast(a, b []int) ([]int, error) {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		da, db := dimFromEnd(a, len(out)-i), dimFromEnd(b, len(out)-i)
		switch {
		case da == db || db == 1:
			out[i] = da
		case da == 1:
			out[i] = db
		default:
			return nil, fmt.Errorf("shapes %s and %s do not broadcast", ir.ShapeString(a), ir.ShapeString(b))
		}
	}
	return out, nil
}

func dimFromEnd(shape []int, fromEnd int) int {
	if fromEnd > len(shape) {
		return 1
	}
	return shape[len(shape)-fromEnd]
}

// BroadcastIndex lists, for each element of out, the index of the element of in that it reads.
func BroadcastIndex(in, out []int) []int {
	index := []int{0}
	strides := make([]int, len(out))
	s := 1
	for i := 1; i <= len(out); i++ {
		if d := dimFromEnd(in, i); d != 1 {
			strides[len(out)-i] = s
			s *= d
		}
	}
	for i, d := range out {
		next := make([]int, 0, len(index)*d)
		for _, base := range index {
			for k := range d {
				next = append(next, base+k*strides[i])
			}
		}
		index = next
	}
	return index
}

// Size of dimensions.
func Size(dims []int) int {
	p := 1
	for _, d := range dims {
		p *= d
	}
	return p
}

// Axis maps a possibly negative axis into 0..rank-1.
func Axis(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d is outside rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// Strides is the distance of neighbours along each axis, in elements.
func Strides(shape []int) []int {
	strides, s := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = s
		s *= shape[i]
	}
	return strides
}

// AxesFrom lists the axes from the given one on.
func AxesFrom(axis, rank int) []int {
	var axes []int
	for i := axis; i < rank; i++ {
		axes = append(axes, i)
	}
	return axes
}

// BroadcastArgs is the shape of the result of an element-wise operation.
func BroadcastArgs(n *ir.Node) ([]int, error) {
	shape := n.Args[0].Type.Shape
	var err error
	for _, a := range n.Args[1:] {
		if shape, err = Broadcast(shape, a.Type.Shape); err != nil {
			return nil, err
		}
	}
	return shape, nil
}

// BroadcastIndices lists for each argument the elements that the elements of the result are made of.
func BroadcastIndices(n *ir.Node) [][]int {
	index := make([][]int, len(n.Args))
	for i, a := range n.Args {
		index[i] = BroadcastIndex(a.Type.Shape, n.Type.Shape)
	}
	return index
}
