// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
)

// cacheWords are where a decoder keeps keys and values: on the chip; in a memory outside, which it writes and reads.
var cacheWords = []string{"chip", "external"}

// cacheOutside refuses plans under which keys and values cannot lie outside of the chip. Error L0436.
func cacheOutside(g *ir.Graph, plan *Plan) error {
	m := &plan.Fold.Memory
	if m.Cache != "external" || plan.Decode {
		return nil
	}
	return diag.New("L0436", g.Name, "cache = \"external\": only decoders have a cache, and this design takes samples").
		WithNote("set by %s", m.CacheFrom).WithHint("make a decoder of the model: --decode, or decode = true in [sequence]")
}

// cache decides where the keys or values of n live.
func (l *laner) cache(n *ir.Node) {
	n.HW.Cache = ""
	if l.plan.Memory.Cache == "external" && n.HW.Decode && n.Op.Traits.Meets != 0 {
		n.HW.Cache, n.HW.Port, n.HW.Burst = "external", l.plan.Memory.AXIBits, l.plan.Memory.burstOf()
	}
}

// settleCaches refuses units whose keys or values cannot lie outside although the plan says so: error L0436.
func (l *laner) settleCaches(s *State, g *ir.Graph) {
	for _, n := range g.Nodes {
		if n.HW.Cache == "" {
			continue
		}
		u, err := s.plans().Of(n)
		if err != nil || u.Cache != nil {
			continue // an error of the unit is time_units' to tell
		}
		e := n.Errorf("L0436", "cache = \"external\": the unit %s cannot have its tokens in a memory outside", u.Kind())
		l.errs = append(l.errs, e.WithNote("set by %s", l.plan.Memory.CacheFrom).WithHint(
			"leave cache = \"external\" out, or have each query see all tokens up to its own"))
	}
}

// outside holds what is promised of a decoder to what crosses its memory port, a beat a cycle: keys and values for the
// last token and for all, and weights that come each time.
func (d *Decode) outside(g *ir.Graph, units *unit.Cache) error {
	token, all, turns := 0, 0, ring.Turns(g)
	for _, n := range g.Nodes {
		if n.HW.Cache == "" && n.HW.Weights == "" {
			continue
		}
		u, err := units.Of(n)
		if err != nil {
			return err
		}
		d.AtLeast = d.AtLeast || u.Cache != nil || u.Weights != nil
		if u.Cache != nil {
			token, all = token+u.Cache.Reads(d.Tokens), all+u.Cache.Sequence()
		}
		weights := unit.Traffic(n, u, turns[n])
		token, all = token+weights/d.Tokens, all+weights
	}
	if d.Prefill < d.Tokens {
		d.Token = max(d.Token, token)
	}
	d.Cycles = max(d.Cycles, float64(all))
	return nil
}
