// SPDX-License-Identifier: Apache-2.0

// Package forms chooses how units multiply: the form of their products that costs least on the part.
package forms

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/unit"
)

// Cheapest is the form of the products of n, whose lanes are decided, that costs least: what is multiplied by the sum
// of a row in a beat, and whether weights are shifted, or few of them kept, by the whole unit. Codes of data are
// refused (L0308) where integers cost less. Other errors are those of the RTL column.
func Cheapest(units *unit.Cache, n *ir.Node) (ir.Products, error) {
	if n.Op.Products == nil {
		return ir.Products{}, nil
	}
	list, err := n.Op.Products(n)
	if err != nil || len(list) == 0 {
		return ir.Products{}, err
	}
	best, rest, err := ofKind(n, list)
	for err == nil && len(rest) > 0 {
		var other ir.Products
		var none error
		if other, rest, none = ofKind(n, rest); none == nil {
			best, err = byUnit(units, n, best, other)
		}
	}
	return best, err
}

// ofKind is the form that costs least of the first ones, which differ by their factors alone, and the forms behind.
func ofKind(n *ir.Node, list []ir.ProductForm) (best ir.Products, rest []ir.ProductForm, err error) {
	first := list[0].Products
	to := slices.IndexFunc(list, func(f ir.ProductForm) bool {
		p := f.Products
		p.Factors = first.Factors
		return p != first
	})
	if to < 0 {
		to = len(list)
	}
	best, err = bySum(n, list[:to])
	return best, list[to:], err
}

// bySum is the first of the forms whose sum of a row costs least.
func bySum(n *ir.Node, list []ir.ProductForm) (ir.Products, error) {
	best, least := 0, 0
	for i, form := range list {
		if len(list) == 1 {
			break
		}
		f, err := form.Sum.Facts(n.HW.Part.Technology())
		if err != nil {
			return ir.Products{}, err
		}
		if cost := f.Cost.LUT + n.HW.Part.LUTsPerDSP()*f.Cost.DSP; i == 0 || cost < least {
			best, least = i, cost
		}
	}
	if list[best].Decoded {
		return ir.Products{}, n.Errorf(diag.OpFormats, "products of integers cost less here than those of codes of %s",
			n.Args[0].Type.Format)
	}
	return list[best].Products, nil
}

// byUnit is other if the unit of n exists with it and costs less than with plain. A shifter of sums takes two rows of
// registers, so flip-flops count here, by how many the family has beside each LUT.
func byUnit(units *unit.Cache, n *ir.Node, plain, other ir.Products) (ir.Products, error) {
	before, err := unitCost(units, n, plain)
	if err != nil {
		return plain, err
	}
	if after, err := unitCost(units, n, other); err == nil && after < before {
		return other, nil
	}
	return plain, nil
}

// unitCost weighs the unit of n with a form of its products, in LUTs.
func unitCost(units *unit.Cache, n *ir.Node, p ir.Products) (int, error) {
	one := *n
	one.HW.Products = p
	one.HW.Weights, one.HW.Cache = "", "" // what lies outside costs the same either way
	f, err := units.Facts(&one)
	if err != nil {
		return 0, err
	}
	family := n.HW.Part.Technology()
	c := f.Cost
	return c.LUT + c.FF/family.FFs + n.HW.Part.LUTsPerDSP()*c.DSP + family.Memory.Worth*c.BRAM, err
}

// Choose gives nodes of g the form of their products. Who has no hardware keeps none: its unit says why.
func Choose(units *unit.Cache, g *ir.Graph) error {
	for _, n := range g.Nodes {
		if n.Op.Products == nil {
			continue
		}
		if form, err := units.Form(n); err == nil {
			n.HW.Products = form
		}
	}
	return nil
}
