// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"lathe/internal/difftest/rows"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/reduce"
	"lathe/ir/op/ring"
	"lathe/ir/op/sequence"
	"lathe/ir/op/stream"
	"lathe/ir/op/window"
	"lathe/ir/ref"
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
	stream.Narrow, stream.Fifo, stream.Fork, stream.Mark, ring.Enter, ring.Again, ring.Leave, ring.Replay, move.Concat,
	move.Slice, move.Pad, move.Repeat, move.Stretch, move.Reverse}

// encodeAll rounds every value once into type t.
func encodeAll(t ir.Type, x []*big.Rat) *ir.Tensor {
	out := ir.NewTensor(t)
	for i, v := range x {
		switch {
		case !t.IsFloat():
			out.Codes[i] = encode(t.Format, v)
		case v == nil:
			out.Floats[i] = float32(math.NaN())
		default:
			out.Floats[i], _ = v.Float32()
		}
	}
	return out
}

// slowSequence is the meaning of the parts of attention, of turning what they read among them, of looking tokens up,
// and of layers with a state.
func slowSequence(n *ir.Node, args []value) []*big.Rat {
	if n.Op == sequence.Embedding {
		return slowEmbedding(n, args)
	}
	switch a := n.Attrs.(type) {
	case *recur.Attrs:
		return slowRecur(n, a, args)
	case *sequence.RotaryAttrs:
		return slowRotate(a, args)
	case *sequence.WeightsAttrs:
		sees := func(i []int) bool {
			return slowSees(&a.SeenAttrs, i[1], i[3]) && (len(args) == 1 || args[1].at(i[0], i[3]).Sign() != 0)
		}
		if n.Type.IsFloat() {
			return slowWeights(args[0], float64(a.Scale), sees)
		}
		return slowRows(n, args[0], 3, real32(a.Scale), sees)
	case *sequence.SeenAttrs:
		each := args[0].shape[2] / args[1].shape[2]
		return fill(n.Type.Shape, func(i []int) *big.Rat {
			y := new(big.Rat)
			for j := range args[0].shape[3] {
				x := args[0].at(i[0], i[1], i[2], j)
				switch {
				case n.Op == sequence.AttendScores && slowSees(a, i[1], i[3]):
					y.Add(y, product(x, args[1].at(i[0], i[3], i[2]/each, j)))
				case n.Op == sequence.AttendSum && slowSees(a, i[1], j):
					y.Add(y, product(x, args[1].at(i[0], j, i[2]/each, i[3])))
				}
			}
			return y
		})
	}
	return nil
}

// slowSees says that a token sees a key.
func slowSees(a *sequence.SeenAttrs, token, key int) bool { return !a.Causal || key-token <= a.Offset }

// slowWeights is softmax(scale*x) among the keys that a token sees, in float64.
func slowWeights(x value, scale float64, sees func(i []int) bool) []*big.Rat {
	return fill(x.shape, func(i []int) *big.Rat {
		if !sees(i) {
			return new(big.Rat)
		}
		own, _ := x.at(i...).Float64()
		total := 0.0
		for k := range x.shape[3] {
			at := []int{i[0], i[1], i[2], k}
			if other, _ := x.at(at...).Float64(); sees(at) {
				total += math.Exp(scale * (other - own))
			}
		}
		return new(big.Rat).SetFloat64(1 / total)
	})
}

// slowRows is softmax(scale*x) of codes along an axis, in the integers that define it; live says which elements take
// part.
func slowRows(n *ir.Node, x value, axis int, scale *big.Rat, live func(i []int) bool) []*big.Rat {
	out := stepOf(n.Type, 0)
	step, frac := stepOf(n.Args[0].Type, 0), out.Denom().BitLen()-1
	return slowLines(x, axis, step, out, func(row []*big.Int, at []int, axis int) []*big.Int {
		takes := make([]bool, len(row))
		for at[axis] = range row {
			takes[at[axis]] = live(at)
		}
		return rows.Softmax(row, takes, new(big.Rat).Mul(step, scale), frac)
	})
}

// slowLogRows is log-softmax of codes along an axis, in the integers that define it.
func slowLogRows(n *ir.Node, x value, axis int) []*big.Rat {
	step := stepOf(n.Args[0].Type, 0)
	return slowLines(x, axis, step, power(-24), func(row []*big.Int, _ []int, _ int) []*big.Int {
		return rows.LogSoftmax(row, step)
	})
}

// slowLines gives the integers of each line of x, in steps of step, to of, with the place of the line, and what comes
// back is in steps of out.
func slowLines(x value, axis int, step, out *big.Rat, of func(row []*big.Int, at []int, axis int) []*big.Int,
) []*big.Rat {
	axis = (axis + len(x.shape)) % len(x.shape)
	size, stride, k := x.shape[axis], 1, 0
	for _, d := range x.shape[axis+1:] {
		stride *= d
	}
	y, row := make([]*big.Rat, len(x.x)), make([]*big.Int, size)
	each(x.shape, func(at []int) {
		if at[axis] == 0 {
			for j := range row {
				row[j] = new(big.Rat).Quo(x.x[k+j*stride], step).Num()
			}
			for j, v := range of(row, slices.Clone(at), axis) {
				y[k+j*stride] = new(big.Rat).SetInt(v)
				y[k+j*stride].Mul(y[k+j*stride], out)
			}
		}
		k++
	})
	return y
}

