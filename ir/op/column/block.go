// SPDX-License-Identifier: Apache-2.0

package column

import (
	"errors"
	"fmt"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
)

// MovesCodes says that n reads and makes codes of any scalar format as they are: it moves them, or is a table.
func MovesCodes(n *ir.Node) bool {
	t := n.Op.Traits
	if t.Table {
		return n.Args[0].Type.Format.Width() <= arith.TableBits
	}
	return (t.KeepsCodes || t.Joins) && !t.Compares
}

// TakesCodes says that n reads and makes codes of any scalar format: it casts or moves them, or is a table.
func TakesCodes(n *ir.Node) bool { return n.Op.Traits.Casts || MovesCodes(n) }

// KeepsBlocks says that n, whose argument 0 is in a block format, can hand on its blocks as they are: it moves codes
// without crossing the borders of blocks, or works on the codes alone (relu).
func KeepsBlocks(n *ir.Node) bool {
	if len(n.Args) != 1 || len(n.Type.Shape) == 0 {
		return false
	}
	b, ok := n.Args[0].Type.BlockFormat()
	if !ok {
		return false
	}
	if n.Op.Traits.Wire {
		return ir.SameBlocks(n.Args[0].Type.Shape, n.Type.Shape, b.BlockSize())
	}
	return n.Op.Traits.BlockCodes && format.SignedCodes(b) || n.Op.Traits.KeepsCodes && n.Op.Traits.Elementwise
}

// TakesBlocks says that n computes on blocks: a sum of products with constant weights, or an operation that keeps them.
func TakesBlocks(n *ir.Node) bool {
	if blocks := n.Op.Traits.Blocks; blocks != nil {
		return blocks(n)
	}
	return KeepsBlocks(n)
}

// SumsInBlocks is the Blocks trait of sums of products. Those with constant weights take the elements of blocks apart;
// those of two values take codes that are the integers themselves.
func SumsInBlocks(n *ir.Node) bool {
	for _, a := range n.Args {
		b, ok := a.Type.BlockFormat()
		if ok && (!SumsBlocks(b, a.IsConst()) || n.Op.Traits.Meets > 0 && !format.SignedCodes(b)) {
			return false
		}
	}
	return true
}

// SumBits are those of the widest integers that elements of blocks may be in sums of products. Constants count by their
// values.
const SumBits = 24

// SumsBlocks says that elements of blocks of b are integers of one step, which sums of products take as data or as
// constants.
func SumsBlocks(b format.Block, constant bool) bool {
	_, codec := b.(format.BlockCodec)
	_, bits, ok := b.Element().Lattice()
	return codec && ok && (constant || bits <= SumBits)
}

// ErrScalar says that there is no axis to cut into blocks.
var ErrScalar = errors.New("a scalar has no axis for blocks")

// BlocksLegal is the rule of operations that hand on blocks as they are.
func BlocksLegal(n *ir.Node) error {
	if len(n.Type.Shape) == 0 {
		return ErrScalar
	}
	if !n.Type.SameFormat(n.Args[0].Type) {
		return fmt.Errorf("%s keeps blocks as they are, so %s cannot become %s", n.Op.Name, n.Args[0].Type.Format,
			n.Type.Format)
	}
	if !KeepsBlocks(n) {
		return fmt.Errorf("%s of %s to %s moves elements between blocks of %s", n.Op.Name,
			ir.ShapeString(n.Args[0].Type.Shape), ir.ShapeString(n.Type.Shape), n.Type.Format)
	}
	return nil
}
