// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/leaf"
)

// Element draws a float graph of an element-wise operation: shapes that broadcast, one argument in three a constant.
func Element(r *rand.Rand, o *ir.Op, attrs any, formats ...format.Format) *ir.Graph {
	full := Shape(r, 0, 3)
	args := make([]*ir.Node, len(formats))
	for i, f := range formats {
		t := ir.Type{Shape: full, Format: f}
		if Chance(r, 50) {
			t.Shape = Smaller(r, full)
		}
		name := string(rune('a' + i))
		if args[i] = Input(name, t); i > 0 && Chance(r, 33) {
			args[i] = Values(r, name, t)
		}
	}
	return FloatGraph(o, attrs, args...)
}

// Smaller draws a shape that broadcasts to full.
func Smaller(r *rand.Rand, full []int) []int {
	shape := append([]int(nil), full...)
	for i := range shape {
		if Chance(r, 30) {
			shape[i] = 1
		}
	}
	return shape[r.IntN(len(shape)+1):]
}

// Values is a constant of random values.
func Values(r *rand.Rand, name string, t ir.Type) *ir.Node {
	n := &ir.Node{Name: name, Op: leaf.Const, Type: t}
	if !t.IsFloat() {
		n.Attrs = &ir.Const{Data: ir.CodeBlob(Codes(r, t.Format, t.Elems()))}
		return n
	}
	values := make([]float32, t.Elems())
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	n.Attrs = &ir.Const{Data: ir.FloatBlob(values)}
	return n
}

// FloatGraph is the float graph of a single operation.
func FloatGraph(o *ir.Op, attrs any, args ...*ir.Node) *ir.Graph {
	n := &ir.Node{Op: o, Attrs: attrs, Args: args}
	f, err := n.FloatFormat()
	if err != nil {
		f = nil // which Check reports
	}
	g := Graph(o, attrs, ir.Type{Format: f}, args...)
	g.Stage = ir.StageFloat
	return g
}

// Whole draws a format of whole numbers.
func Whole(r *rand.Rand) format.Format { return arith.Wholes[r.IntN(len(arith.Wholes))] }

// Either draws fp32 in one case of three, else a format of whole numbers.
func Either(r *rand.Rand) format.Format {
	if Chance(r, 33) {
		return format.FP32
	}
	return Whole(r)
}
