// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/lower/loop"
)

// shareLayers has layers that are alike share one block of units, where the plan asks for it: what is scheduled is the
// graph of the units. Error L0434 where no layers are alike.
func shareLayers(s *stage, g *ir.Graph) error {
	fold := &s.plan.Fold
	if fold.Layers != "loop" {
		return nil
	}
	shared, err := loop.Share(g, fold.Images)
	var refused *diag.Error
	if errors.As(err, &refused) && fold.LayersFrom != "" {
		err = refused.WithNote("set by %s", fold.LayersFrom)
	}
	if err != nil {
		return err
	}
	s.shared, *g = shared, *shared.Units
	return nil
}

// writeLayers gives each layer nodes of its own again, which say whose units compute them.
func writeLayers(s *stage, g *ir.Graph) error {
	shared := s.shared
	if shared == nil {
		return nil
	}
	s.report.Note("%d layers share one block of %d nodes: the first ends in %q, the last in %q; a sample takes %d "+
		"turns", shared.Layers, shared.Nodes, shared.First, shared.Last, shared.Layers)
	if b := s.plan.Fold.Images; b > 1 {
		s.report.Note("%d samples at a time are in them: a group of fewer waits for more, or for TLAST", b)
	}
	*g = *ring.Unrolled(g, shared.Copies)
	return nil
}

// takeTurns has each token of a decoder go through the units that layers share once a layer before the next one enters.
// Error L0435 names a node whose unit would then mix layers or tokens up: those that keep something from token to token
// or count tokens, but for attention and rotary positions.
func takeTurns(s *stage, units *ir.Graph) error {
	if s.shared == nil || !s.plan.Decode {
		return nil
	}
	if _, err := DecodeTokens(units); err != nil {
		return err
	}
	l := lengths{tokens: units.In[0].Type.Tokens()}
	turns := ring.Turns(units)
	for _, n := range units.Nodes {
		if turns[n] == 0 {
			continue
		}
		from := slices.IndexFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() })
		axis := l.axisOf(n.Args[from].Type.Shape)
		if axis < 0 || l.axisOf(n.Type.Shape) < 0 || tokenWay(n, axis) != ir.ByToken {
			return n.Errorf(diag.NoDecoder,
				"%s computes across tokens, and layers of a decoder that share its unit take each token "+
					"by turns", n.Op.Name).WithHint("leave layers = \"loop\" of [fold] out, or decode")
		}
		for _, a := range n.Args {
			if n.Op.Traits.Elementwise && a.IsConst() && differs(a.Type.Shape, len(n.Type.Shape)-axis) {
				return n.Errorf(diag.NoDecoder,
					"%s has a constant for each token, %q, and layers of a decoder that share its unit "+
						"have one for all tokens", n.Op.Name, a.Name).WithHint("leave layers = \"loop\" of [fold] out, or decode")
			}
		}
	}
	ring.ByToken(units)
	return nil
}

// differs says that a constant of a shape, which is repeated along the first axes, differs along the axis that many
// from the last.
func differs(shape []int, fromLast int) bool {
	return len(shape) >= fromLast && shape[len(shape)-fromLast] > 1
}
