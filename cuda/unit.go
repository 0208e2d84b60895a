// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"lathe/internal/diag"
)

// Target is what kernels are chosen for. Code for other architectures and other numbers of samples comes out right all
// the same.
type Target struct {
	Arch Arch
	// Samples is how many are computed together.
	Samples int
	// BatchInvariant gives a sample the same bits whatever others are computed with it: the choice does not depend on
	// Samples.
	BatchInvariant bool
	// Hopper takes kernels for sm_90a alone where their estimated time is no more. Arch is sm_90a then.
	Hopper bool
}

// Portable is the target of kernels for every GPU: one sample on the least of all architectures. What its blocks hold,
// those of others do.
func Portable() Target { return Target{Arch: archs[0], Samples: 1} }

// Rows is the number of rows, at most so many, to choose for where a sample has n.
func (t Target) Rows(n, most int) int {
	if t.BatchInvariant || t.Samples < 1 || n == 0 {
		return n
	}
	return n * max(1, min(t.Samples, most/n))
}

// Unit is how kernels of the library compute a group of nodes of a graph, for any number of samples.
type Unit struct {
	// Operands are what the arguments of the calls index.
	Operands []Operand
	// Calls run one after the other.
	Calls []Call
	// InPlace are outputs of the group, by number, that lie where an input does: the calls change its memory.
	InPlace map[int]int
	// Notes are for a reader: which configuration was chosen for what.
	Notes []string
}

// OperandKind says what an Operand is.
type OperandKind uint8

// The operands of a unit. Values have one sample after the other, in row-major order; scales are those of blocks.
const (
	Input        OperandKind = iota // input Index of the group
	InputScales                     // its scales
	Output                          // output Index of the group
	OutputScales                    // its scales
	Table                           // constants: Data makes them, where the unit is emitted
	Scratch                         // Bytes a sample that the calls need between them
)

// Samples is the most samples of one launch: of all rows, and of the blocks that a grid has along x or y. At least 1.
func (c Call) Samples() int64 {
	if c.Tile == 0 {
		return MaxGridY
	}
	rows := c.MaxRows
	if rows == 0 {
		rows = 1 << 30
	}
	return max(1, min(rows, math.MaxInt32/max(c.Blocks, 1)*c.Tile)/max(c.Rows, 1))
}

// Named is Make under a name that is made of template and parameters.
func Named(template string, params ...string) (Instance, error) {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_':
			return r
		case r == '-':
			return 'm'
		case r == ' ' || r == '>':
			return -1
		}
		return '_'
	}, strings.Join(append([]string{template}, params...), "_"))
	return Make(template, name, params...)
}

// Operand is a buffer of a unit.
type Operand struct {
	Kind  OperandKind
	Index int
	Data  func() []byte
	Bytes int64
}

// Add appends an operand and returns the argument that is its address.
func (u *Unit) Add(o Operand) Arg {
	u.Operands = append(u.Operands, o)
	return Buffer(len(u.Operands) - 1)
}

// Call is a launch on a number of samples. Its grid has Blocks for every Tile of the Rows*samples rows, or Blocks for
// every sample, along y, where Tile is 0.
type Call struct {
	Instance           Instance
	Blocks, Rows, Tile int64
	// MaxRows is the most rows of one launch: of products, whose rows have indices of 32 bits, and of kernels whose
	// elements have. 0 is 2^30.
	MaxRows int64
	Args    []Arg
	// Bytes is the least that one sample must move. Flops is what it must compute where that is less than the nodes say:
	// of attention over a cache, whose rows are not all written; else 0.
	Bytes, Flops int64
}

// Refusal says why no kernel of the library computes a node.
type Refusal struct{ Why string }

// Error is the reason.
func (r *Refusal) Error() string { return r.Why }

// Refuse is a Refusal.
func Refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Refused makes a Refusal of an error by which a kernel refuses a problem; other errors stay as they are.
func Refused(err error) error {
	var d *diag.Error
	if errors.As(err, &d) && d.Code == diag.NoKernelTakes {
		return &Refusal{d.Pos + ": " + d.Msg}
	}
	return err
}
