// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"strconv"

	"lathe/cuda"
	"lathe/cuda/num"
)

// Shape says how an input of a chain is spread over the rows and columns of the output.
type Shape int

// The shapes of inputs.
const (
	Whole  Shape = iota // a value for every element
	Row                 // a value for every column, the same in all rows: a bias
	Column              // a value for every row
)

// Chain is the problem of the kernel chain: y = E of up to four inputs, N elements in rows of Cols.
type Chain struct {
	Expr    Expr
	N, Cols int64
	// In and Out are num.FP32, num.BF16 or num.FP16.
	In, Out num.Codec
	Inputs  []Shape
	Scalars []float32
}

// most is the number of inputs and of scalars that the kernel has room for.
const most = 4

func (p Chain) instance() (cuda.Instance, error) {
	for _, c := range []num.Codec{p.In, p.Out} {
		if c != num.FP32 && c != num.BF16 && c != num.FP16 {
			return cuda.Instance{}, unfit("chain", "chains compute on fp32, bf16 and fp16, not %s", c.Type)
		}
	}
	if n := len(p.Inputs); n > most || p.Expr.need(exprArg) > n || p.Expr.need(exprScalar) > len(p.Scalars) {
		return cuda.Instance{}, unfit("chain", "%s of %d inputs and %d scalars", p.Expr.Type(), n, len(p.Scalars))
	}
	if p.Cols < 1 || p.N%p.Cols != 0 {
		return cuda.Instance{}, unfit("chain", "%d elements are not rows of %d", p.N, p.Cols)
	}
	shapes := 0
	for k, s := range p.Inputs {
		shapes |= int(s) << (2 * k)
	}
	return cuda.Named("chain", p.Expr.Type(), p.In.Type, p.Out.Type, strconv.Itoa(len(p.Inputs)),
		strconv.Itoa(shapes), wide(p.N))
}

// ChainOperands are the buffers of a chain: as many inputs as the problem has, and the output.
type ChainOperands struct {
	X []cuda.Arg
	Y cuda.Arg
}

// Valid reports why no kernel can take the problem: error L0990.
func (p Chain) Valid() error {
	_, err := p.instance()
	return err
}

// Plan is the kernel, on any architecture. Error as Valid.
func (p Chain) Plan(cuda.Arch) (cuda.Plan[ChainOperands], error) {
	i, err := p.instance()
	return cuda.OneKernel(i, func(o ChainOperands) []cuda.Launch {
		return oneLaunch(i, p.N, 2048, p.args(o, cuda.I64(p.N)))
	}), err
}

// Call is the chain over the N elements of each of a number of samples; every input has all of them. Error as
// Valid.
func (p Chain) Call(o ChainOperands, _ cuda.Target) (cuda.Call, error) {
	i, err := p.instance()
	if err != nil {
		return cuda.Call{}, err
	}
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.N, Tile: 2048, MaxRows: elements(p.N),
		Args: p.args(o, cuda.Samples64(p.N, 1)), Bytes: p.Floor().Bytes}, nil
}

// args are the arguments of a launch over n elements.
func (p Chain) args(o ChainOperands, n cuda.Arg) []cuda.Arg {
	var args []cuda.Arg
	for k := range most {
		if k < len(o.X) {
			args = append(args, o.X[k])
		} else {
			args = append(args, cuda.Null())
		}
	}
	args = append(args, o.Y, n, cuda.I64(p.Cols))
	for k := range most {
		var s float32
		if k < len(p.Scalars) {
			s = p.Scalars[k]
		}
		args = append(args, cuda.F32(s))
	}
	return args
}

// Floor is the least number of bytes that any implementation moves.
func (p Chain) Floor() cuda.Floor {
	bytes := p.N * int64(p.Out.Bytes)
	for _, s := range p.Inputs {
		switch s {
		case Whole:
			bytes += p.N * int64(p.In.Bytes)
		case Row:
			bytes += p.Cols * int64(p.In.Bytes)
		case Column:
			bytes += p.N / max(p.Cols, 1) * int64(p.In.Bytes)
		}
	}
	return cuda.Floor{Bytes: bytes}
}
