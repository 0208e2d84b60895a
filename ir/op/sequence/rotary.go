// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// RotaryAttrs are the attributes of rotary.
type RotaryAttrs struct {
	// Interleaved pairs element 2i with 2i+1; else i with i + Dim/2.
	Interleaved bool
	// Dim is how many elements, from the first on, are turned; the others stay. 0 is all.
	Dim int
}

// Rotary turns pairs of elements by an angle for each position (Su et al., RoFormer, 2021): x [B,H,T,D] with cosines
// and sines [T,Dim/2] or [B,T,Dim/2] gives (a*cos - b*sin, a*sin + b*cos) for the pair (a, b). With a fourth argument,
// the position of the first row, they are tables [N,Dim/2] of all positions: it is moved to the nearest of 0 to N-T.
var Rotary = composite.New(ir.Op{
	Name: "rotary", Doc: "pairs of elements turned by an angle for each position", Attrs: RotaryAttrs{},
	Arity: [2]int{3, 4}, Traits: ir.Traits{FloatOnly: true, Index: rotaryIndex},
	Infer: rotaryInfer, Format: rotaryFormat, Eval: rotaryEval, Expand: rotaryExpand,
	Legal: column.NoInteger, Gen: genRotary,
})

// rotated is how many elements of a row are turned.
func rotated(n *ir.Node) int {
	if d := n.Attrs.(*RotaryAttrs).Dim; d != 0 {
		return d
	}
	return n.Args[0].Type.Shape[3]
}

// rotaryIndex: the positions are those at which all rows have room.
func rotaryIndex(n *ir.Node, i int) int {
	if i != 3 {
		return 0
	}
	return lastPlace(n.Args[1], 0, n.Args[0]) + 1
}

func rotaryFormat(n *ir.Node) (format.Format, error) {
	if len(n.Args) > 3 {
		if err := placeFormat(n.Args[3]); err != nil {
			return nil, err
		}
	}
	return n.OneFormat(n.Args[:3]...)
}

func rotaryInfer(n *ir.Node) ([]int, error) {
	x := n.Args[0].Type.Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("%s is not batch x heads x positions x elements", ir.ShapeString(x))
	}
	dim := rotated(n)
	if dim < 2 || dim > x[3] || dim%2 != 0 {
		return nil, fmt.Errorf("%d elements of %s cannot be rotated in pairs", dim, ir.ShapeString(x))
	}
	if len(n.Args) > 3 {
		for _, a := range n.Args[1:3] {
			if s := a.Type.Shape; len(s) != 2 || s[0] < x[2] || s[1] != dim/2 || s[0] != n.Args[1].Type.Shape[0] {
				return nil, fmt.Errorf("%s has shape %s, %s needs a table of %d columns and at least %d rows", a.Name,
					ir.ShapeString(s), ir.ShapeString(x), dim/2, x[2])
			}
		}
		return x, placeShape(n.Args[3])
	}
	for _, a := range n.Args[1:] {
		s := a.Type.Shape
		if !slices.Equal(s, []int{x[2], dim / 2}) && !slices.Equal(s, []int{x[0], x[2], dim / 2}) {
			return nil, fmt.Errorf("%s has shape %s, %s needs %dx%d, or that for each of %d", a.Name, ir.ShapeString(s),
				ir.ShapeString(x), x[2], dim/2, x[0])
		}
	}
	return x, nil
}

func rotaryEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf(diag.NoIntegerForm, "rotary has no integer form in this version")
	}
	shape, half := n.Type.Shape, rotated(n)/2
	stride, next := 1, half // between the pairs, and between the elements of a pair
	if n.Attrs.(*RotaryAttrs).Interleaved {
		stride, next = 2, 1
	}
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		copy(out.Floats, args[0].Floats)
		first := 0
		if len(args) > 3 {
			first = place(args[3], lastPlace(n.Args[1], 0, n.Args[0]))
		}
		for row := 0; row*shape[3] < len(out.Floats); row++ {
			x, y := args[0].Floats[row*shape[3]:], out.Floats[row*shape[3]:]
			at := (row/(shape[1]*shape[2])*shape[2] + row%shape[2]) * half
			if len(args) > 3 {
				at = (first + row%shape[2]) * half
			}
			cos, sin := args[1].Floats[at%len(args[1].Floats):], args[2].Floats[at%len(args[2].Floats):]
			for i := range half {
				a, b := float64(x[i*stride]), float64(x[i*stride+next])
				c, s := float64(cos[i]), float64(sin[i])
				y[i*stride], y[i*stride+next] = float32(a*c-b*s), float32(a*s+b*c)
			}
		}
		return out, nil
	}, nil
}

