// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strings"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/ir"
)

// branchName is the tap of one branch of a fork.
func branchName(node string, i int) string { return fmt.Sprintf("%s[%d]", node, i) }

// branches are taps of the branches of all forks.
func branches(d *emit.Design) (taps []Port) {
	for _, u := range d.Units {
		for i := range u.Branches {
			wire := "core." + u.Stream
			taps = append(taps, Port{Name: branchName(u.Node, i), Data: wire + "_data", Width: u.Width,
				Valid: fmt.Sprintf("%s_valid[%d]", wire, i), Ready: fmt.Sprintf("%s_ready[%d]", wire, i)})
		}
	}
	return taps
}

// mostWaiting bounds the lines that say who waits for whom.
const mostWaiting = 8

// waiting adds to the error of a design that is stuck which nodes wait for an argument while another is kept waiting,
// and what holds up which fork.
func waiting(e *diag.Error, g *ir.Graph, states map[string]state) *diag.Error {
	read := map[*ir.Node]int{}
	lines := 0
	note := func(msg string, args ...any) {
		if lines++; lines <= mostWaiting {
			e = e.WithNote(msg, args...)
		}
	}
	at := map[*ir.Node]string{} // the tap of a value
	for _, n := range g.Nodes {
		at[n] = n.Name
		var starved, held []string
		for _, a := range n.Args {
			if a.IsConst() {
				continue
			}
			tap := at[a]
			if a.HW.Branches > 0 {
				tap = branchName(a.Name, read[a])
				read[a]++
			}
			if n.Op.Traits.Wire {
				at[n] = tap
			}
			switch s, known := states[tap]; {
			case !known:
			case s.valid && !s.ready && a.HW.Branches > 0:
				held = append(held, fmt.Sprintf("%q", a.Name))
				note("%q is held up by %q, which does not take its beat", a.Name, n.Name)
			case s.valid && !s.ready:
				held = append(held, fmt.Sprintf("%q", a.Name))
			case !s.valid && s.ready:
				starved = append(starved, fmt.Sprintf("%q", a.Name))
			}
		}
		if len(starved) > 0 && len(held) > 0 {
			note("%q waits for %s, while %s waits for it", n.Name, strings.Join(starved, " and "),
				strings.Join(slices.Compact(held), " and "))
		}
	}
	return e
}
