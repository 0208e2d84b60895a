// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math"
	"strconv"

	"lathe/cuda"
)

// Twice is the problem of the kernel twice: N words of fp32, each doubled.
type Twice struct{ N int64 }

var _ cuda.Batched[Operands] = Twice{}

// twiceEach is the number of elements of a thread, twiceTile that of a block.
const (
	twiceEach = 4
	twiceTile = 256 * twiceEach
)

// Valid reports why no kernel can take the problem: error L0990.
func (p Twice) Valid() error {
	if p.N < 0 || p.N > math.MaxInt32*twiceTile {
		return unfit("twice", "%d elements", p.N)
	}
	return nil
}

// Plan is the kernel, on any architecture: X and Y are words. Error as Valid.
func (p Twice) Plan(cuda.Arch) (cuda.Plan[Operands], error) {
	i, err := p.instance()
	return cuda.OneKernel(i, func(o Operands) []cuda.Launch {
		return oneLaunch(i, p.N, twiceTile, []cuda.Arg{o.X, o.Y, cuda.I64(p.N)})
	}), err
}

// Call doubles the N elements of each of a number of samples. Error as Valid.
func (p Twice) Call(o Operands, _ cuda.Target) (cuda.Call, error) {
	i, err := p.instance()
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.N, Tile: twiceTile, MaxRows: math.MaxInt64,
		Args: []cuda.Arg{o.X, o.Y, cuda.Samples64(p.N, 1)}, Bytes: p.Floor().Bytes}, err
}

func (p Twice) instance() (cuda.Instance, error) {
	if err := p.Valid(); err != nil {
		return cuda.Instance{}, err
	}
	return cuda.Named("twice", strconv.Itoa(twiceEach))
}

// Floor is the least number of bytes that any implementation moves.
func (p Twice) Floor() cuda.Floor { return cuda.Floor{Bytes: 8 * p.N} }
