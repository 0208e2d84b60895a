// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"slices"

	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/format"
)

// sizeOf adds up the bits of a quantized graph. Weights count as the plan has them, even where sums read the integers
// that codes stand for. Of a value that is encoded behind the unit that makes it, and decoded before those that read
// it, the codes count.
func sizeOf(q *driver.Quantized) (s Size) {
	var weightBits, weighing, dataBits, values int
	planned := map[*ir.Node]ir.Type{}
	for _, slot := range q.Report.Slots {
		n := q.Graph.Find(slot.Node)
		if n == nil || slot.Slot != "weight" || weights(n) == 0 {
			continue
		}
		t := n.Args[1].Type
		if f, err := format.Parse(slot.Format); err == nil {
			t.Format = f
		}
		planned[n.Args[1]] = t
	}
	users := q.Graph.Users()
	for _, n := range q.Graph.Nodes {
		t, matrix := planned[n]
		switch {
		case n.IsConst() && !matrix:
			s.ModelBits += bitsOf(n.Type)
		case n.IsConst():
			s.ModelBits += bitsOf(t)
			weightBits, weighing = weightBits+bitsOf(t), weighing+t.Elems()
		case n.Op.Traits.KeepsCodes, decodes(n), !q.Graph.IsOutput(n) && encoded(users[n]):
		default:
			dataBits, values = dataBits+bitsOf(n.Type), values+n.Type.Elems()
		}
	}
	s.WeightBits = float64(weightBits) / float64(max(1, weighing))
	s.DataBits = float64(dataBits) / float64(max(1, values))
	return s
}

// bitsOf is how many bits the codes of a value have, scales of blocks included.
func bitsOf(t ir.Type) int {
	bits := t.Elems() * t.Format.Width()
	if b, ok := t.BlockFormat(); ok {
		bits += t.Blocks() * b.ScaleWidth()
	}
	return bits
}

// decodes says that n makes fixed values of codes that are none.
func decodes(n *ir.Node) bool { return n.Op.Traits.Casts && !format.IsFixed(n.Args[0].Type.Format) }

// encoded says that all readers make codes of a value that are no fixed values.
func encoded(readers []*ir.Node) bool {
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(n *ir.Node) bool {
		return !n.Op.Traits.Casts || format.IsFixed(n.Type.Format)
	})
}
