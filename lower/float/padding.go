// SPDX-License-Identifier: Apache-2.0

package float

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// Exporters of RoBERTa and its kin count positions from the ids themselves: those that are no padding, one after the
// other. Hardware has positions as constants, which they are as long as no id is padding.

// withoutPadding makes constants of the comparisons of ids with the number of padding whose running sums a graph looks
// rows up by: the ids are none from now on, which their input says. The notes of the state tell so.
func withoutPadding(s *State, g *ir.Graph) error {
	if !slices.ContainsFunc(g.Nodes, computesWhole) {
		return nil
	}
	var notes []string
	users := g.Users()
	for _, n := range slices.Clone(g.Nodes) {
		in, pad, ok := comparesIds(n)
		if !ok || !counts(users, n) {
			continue
		}
		truth := byte(0)
		if n.Attrs.(*whole.CompareAttrs).Rel == "ne" {
			truth = 1
		}
		n.Op, n.Args = leaf.Const, nil
		n.Attrs = &ir.Const{Data: &ir.Blob{DType: ir.B1, Bytes: slices.Repeat([]byte{truth}, n.Type.Elems())}}
		a := *in.Attrs.(*ir.Input)
		if !slices.Contains(a.Without, pad) {
			a.Without = append(slices.Clone(a.Without), pad)
			notes = append(notes, fmt.Sprintf("positions are counted from input %q, without padding: as long as no id is %d, "+
				"they are constants, and samples with that id are refused", in.Name, pad))
		}
		in.Attrs = &a
	}
	s.Notes = append(s.Notes, notes...)
	if notes == nil {
		return nil
	}
	return ref.Compute(g) // the running sums, too
}

// comparesIds says that n tells the elements of an input of whole numbers that are one number, pad, from all others.
func comparesIds(n *ir.Node) (in *ir.Node, pad int, ok bool) {
	a, compares := n.Attrs.(*whole.CompareAttrs)
	if !compares || a.Rel != "eq" && a.Rel != "ne" {
		return nil, 0, false
	}
	ids, number := n.Args[0], n.Args[1]
	if ids.IsConst() {
		ids, number = number, ids
	}
	for ids.Op.Traits.KeepsCodes {
		ids = ids.Args[0]
	}
	if !ids.IsInput() || !ir.IsWhole(ids.Type.Format) || !number.IsConst() {
		return nil, 0, false
	}
	v, err := number.Value()
	if err != nil || len(v.Codes) == 0 || slices.ContainsFunc(v.Codes, func(c int64) bool { return c != v.Codes[0] }) {
		return nil, 0, false
	}
	return ids, int(v.Codes[0]), true
}

// counts says that running sums of whole numbers are computed from n.
func counts(users map[*ir.Node][]*ir.Node, n *ir.Node) bool {
	return slices.ContainsFunc(users[n], func(u *ir.Node) bool {
		return ir.IsWhole(u.Type.Format) && (u.Op == whole.CumSum || counts(users, u))
	})
}

// RefusePadding holds samples, those of each input of g in its order, to what inputs say that they are without.
func RefusePadding(g *ir.Graph, samples []ref.Sample) error {
	for i, n := range g.In {
		for s, sample := range samples {
			if e := Padding(n, sample[i].Floats); e != nil {
				return e.WithNote("calibration sample %d", s)
			}
		}
	}
	return nil
}

// Padding is the error L0916 of values for an input that are among those that it is without; nil where none is.
func Padding(n *ir.Node, values []float32) *diag.Error {
	for _, never := range n.Attrs.(*ir.Input).Without {
		if i := slices.Index(values, float32(never)); i >= 0 {
			return n.Errorf(diag.PaddedIds,
				"id %d, which is padding, at element %d of input %q: positions in hardware are those of "+
					"sequences without padding", never, i%n.Type.Elems(), n.Name).
				WithHint("take samples that are as long as the model, or export it for a shorter sequence; without --plan and " +
					"--calibrate the model runs as it is")
		}
	}
	return nil
}
