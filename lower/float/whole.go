// SPDX-License-Identifier: Apache-2.0

package float

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/sequence"
	"lathe/ir/op/whole"
)

// positionsToValues makes positions, and what only moves them, values in fp32: formats are chosen for those.
// Conversions between types that hold them go, and so do those between types of floats: their rounding is that of an
// engine of the model, and quantization rounds anew.
func positionsToValues(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if positions(n) {
			n.Type.Format = format.FP32
			continue
		}
		if len(n.Args) != 1 || n.Args[0].IsConst() || !n.Args[0].Type.IsFloat() {
			continue
		}
		a, converts := n.Attrs.(*whole.ConvertAttrs)
		switch {
		case converts && (ir.FormatOf(a.To) == format.FP32 || behindPositions(n) && (a.To == ir.I32 || a.To == ir.I64)):
			n.Op, n.Attrs, n.Type.Format = move.Identity, nil, format.FP32
		case n.Op.Traits.KeepsCodes:
			n.Type.Format = format.FP32
		}
	}
	return nil
}

// positions says that n makes positions, and that it has an integer form.
func positions(n *ir.Node) bool { return n.Op.Traits.Positions != nil && !n.Op.Traits.FloatOnly }

// Places says that elements of a value are positions along an axis, such as numbers of classes, and how many there are.
func Places(n *ir.Node) (size int, ok bool) {
	for at := n; ; at = at.Args[0] {
		t := &at.Op.Traits
		switch {
		case t.Positions != nil:
			return t.Positions(at), true
		case len(at.Args) != 1 || !t.KeepsCodes && !t.Casts && !t.Elementwise:
			return 0, false
		}
	}
}

// behindPositions says that n reads positions, directly or behind nodes that move them.
func behindPositions(n *ir.Node) bool {
	for len(n.Args) == 1 {
		n = n.Args[0]
		if !n.Op.Traits.KeepsCodes {
			break
		}
	}
	return positions(n)
}

// refuseValues finds weights, biases and factors that depend on inputs. Error L0315.
func refuseValues(g *ir.Graph) error {
	var errs diag.List
	varies := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		varies[n] = slices.Contains(g.In, n)
		for i, a := range n.Args {
			varies[n] = varies[n] || varies[a]
			t := &n.Op.Traits
			fixed := t.Weighted || t.PerChannel || norm.HasGains(n.Op) || sequence.TakesAngles(n.Op)
			if i == 0 || !varies[a] || !fixed {
				continue
			}
			errs = append(errs, n.Errorf(diag.ArgumentNotConstant,
				"argument %d of %s (node %q) is computed from inputs (%q); in hardware it is "+
					"a constant", i, n.Op.Name, n.Name, a.Name).
				WithHint("--bind F.npz makes constants of inputs, or stay in float"))
		}
	}
	return errs.Err()
}

// kind is an operation that the error of refuseWhole lists.
type kind struct {
	op    string
	count int
	first *ir.Node
	whole bool // it has hardware, but not for whole numbers
}

// refuseWhole lists all operations without a form in hardware, with counts and the first place of each, where whole
// numbers are among their values: those of a copy whose ids are values, as a graph that is refused need not be sound
// behind them. Error L0337.
func refuseWhole(imported *ir.Graph) error {
	g := imported.Clone()
	if err := Wholes.Apply(&State{}, g); err != nil {
		return err
	}
	var kinds []kind
	nodes, any := 0, false
	refused := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		takes := ir.IsWhole(n.Type.Format)
		for _, a := range n.Args {
			takes = takes || ir.IsWhole(a.Type.Format)
		}
		if refused[n] = !n.IsConst() && (takes || n.Op.Traits.FloatOnly && !n.Op.ByParts()); !refused[n] {
			continue
		}
		nodes, any = nodes+1, any || takes
		onlyWhole := takes && (op.HasHardware(n.Op) || n.IsInput())
		at := -1
		for i, k := range kinds {
			if k.op == n.Op.Name && k.whole == onlyWhole {
				at = i
			}
		}
		if at < 0 {
			at = len(kinds)
			kinds = append(kinds, kind{op: n.Op.Name, first: n, whole: onlyWhole})
		}
		kinds[at].count++
	}
	if !any {
		return nil // what is left has errors of its own
	}
	file, _, _ := strings.Cut(kinds[0].first.Pos, ": ")
	if file == "" {
		file = g.Name
	}
	e := diag.New(diag.NoWholeHardware, file, "%d operations in %d nodes have no form in hardware", len(kinds), nodes)
	e.Notes = notesOf(kinds[:min(len(kinds), maxKinds)])
	if more := len(kinds) - maxKinds; more > 0 {
		e = e.WithNote("and %d more", more)
	}
	hint := "stay in float, as run and emit-cuda do without --plan and --calibrate"
	for _, n := range g.Nodes {
		if refused[n] && n.Op == whole.Where && n.Args[0].IsConst() && slices.ContainsFunc(n.Args, infinite) {
			return e.WithHint("%q chooses an infinity by a constant condition: %s; or %s", n.Name, diag.FiniteInstead, hint)
		}
	}
	if o := g.Origin; o != nil && o.Instead != "" { // nothing in front is worth a design
		return e.WithHint("%s; or %s", o.Instead, hint)
	}
	if flag := outputsFlag(frontOf(g, func(n *ir.Node) bool { return refused[n] })); flag != "" {
		return e.WithHint("end the model at what stands in front: %s; or %s", flag, hint)
	}
	return e.WithHint("%s, or export the part of the model after them", hint)
}

// infinite says that n is a constant of an infinity.
func infinite(n *ir.Node) bool {
	v, same := n.Uniform()
	return same && math.IsInf(v, 0)
}

// notesOf lists kinds by their cause.
func notesOf(kinds []kind) (notes []string) {
	var onWhole, none []string
	for _, k := range kinds {
		text := fmt.Sprintf("%s: %d nodes, the first is %q", k.op, k.count, k.first.Name)
		if k.count == 1 {
			text = fmt.Sprintf("%s: node %q", k.op, k.first.Name)
		}
		if k.whole {
			onWhole = append(onWhole, text)
		} else {
			none = append(none, text)
		}
	}
	if len(onWhole) > 0 {
		notes = append(notes, "on whole numbers, with which no hardware computes: "+strings.Join(onWhole, "; "))
	}
	if len(none) > 0 {
		notes = append(notes, "without hardware for any numbers: "+strings.Join(none, "; "))
	}
	return notes
}
