// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/norm"
	"lathe/ir/op/recur"
	"lathe/ir/op/sequence"
)

// markLengths has units take frames of 1 to so many tokens as the input has. Error L0437 names what cannot.
func markLengths(s *stage, g *ir.Graph) error {
	if !s.plan.Lengths {
		return nil
	}
	if s.plan.Fold.Layers == "loop" {
		return diag.New(diag.FixedLength, g.Name, "layers = \"loop\" counts the tokens of a frame on their way round").
			WithHint("leave layers = \"loop\" of [fold] out, or lengths = \"dynamic\" of [sequence]")
	}
	if s.plan.Fold.WeightsOutside() {
		return diag.New(diag.FixedLength, g.Name, "weights from a memory outside come for whole frames").
			WithHint("leave weights of [memory] out, or lengths = \"dynamic\" of [sequence]")
	}
	mask, input, err := lengthsInputs(g)
	if err != nil {
		return err
	}
	l := lengths{tokens: mask.Type.Elems(), mask: mask}
	mask.HW.Tokens, mask.HW.Ends = l.tokens, true
	input.HW.Tokens = l.tokens
	var errs diag.List
	for _, n := range g.Nodes {
		if n.IsConst() || n.IsInput() {
			continue
		}
		if e := l.node(n); e != nil {
			errs = append(errs, e)
			n.HW.Tokens = 0
		}
	}
	return errs.Err()
}

// lengthsInputs finds the mask that says how long frames are, and the tokens.
func lengthsInputs(g *ir.Graph) (mask, input *ir.Node, err error) {
	for _, n := range g.Nodes {
		at := sequence.MaskOf(n.Op)
		if at == 0 {
			continue
		}
		if len(n.Args) <= at || !n.Args[at].IsInput() || mask != nil && n.Args[at] != mask {
			return nil, nil, n.Errorf(diag.FixedLength, "this attention reads no mask of keys that says how long a frame is").
				WithHint("quantize the model with lengths = \"dynamic\" too")
		}
		mask = n.Args[at]
	}
	if mask == nil {
		return nil, nil, diag.New(diag.FixedLength, g.Name,
			"lengths = \"dynamic\" is for models with attention, and there is none").
			WithHint("leave lengths out: units without it take tokens one by one")
	}
	for _, n := range g.Nodes {
		if slices.Contains(n.Args, mask) && sequence.MaskOf(n.Op) == 0 {
			return nil, nil, n.Errorf(diag.FixedLength,
				"%s computes with the mask %q, of which only the length of a frame is known",
				n.Op.Name, mask.Name).WithHint("build it for frames of one length: leave lengths = \"dynamic\" out")
		}
	}
	others := slices.DeleteFunc(slices.Clone(g.In), func(n *ir.Node) bool { return n == mask })
	if len(others) != 1 {
		return nil, nil, others[1].Errorf(diag.FixedLength,
			"frames of changing length come in on one input, and %q is a second one",
			others[1].Name).WithHint("give it values that never change: --bind, or leave it out: --model-inputs")
	}
	if input = others[0]; input.Type.Tokens() != mask.Type.Elems() || mask.Type.Elems() < 2 {
		return nil, nil, input.Errorf(diag.FixedLength, "input %q is %s, which is not a row for each of %d tokens",
			input.Name,
			ir.ShapeString(input.Type.Shape), mask.Type.Elems()).
			WithHint("frames can change in length where tokens come in one by one: end the model before what joins them")
	}
	return mask, input, nil
}

// lengths says which values have a row a token.
type lengths struct {
	tokens int
	mask   *ir.Node
}

// node decides whether n has a row a token, given that its arguments are known.
func (l *lengths) node(n *ir.Node) *diag.Error {
	rows, frames := 0, 0
	for _, a := range n.Args {
		switch {
		case a.IsConst() || a == l.mask:
		case a.HW.Tokens > 0:
			rows++
		default:
			frames++
		}
	}
	axis := l.axis(n)
	switch {
	case rows == 0:
		return nil // of whole frames only
	case frames > 0:
		return l.refuse(n, "meets tokens with a value of the whole frame")
	}
	way := tokenWay(n, axis)
	switch {
	case way == ir.FirstToken:
		return nil
	case n.Type.Tokens() != l.tokens || l.axisOf(n.Type.Shape) < 0:
		return l.refuse(n, "joins the tokens of a frame")
	case way != ir.ByToken:
		return l.refuse(n, "computes across the tokens of a frame")
	}
	n.HW.Tokens = l.tokens
	return nil
}

// axis is the axis of tokens of the first stream into n; -1: none.
func (l *lengths) axis(n *ir.Node) int {
	for _, a := range n.Args {
		if a.HW.Tokens > 0 && a != l.mask {
			return l.axisOf(a.Type.Shape)
		}
	}
	return -1
}

// axisOf is the first axis that is more than a batch of one, where it is that of tokens.
func (l *lengths) axisOf(shape []int) int {
	i := slices.IndexFunc(shape, func(size int) bool { return size > 1 })
	if i >= 0 && shape[i] != l.tokens {
		return -1
	}
	return i
}

func (l *lengths) refuse(n *ir.Node, what string) *diag.Error {
	return n.Errorf(diag.FixedLength, "%s %s, whose length may change", n.Op.Name, what).
		WithHint("end the model before it (--outputs), take the first token instead, or build it for frames of one length: " +
			"leave lengths = \"dynamic\" out")
}

// tokenWay is how the unit of n takes tokens: as the operation says, else as follows from what it does; axis is that of
// tokens.
func tokenWay(n *ir.Node, axis int) ir.TokenWay {
	t := &n.Op.Traits
	by := false
	switch {
	case t.Tokens != nil:
		return t.Tokens(n, axis)
	case recur.Recurs(n.Op):
	case t.Elementwise, t.Wire, t.Casts, t.Table, norm.HasGains(n.Op):
		by = true
	case t.Perm != nil:
		by = !slices.ContainsFunc(t.Perm(n.Attrs)[:axis+1], func(from int) bool { return from > axis })
	case t.Weighted && !t.PerChannel:
		by = n.LastOf() == nil && len(n.Args[1].Type.Shape) == 2
	case n.AxisOf() != nil:
		at := *n.AxisOf()
		by = at > axis || at < 0 && len(n.Args[0].Type.Shape)+at > axis
	}
	if by {
		return ir.ByToken
	}
	return ir.AcrossTokens
}
