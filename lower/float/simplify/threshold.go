// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"fmt"
	"slices"
	"strconv"

	"lathe/ir"
	"lathe/ir/op/curve"
)

// Thresholds makes results of activations 0 that are no larger than least, and returns how many activations there are:
// functions of one value that no operation reads element by element, which would be a part of another function.
func Thresholds(g *ir.Graph, least float64) (int, error) {
	users, found := g.Users(), 0
	for _, n := range slices.Clone(g.Nodes) {
		t := &n.Op.Traits
		part := func(u *ir.Node) bool { return u.Op.Traits.Elementwise && !u.Op.Traits.Wire }
		if !t.Elementwise || t.Wire || t.Casts || len(n.Args) != 1 || !n.Type.IsFloat() || g.IsOutput(n) ||
			slices.ContainsFunc(users[n], part) {
			continue
		}
		least := strconv.FormatFloat(least, 'g', -1, 64)
		f, err := ir.NewNode(curve.Formula, g.FreshName(n.Name+".threshold"), n.Pos,
			&curve.FormulaAttrs{Text: fmt.Sprintf("where(abs(x) > %s, x, 0)", least)}, n)
		if err != nil {
			return found, err
		}
		g.Replace(n, f)
		g.InsertAfter(n, f)
		found++
	}
	return found, nil
}
