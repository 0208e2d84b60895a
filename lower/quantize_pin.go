// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
)

// pin reports the format of a slot of n that values of calibration completed, where a rule that gives it in full has
// the same effect. In a model of its own formats a rule has more effects: it stands above what the model says.
func (q *quantizer) pin(n *ir.Node, slot string, c Choice) {
	_, open := c.Pattern.Open()
	switch {
	case !open && !c.calibrated:
		return
	case q.own.Quantized:
		if c.calibrated {
			q.loose++
		}
		return
	case open:
		q.loose--
	}
	q.report.Chosen = append(q.report.Chosen, Slot{n.Name, n.Op.Name, slot, n.Type.Format.String(), c.From})
}

// argumentsAs casts the arguments of n to the choice of its rule for data_in, masks apart, which go with the first.
func (q *quantizer) argumentsAs(n *ir.Node, c Choice) {
	was, same := q.loose, true
	var first *ir.Node
	for i, a := range n.Args {
		mask := i > 0 && !n.Args[0].IsConst() && n.Op.Traits.Index != nil && n.Op.Traits.Index(n, i) > 0
		if _, blocks := c.blocks(); a.IsConst() || mask || blocks && i > 0 && encodes(n, a) {
			continue
		}
		same = same && !a.Type.InBlocks()
		n.Args[i] = q.cast(a, c, n, q.values[a])
		if first == nil {
			first = n.Args[i]
		}
		same = same && n.Args[i].Type.SameFormat(first.Type)
	}
	if c.Pattern.Incomplete() && same && first != nil && !q.own.Quantized {
		q.loose = was
		q.report.Chosen = append(q.report.Chosen, Slot{n.Name, n.Op.Name, "data_in", first.Type.Format.String(), c.From})
	}
}