// slowEmbedding is a row of the table for each id, of which the nearest whole number in the table counts.
func slowEmbedding(n *ir.Node, args []value) []*big.Rat {
	last := len(n.Type.Shape) - 1
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		id := round(args[1].at(i[:last]...), format.RoundEven)
		row := min(max(id.Int64(), 0), int64(args[0].shape[0]-1))
		return args[0].at(int(row), i[last])
	})
}

// slowRotate turns the pairs of rows whose tokens come before their heads.
func slowRotate(a *sequence.RotaryAttrs, args []value) []*big.Rat {
	x, dim := args[0], 2*args[1].shape[1]
	return fill(x.shape, func(i []int) *big.Rat {
		d := i[3]
		if d >= dim {
			return x.at(i...)
		}
		first, second, pair := d%(dim/2), d%(dim/2)+dim/2, d%(dim/2)
		if a.Interleaved {
			first, second, pair = d/2*2, d/2*2+1, d/2
		}
		u, v := x.at(i[0], i[1], i[2], first), x.at(i[0], i[1], i[2], second)
		cos, sin := args[1].at(i[1], pair), args[2].at(i[1], pair)
		if d == second {
			return plus(product(u, sin), product(v, cos))
		}
		return new(big.Rat).Sub(product(u, cos), product(v, sin))
	})
}

// slowBlockPair is a product of attention over blocks: for every result one number a block of the summed axis in steps
// of the accumulator, floor, saturated; then their sum, saturated. Values of a sum are encoded in blocks of tokens.
func slowBlockPair(n *ir.Node, args []value) []*big.Rat {
	acc, m := n.Type.Format.(format.Fixed), n.Args[0].Type.Format.(format.MXInt)
	x, y := args[0], args[1]
	scores := n.Op == sequence.AttendScores
	if !scores {
		y = inTokens(y, m)
	}
	a, share := n.Attrs.(*sequence.SeenAttrs), x.shape[2]/y.shape[2]
	steps := func(v *big.Rat) *big.Rat {
		q := round(new(big.Rat).Mul(v, power(acc.F)), format.RoundFloor)
		return integer(enter(acc.W, true, format.Sat, q))
	}
	term := func(i []int, j int) *big.Rat {
		if scores && slowSees(a, i[1], i[3]) {
			return product(x.at(i[0], i[1], i[2], j), y.at(i[0], i[3], i[2]/share, j))
		} else if !scores && slowSees(a, i[1], j) {
			return product(x.at(i[0], i[1], i[2], j), y.at(i[0], j, i[2]/share, i[3]))
		}
		return new(big.Rat)
	}
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		sum, borders := new(big.Rat), blocksOf(x.shape[3], m.K)
		for b := 1; b < len(borders); b++ {
			d := new(big.Rat)
			for j := borders[b-1]; j < borders[b]; j++ {
				d.Add(d, term(i, j))
			}
			sum.Add(sum, steps(d))
		}
		q := enter(acc.W, true, format.Sat, round(sum, format.RoundFloor))
		return new(big.Rat).Mul(integer(q), power(-acc.F))
	})
}

// inTokens is v [B,S,G,E] with every feature of every head encoded in blocks of m along the tokens.
func inTokens(v value, m format.MXInt) value {
	out := value{v.shape, make([]*big.Rat, len(v.x))}
	size := v.shape[2] * v.shape[3]
	for at := range v.x {
		if batch, token := at/size/v.shape[1], at/size%v.shape[1]; token == 0 {
			var column []*big.Rat
			for t := range v.shape[1] {
				column = append(column, v.x[(batch*v.shape[1]+t)*size+at%size])
			}
			t := ir.Type{Shape: []int{len(column)}, Format: m}
			for t, c := range decode(t, encodeBlocks(t, m, column)) {
				out.x[(batch*v.shape[1]+t)*size+at%size] = c
			}
		}
	}
	return out
}

// slowFormula is what the texts mean that random graphs draw from.
func slowFormula(text string, x *big.Rat) *big.Rat {
	one, negative := integer(1), x.Sign() < 0
	switch text {
	case "where(x > 0, x, x*0.125)":
		if negative {
			return product(x, big.NewRat(1, 8))
		}
		return x
	case "where(x >= 1, 1, where(x <= -1, -1, x))":
		return between(minus(integer(0), one), x, one)
	case "max(x*x - 0.5, -0.25)":
		if y := minus(product(x, x), big.NewRat(1, 2)); y.Cmp(big.NewRat(-1, 4)) > 0 {
			return y
		}
		return big.NewRat(-1, 4)
	case "where(x != 0, floor(x*4)*0.25, 1)":
		if x.Sign() == 0 {
			return one
		}
		return ratio(new(big.Rat).SetInt(round(product(x, integer(4)), format.RoundFloor)), integer(4))
	}
	panic("no definition of the formula " + text)
}
