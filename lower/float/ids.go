// SPDX-License-Identifier: Apache-2.0

package float

import (
	"math/bits"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/sequence"
	"lathe/ir/op/whole"
	"lathe/lower/float/layout"
	"lathe/lower/float/simplify"
	"lathe/lower/pass"
)

// Wholes takes whole numbers out of a graph where hardware needs none: what is attention in the model gets its masks of
// keys, and positions and ids become values, which rows are looked up by. The notes of the state tell what of inputs is
// taken for granted.
var Wholes = pass.Pipeline[*State]{
	pass.New("ports_to_values", "inputs of bytes that are only moved and converted to real numbers become values",
		pass.Lossy, 0, only(simplify.Ports)),
	pass.New("positions_to_values", "positions, and what only moves them, become values; conversions between floats go",
		pass.Lossy, 0, only(positionsToValues)),
	pass.New("assume_unpadded", "positions that are counted from ids become constants: those of inputs without padding",
		pass.Lossy, 0, withoutPadding),
	pass.New("recognize_masked", "softmax and attention with a computed mask become whole where they are decomposed",
		pass.Lossy, rounding, func(_ *State, g *ir.Graph) error {
			if !slices.ContainsFunc(g.Nodes, computesWhole) {
				return nil
			}
			return recognizing("recognize_softmax", "recognize_attention").Apply(&State{}, g)
		}),
	pass.New("masks_of_keys", "attention becomes scores, weights and sums on tokens, with a mask of keys", pass.Lossy,
		rounding, only(layout.TokensFirst)),
	pass.New("ids_to_values", "ids that look rows up, and what moves them, become values, which have formats", pass.Lossy,
		0, only(asIds)),
}

// computesWhole says that n computes whole numbers or truth values that are no constants.
func computesWhole(n *ir.Node) bool {
	return ir.IsWhole(n.Type.Format) && n.Op.Traits.FloatOnly && !n.IsConst() && !n.IsInput()
}

// asIds makes inputs of whole numbers values, where all that reads them are rows of constant tables and masks of keys:
// formats are chosen for those, and hardware looks them up.
func asIds(g *ir.Graph) error {
	users := g.Users()
	for _, in := range g.In {
		if !ir.IsWhole(in.Type.Format) {
			continue
		}
		if way, ok := simplify.Moved(g, users, in, looksUp); ok {
			for _, n := range way {
				n.Type.Format = format.FP32
			}
			for _, n := range way {
				for _, u := range users[n] {
					if u.Op == whole.Gather {
						u.Op, u.Attrs = sequence.Embedding, nil
					}
				}
			}
		}
	}
	return nil
}

// looksUp says that n reads ids as positions alone: of rows of a constant table, or as quantized graphs do.
func looksUp(n, ids *ir.Node) bool {
	if n.Op == whole.Gather {
		table := n.Args[0]
		first := n.Attrs.(*column.AxisAttrs).Axis == 0
		return first && table != ids && table.IsConst() && table.Type.IsFloat() && len(table.Type.Shape) == 2
	}
	for i, a := range n.Args {
		if a == ids && (n.Op.Traits.FloatOnly || n.Op.Traits.Index == nil || n.Op.Traits.Index(n, i) == 0) {
			return false
		}
	}
	return true
}

// PositionBits is the bits of the positions on an axis of a size.
func PositionBits(size int) int { return max(1, bits.Len(uint(size-1))) }

// PositionsOf is the least number of positions that a reader of n picks from by its values, through what moves them; 0
// where none does.
func PositionsOf(g *ir.Graph, n *ir.Node) (least int) {
	for _, u := range g.Nodes {
		for i, a := range u.Args {
			if a != n {
				continue
			}
			size := 0
			if u.Op.Traits.Index != nil {
				size = u.Op.Traits.Index(u, i)
			} else if u.Op.Traits.KeepsCodes {
				size = PositionsOf(g, u)
			}
			if size > 0 && (least == 0 || size < least) {
				least = size
			}
		}
	}
	return least
}
