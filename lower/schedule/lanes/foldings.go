// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/plan"
)

// Folding is what the modes lean and balance choose for a node, in the words of a plan: in_lanes and out_lanes; the
// lanes of the stream into it; the length of its rows of keys where they are padded, else 0; whether its weights are
// wired into sums, and the bits of the digits that these add; what multiplies, "" where nothing does or nothing was
// chosen; and words of stores, "" where its weights and its line buffer stay. Rules of the plan win.
type Folding struct {
	In, Out, stream, row int
	wired                bool
	digits               int
	dsp, Store, Lines    string
}

// foldingOf is the folding that n has.
func foldingOf(n *ir.Node) Folding {
	out := n.HW.OutLanes
	if n.HW.Rows > 0 { // a sum over blocks: out_lanes are its rows
		out = n.HW.Rows
	}
	f := Folding{In: n.HW.InLanes, Out: out, stream: n.HW.StreamIn, row: max(n.HW.RowIn, n.HW.RowOut), dsp: n.HW.DSP}
	if f.wired = n.HW.Style == ir.StyleUnroll; f.wired {
		f.digits = n.HW.Sums.Digits
	}
	return f
}

// Foldings are the choices of a graph, by the names of its nodes.
type Foldings map[string]Folding

// fill puts the choice where the rules say nothing, neither lanes nor style.
func (f Foldings) fill(n *ir.Node, a *wishes) {
	c, ok := f[n.Name]
	if !ok || a.style != ir.StyleUndecided {
		return
	}
	if c.wired && a.in == 0 && a.out == 0 { // lanes of a rule are those of multipliers
		a.style = ir.StyleUnroll
	}
	if a.in == 0 {
		a.in = c.In
	}
	if a.out == 0 {
		a.out = c.Out
	}
}

// sums are those of an unrolled unit: as the plan says, but for digits that were chosen.
func (f Foldings) sums(n *ir.Node, s ir.Sums) ir.Sums {
	if c, ok := f[n.Name]; ok && c.wired {
		s.Digits = c.digits
	}
	return s
}

// multipliers is what multiplies in n where the plan leaves that open.
func (f Foldings) multipliers(n *ir.Node) string {
	if c := f[n.Name]; c.dsp != "" {
		return c.dsp
	}
	return "one"
}

// Foldings are those of a choice of options.
func (t *Table) Foldings(picks []int) Foldings {
	chosen := Foldings{}
	for i, n := range t.Nodes {
		o := t.Layers[i].Options[picks[i]]
		chosen[n.Name] = Folding{In: o.In, Out: o.Asked, stream: o.Stream, row: o.Row, wired: o.Wired, digits: o.Digits,
			dsp: o.DSP}
	}
	return chosen
}

// store puts weights and line buffers where they were moved to.
func (f Foldings) store(n *ir.Node, a *wishes) {
	if word := f[n.Name].Lines; word != "" {
		a.Lines = word
	}
	switch word := f[n.Name].Store; word {
	case "":
	case unit.StoreUltra:
		a.Ram = unit.StoreUltra
		if !plan.Outside(a.Weights) {
			a.Weights = "hold"
		}
	default:
		a.Mem = word
	}
}
