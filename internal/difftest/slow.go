// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"lathe/golden/ref"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/stream"
	"lathe/ir/op/window"
)

// value is what a node stands for: exact real numbers in row-major order.
type value struct {
	shape []int
	x     []*big.Rat
}

// at is the element at the given index.
func (v value) at(index ...int) *big.Rat { return v.x[flat(v.shape, index)] }

func flat(shape, index []int) int {
	k := 0
	for i, d := range shape {
		k = k*d + index[i]
	}
	return k
}

// each calls f for every index of a shape, in row-major order.
func each(shape []int, f func(index []int)) {
	index := make([]int, len(shape))
	total := 1
	for _, d := range shape {
		total *= d
	}
	for range total {
		f(index)
		for i := len(shape) - 1; i >= 0; i-- {
			if index[i]++; index[i] < shape[i] {
				break
			}
			index[i] = 0
		}
	}
}

// Slow evaluates one sample of g from the definitions: every operation on exact fractions, then one encoding into the
// format of its node. It shares no arithmetic with the Eval columns. Values of a float graph are rounded to float32 at
// the outputs only.
func Slow(g *ir.Graph, s ref.Sample) (ref.Sample, error) {
	for _, n := range g.Nodes {
		if err := known(n.Type.Format); err != nil {
			return nil, err
		}
	}
	values := map[*ir.Node]value{}
	codes := map[*ir.Node]*ir.Tensor{}
	for i, n := range g.In {
		values[n], codes[n] = value{n.Type.Shape, decode(n.Type, s[i])}, s[i]
	}
	for _, n := range g.Nodes {
		if _, done := values[n]; done {
			continue
		}
		if n.IsConst() {
			t, err := n.Value()
			if err != nil {
				return nil, err
			}
			values[n] = value{n.Type.Shape, decode(n.Type, t)}
			continue
		}
		args := make([]value, len(n.Args))
		for i, a := range n.Args {
			args[i] = values[a]
		}
		x, err := slowResult(n, args)
		switch {
		case err == nil && factored(n):
			x, err = slowFactored(n, args)
		case err == nil && factoredMean(n):
			x, err = slowFactoredMean(n, args)
		case err == nil && factoredPair(n):
			x = slowPair(n, args)
		}
		if err != nil {
			return nil, err
		}
		if len(x) != n.Type.Elems() {
			return nil, fmt.Errorf("%s: %d elements for %s", n.Name, len(x), n.Type)
		}
		for i := range x {
			x[i] = slowHalf(n.Type, x[i])
		}
		codes[n] = slowCodes(n, x, codes)
		if n.Type.IsFloat() {
			values[n] = value{n.Type.Shape, x}
		} else {
			values[n] = value{n.Type.Shape, decode(n.Type, codes[n])}
		}
	}
	out := make(ref.Sample, len(g.Out))
	for i, o := range g.Out {
		out[i] = codes[o.Node]
	}
	return out, nil
}

// slowCodes encodes the result x of n; codes holds those of its arguments.
func slowCodes(n *ir.Node, x []*big.Rat, codes map[*ir.Node]*ir.Tensor) *ir.Tensor {
	t := n.Type
	if m, blocks := t.Format.(format.MXInt); blocks {
		if n.Op == pointwise.Cast {
			return encodeBlocks(t, m, x)
		}
		return keptBlocks(n, codes[n.Args[0]])
	}
	if slices.Contains(movers, n.Op) {
		t.Format = t.Format.CodeSet() // a code that over=sym would not make passes as it is
	}
	return encodeAll(t, x)
}

// movers are the operations that do not compute: their results are codes of their arguments.
var movers = []*ir.Op{window.MaxPool, reduce.Max, reduce.Min, move.Reshape, move.Transpose, move.Identity, stream.Widen,
	stream.Narrow, stream.Fifo, stream.Fork, move.Concat, move.Slice, move.Pad, move.Repeat, move.Stretch}

// encodeAll rounds every value once into type t.
func encodeAll(t ir.Type, x []*big.Rat) *ir.Tensor {
	out := ir.NewTensor(t)
	for i, v := range x {
		if v == nil {
			out.Floats[i] = float32(math.NaN())
		} else if t.IsFloat() {
			out.Floats[i], _ = v.Float32()
		} else {
			out.Codes[i] = encode(t.Format, v)
		}
	}
	return out
}