func rotaryExpand(n *ir.Node) ([]*ir.Node, error) {
	e, x, half := composite.Expand(n), n.Args[0], rotated(n)/2
	shape, interleaved := x.Type.Shape, n.Attrs.(*RotaryAttrs).Interleaved
	part := &move.SliceAttrs{Axis: 3, Count: half, Step: 1}
	other := &move.SliceAttrs{Axis: 3, Start: half, Count: half, Step: 1}
	if interleaved {
		part.Step, other.Start, other.Step = 2, 1, 2
	}
	a, b := e.Do("first", move.Slice, part, x), e.Do("second", move.Slice, other, x)
	var angle [2]*ir.Node
	for i, arg := range n.Args[1:3] {
		if len(n.Args) > 3 {
			arg = placedRows(e, arg, n.Args[3], shape[2], []string{"cos_rows", "sin_rows"}[i])
		}
		if angle[i] = arg; len(arg.Type.Shape) == 3 { // the same for all heads
			angle[i] = e.Reshape([]string{"cos", "sin"}[i], arg, shape[0], 1, shape[2], half)
		}
	}
	first := e.Do("turned_first", pointwise.Sub, nil, e.Do("ac", pointwise.Mul, nil, a, angle[0]),
		e.Do("bs", pointwise.Mul, nil, b, angle[1]))
	second := e.Do("turned_second", pointwise.Add, nil, e.Do("as", pointwise.Mul, nil, a, angle[1]),
		e.Do("bc", pointwise.Mul, nil, b, angle[0]))
	pair := &move.ConcatAttrs{Axis: 3}
	if interleaved {
		column := append(slices.Clone(shape[:3]), half, 1)
		first, second = e.Reshape("firsts", first, column...), e.Reshape("seconds", second, column...)
		pair = &move.ConcatAttrs{Axis: 4}
	}
	y := e.Do("turned", move.Concat, pair, first, second)
	y = e.Reshape("row", y, shape[0], shape[1], shape[2], 2*half)
	if rest := shape[3] - 2*half; rest > 0 {
		tail := e.Do("rest", move.Slice, &move.SliceAttrs{Axis: 3, Start: 2 * half, Count: rest, Step: 1}, x)
		e.Do("rows", move.Concat, &move.ConcatAttrs{Axis: 3}, y, tail)
	}
	return e.Done()
}

// placedRows are count rows of a table from a position on.
func placedRows(e *composite.Expansion, table, position *ir.Node, count int, name string) *ir.Node {
	places := e.Do(name+"_at", pointwise.Add, nil, wholes(e, name+"_places", upTo(count), count),
		placed(e, position, 0, table.Type.Shape[0]-count))
	return e.Do(name, whole.Gather, &column.AxisAttrs{Axis: 0}, table, places)
}

// genRotary draws both ways of pairing, angles for all batches or each, and rows that are turned in part.
func genRotary(r *rand.Rand, o *ir.Op) *ir.Graph {
	a := &RotaryAttrs{Interleaved: draw.Chance(r, 50)}
	shape := []int{draw.Between(r, 1, 2), draw.Between(r, 1, 3), draw.Between(r, 1, 4), 2 * draw.Between(r, 1, 4)}
	dim := shape[3]
	if draw.Chance(r, 40) {
		a.Dim = 2 * draw.Between(r, 1, dim/2)
		dim = a.Dim
	}
	args := []*ir.Node{draw.Input("x", ir.Float(shape...))}
	if draw.Chance(r, 30) {
		table := []int{shape[2] + draw.Between(r, 0, 3), dim / 2}
		args = append(args, draw.Operand(r, 70, "cos", table...), draw.Operand(r, 70, "sin", table...))
		return draw.FloatGraph(o, a, append(args, genPlace(r, table[0]-shape[2]))...)
	}
	for _, name := range []string{"cos", "sin"} {
		s := []int{shape[2], dim / 2}
		if draw.Chance(r, 40) {
			s = []int{shape[0], shape[2], dim / 2}
		}
		args = append(args, draw.Operand(r, 70, name, s...))
	}
	return draw.FloatGraph(o, a, args...)
}
