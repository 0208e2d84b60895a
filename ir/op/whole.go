// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"
	"sync"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// Whole numbers of float graphs: integers modulo 2^W, see ir.IsWhole. What operations make of them is defined for all
// values and the same in every engine.

// wholes are all formats of whole numbers.
var wholes = []format.Format{ir.Int64, ir.Int32, ir.Int16, ir.Int8, ir.Uint32, ir.Uint16, ir.Uint8, ir.Bool}

// wholeOf is the format of node n where all its arguments and its result are whole numbers of that one format.
func wholeOf(n *ir.Node) (format.Fixed, bool) {
	f, err := n.OneFormat(n.Args...)
	if err != nil || f != n.Type.Format || !ir.IsWhole(f) {
		return format.Fixed{}, false
	}
	return f.(format.Fixed), true
}

// wrapped cuts integers to the low bits of f.
func wrapped(f format.Fixed) func(v int64) int64 {
	s := uint(64 - f.W)
	if f.Signed {
		return func(v int64) int64 { return v << s >> s }
	}
	return func(v int64) int64 { return int64(uint64(v) << s >> s) }
}

// wrapHLO cuts integers to the low bits of f.
func wrapHLO(b *hlo.Builder, v hlo.Value, f format.Fixed) hlo.Value {
	d := v.Type().DType
	s := int64(d.Bits() - f.W)
	switch {
	case s <= 0:
		return v
	case f.Signed:
		return b.ShiftRightArith(b.ShiftLeft(v, b.Int(d, s)), b.Int(d, s))
	}
	return b.And(v, b.Int(d, 1<<f.W-1))
}

// inFloatGraph refuses nodes of quantized graphs, which may have float formats nowhere and whole ones of the same bits.
func inFloatGraph(n *ir.Node) error {
	for _, t := range append([]ir.Type{n.Type}, typesOf(n.Args)...) {
		if !t.IsFloat() && !ir.IsWhole(t.Format) {
			return n.Errorf("L0308", "%s computes in float graphs, %s has no meaning there", n.Op.Name, t.Format)
		}
	}
	return nil
}

func typesOf(nodes []*ir.Node) []ir.Type {
	types := make([]ir.Type, len(nodes))
	for i, n := range nodes {
		types[i] = n.Type
	}
	return types
}

// fixedArgs returns what fills in the values of the constant arguments of n, which come as nil. They are read once,
// when first needed.
func fixedArgs(n *ir.Node) func(args []*ir.Tensor) ([]*ir.Tensor, error) {
	read := make([]func() (*ir.Tensor, error), len(n.Args))
	for i, a := range n.Args {
		read[i] = sync.OnceValues(a.Value)
	}
	return func(args []*ir.Tensor) ([]*ir.Tensor, error) {
		full := append([]*ir.Tensor(nil), args...)
		for i, a := range full {
			if a != nil {
				continue
			}
			t, err := read[i]()
			if err != nil {
				return nil, err
			}
			full[i] = t
		}
		return full, nil
	}
}

// broadcastAll is the shape of the result of an element-wise operation.
func broadcastAll(n *ir.Node) ([]int, error) {
	shape := n.Args[0].Type.Shape
	var err error
	for _, a := range n.Args[1:] {
		if shape, err = broadcast(shape, a.Type.Shape); err != nil {
			return nil, err
		}
	}
	return shape, nil
}

// broadcasts lists for each argument the elements that the elements of the result are made of.
func broadcasts(n *ir.Node) [][]int {
	index := make([][]int, len(n.Args))
	for i, a := range n.Args {
		index[i] = broadcastIndex(a.Type.Shape, n.Type.Shape)
	}
	return index
}

// inCarrier prints truth values as codes of Bool.
func inCarrier(b *hlo.Builder, v hlo.Value) hlo.Value {
	return b.Convert(v, carry(ir.Type{Format: ir.Bool}))
}

// isTrue prints codes of Bool as truth values.
func isTrue(b *hlo.Builder, v hlo.Value) hlo.Value { return b.Compare(hlo.NE, v, b.Splat(v, 0)) }

// genElement draws a float graph of an element-wise operation: shapes that broadcast, one argument in three a constant.
func genElement(r *rand.Rand, o *ir.Op, attrs any, formats ...format.Format) *ir.Graph {
	full := genShape(r, 0, 3)
	args := make([]*ir.Node, len(formats))
	for i, f := range formats {
		t := ir.Type{Shape: full, Format: f}
		if chance(r, 50) {
			t.Shape = genSmaller(r, full)
		}
		name := string(rune('a' + i))
		if args[i] = genInput(name, t); i > 0 && chance(r, 33) {
			args[i] = genValues(r, name, t)
		}
	}
	return floatOp(o, attrs, args...)
}

// genSmaller draws a shape that broadcasts to full.
func genSmaller(r *rand.Rand, full []int) []int {
	shape := append([]int(nil), full...)
	for i := range shape {
		if chance(r, 30) {
			shape[i] = 1
		}
	}
	return shape[r.IntN(len(shape)+1):]
}

// genValues is a constant of random values.
func genValues(r *rand.Rand, name string, t ir.Type) *ir.Node {
	n := &ir.Node{Name: name, Op: Const, Type: t}
	if !t.IsFloat() {
		n.Attrs = &ir.Const{Data: ir.CodeBlob(genCodes(r, t.Format, t.Elems()))}
		return n
	}
	values := make([]float32, t.Elems())
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	n.Attrs = &ir.Const{Data: ir.FloatBlob(values)}
	return n
}

// floatOp is the float graph of a single operation.
func floatOp(o *ir.Op, attrs any, args ...*ir.Node) *ir.Graph {
	n := &ir.Node{Op: o, Attrs: attrs, Args: args}
	f, err := n.FloatFormat()
	if err != nil {
		f = nil // which Check reports
	}
	g := oneOp(o, attrs, ir.Type{Format: f}, args...)
	g.Stage = ir.StageFloat
	return g
}

// genWhole draws a format of whole numbers.
func genWhole(r *rand.Rand) format.Format { return wholes[r.IntN(len(wholes))] }

// genEither draws fp32 in one case of three, else a format of whole numbers.
func genEither(r *rand.Rand) format.Format {
	if chance(r, 33) {
		return format.FP32
	}
	return genWhole(r)
}
