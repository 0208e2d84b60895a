// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"

	"lathe/ir"
	"lathe/ir/unit"
)

// Proven sizes the FIFOs of a scheduled graph again, and says which were proven to be needed in a cycle of units, how
// many there are, and whether the design stops without each of those while all other branches have one without end.
func Proven(ctx context.Context, g *ir.Graph, units *unit.Cache) (proven map[string]bool, fifos int, err error) {
	c, known := g.Clone(), newKnown(units)
	if _, _, err := takeOut(c, known); err != nil {
		return nil, 0, err
	}
	c.DropDead()
	branches, err := insert(c, known)
	if err != nil {
		return nil, 0, err
	}
	s, err := newSizer(ctx, c, branches, known)
	if err != nil {
		return nil, 0, err
	}
	if err := s.untilItRuns(branches); err != nil {
		return nil, 0, err
	}
	fifos, proven = len(s.on), map[string]bool{}
	for without := range s.proven {
		for _, b := range branches {
			s.on[b] = b != without
		}
		t, err := s.worst(branches)
		if err != nil {
			return nil, 0, err
		}
		proven[without.Name] = !t.Done
	}
	return proven, fifos, nil
}
