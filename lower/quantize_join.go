// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
	"lathe/ir/format"
)

// wantJoined gives the format of what joins several values (concat) to the nodes that compute them, where those have no
// other reader and no rule of their own: then nothing is rounded twice.
func (q *quantizer) wantJoined() {
	for _, n := range q.g.Nodes {
		if !n.Op.Traits.Joins || len(n.Args) < 2 || q.rule(n, dataIn) != nil {
			continue
		}
		c := q.joinedChoice(n, q.resultChoice(n, q.rule(n, dataOut)))
		for _, a := range n.Args {
			if a.IsConst() || q.g.IsOutput(a) {
				continue
			}
			if from := q.computes(a, 1); from != nil && q.wanted[from] == nil {
				q.wanted[from] = &c
			}
		}
	}
}

// joinedChoice completes the choice of a result by its values.
func (q *quantizer) joinedChoice(n *ir.Node, c Choice) Choice {
	c.Pattern = format.PatternOf(q.resolve(c, q.values[n]))
	c.From += ", for all that " + n.Name + " joins"
	return c
}

// joined decides an operation whose arguments and result have one format: that of the arguments where they agree and
// nothing else is asked for, else one that holds the result.
func (q *quantizer) joined(n *ir.Node, explicit *Choice) {
	var first *ir.Node
	agree := true
	for _, a := range n.Args {
		switch {
		case a.IsConst():
		case first == nil:
			first = a
		default:
			agree = agree && a.Type.SameFormat(first.Type)
		}
	}
	if agree && first != nil && (explicit == nil || fits(*explicit, first.Type.Format)) {
		n.Type.Format, n.Type.Scales = first.Type.Format, nil
		q.explain(n, "data_out", n.Type, "the format of "+first.Name+", which "+n.Op.Name+" keeps")
	} else {
		c := q.joinedChoice(n, q.resultChoice(n, explicit))
		q.result(n, c)
		for i, a := range n.Args {
			if !a.IsConst() {
				n.Args[i] = q.cast(a, c, n, q.values[a])
			}
		}
	}
	for i, a := range n.Args {
		if a.IsConst() {
			q.joinedConst(n, i)
		}
	}
}

// joinedConst encodes constant argument i of n in the format of the result.
func (q *quantizer) joinedConst(n *ir.Node, i int) {
	t, err := n.Args[i].Value()
	if err != nil {
		q.fail(n, "L0408", "%v", err)
		return
	}
	if !q.finite(n, n.Args[i], t.Floats) {
		return
	}
	typ := n.Type.WithShape(t.Type.Shape)
	q.encode(n, i, typ, t.Floats, Choice{Pattern: format.PatternOf(typ.Format), From: "the format of " + n.Name})
}
