// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"
	"testing"

	"lathe/ir"
)

// TestPartsShareNothing takes operations apart: passes move the axes of each part by themselves, so no two may have
// one list of them.
func TestPartsShareNothing(t *testing.T) {
	lists := 0
	for _, o := range All {
		if o.Expand == nil || o.Gen == nil {
			continue
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			n := floated(r, o.Gen(r, o).Out[0].Node)
			if n.Op != o {
				continue
			}
			parts, err := o.Expand(n)
			if err != nil {
				continue // of a form without parts
			}
			owner := map[*int]*ir.Node{}
			for _, p := range parts {
				axes := p.AxesOf()
				if len(axes) == 0 {
					continue
				}
				lists++
				if other := owner[&axes[0]]; other != nil {
					t.Fatalf("%s and %s of %s share their axes", p.Name, other.Name, o.Name)
				}
				owner[&axes[0]] = p
			}
		}
	}
	if lists < 100 {
		t.Errorf("only %d lists of axes", lists)
	}
}
