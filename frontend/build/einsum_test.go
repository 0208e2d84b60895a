// SPDX-License-Identifier: Apache-2.0

package build

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
)

// einsum sums the products of all operands over all values of all letters; out names those of the result.
func einsum(operands []string, out string, args []array) array {
	letters, sizes := out, []int{}
	for _, o := range operands {
		for _, l := range o {
			if !strings.ContainsRune(letters, l) {
				letters += string(l)
			}
		}
	}
	for _, l := range letters {
		size := 1
		for i, o := range operands {
			if k := strings.IndexRune(o, l); k >= 0 {
				size = max(size, args[i].shape[k])
			}
		}
		sizes = append(sizes, size)
	}
	y := filled(sizes[:len(out)], func([]int) float64 { return 0 })
	filled(sizes, func(at []int) float64 {
		p := 1.0
		for i, o := range operands {
			var index []int
			for k, l := range o {
				index = append(index, min(at[strings.IndexRune(letters, l)], args[i].shape[k]-1))
			}
			p *= args[i].at(index...)
		}
		to := 0
		for k := range out {
			to = to*sizes[k] + at[k]
		}
		y.x[to] += p
		return 0
	})
	return y
}

func TestEinsum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, c := range []struct {
		equation, plain string // plain: without dots, with a result
		shapes          [][]int
	}{
		{"ij,jk->ik", "", [][]int{{2, 3}, {3, 4}}}, {"ij,jk", "ij,jk->ik", [][]int{{2, 3}, {3, 4}}},
		{"bhqd,bhkd->bhqk", "", [][]int{{2, 2, 3, 4}, {2, 2, 5, 4}}},
		{"bqhd,bkhd->bhqk", "", [][]int{{2, 3, 2, 4}, {2, 5, 2, 4}}},
		{"i,j->ij", "", [][]int{{3}, {4}}}, {"i,i->", "", [][]int{{3}, {3}}}, {"i , i", "i,i->", [][]int{{3}, {3}}},
		{"ij,kj->ki", "", [][]int{{2, 3}, {4, 3}}}, {"ij->ji", "", [][]int{{2, 3}}}, {"ij->", "", [][]int{{2, 3}}},
		{"ba", "ba->ab", [][]int{{2, 3}}}, {"ijk->j", "", [][]int{{2, 3, 2}}}, {"ij->ij", "", [][]int{{2, 3}}},
		{"ijz,jk->ik", "", [][]int{{2, 3, 2}, {3, 4}}}, {"ij,ij->ij", "", [][]int{{2, 3}, {2, 3}}},
		{"...ij,...jk->...ik", "xyij,yjk->xyik", [][]int{{2, 3, 2, 2}, {3, 2, 4}}},
		{"...i,i", "xi,i->x", [][]int{{2, 3}, {3}}},
		{"a...,...b->...ab", "axy,yb->xyab", [][]int{{2, 3, 4}, {4, 2}}}, {"bij,bjk->bik", "", [][]int{{1, 2, 3}, {4, 3, 2}}},
		{"ij,jk,kl->il", "", [][]int{{2, 3}, {3, 2}, {2, 4}}}, {"ij,kj,jl->kl", "", [][]int{{2, 3}, {4, 3}, {3, 2}}},
		{"ii->i", "", [][]int{{3, 3}}}, {"ii", "ii->", [][]int{{3, 3}}}, {"...ii->...i", "xii->xi", [][]int{{2, 3, 3}}},
		{"iji,kk->jk", "", [][]int{{3, 2, 3}, {2, 2}}}, {"iii,i->i", "", [][]int{{2, 2, 2}, {2}}},
		{"abc,cde->abde", "", [][]int{{2, 1, 3}, {3, 2, 2}}}, {"aB,Bc->ca", "", [][]int{{2, 3}, {3, 2}}},
	} {
		if c.plain == "" {
			c.plain = c.equation
		}
		left, out, _ := strings.Cut(c.plain, "->")
		var args []array
		for _, s := range c.shapes {
			args = append(args, random(r, s...))
		}
		got := evaluated(t, args, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Einsum(at, c.equation, in...)
		})
		same(t, c.equation, got, einsum(strings.Split(left, ","), out, args))
	}
	for equation, code := range map[string]diag.Code{
		"iij->i": diag.OperandShapes, "ij->ik": diag.BadAttribute, "ij->ii": diag.BadAttribute, "ijk->i": diag.OperandShapes,
		"i->i": diag.OperandShapes, "ij,jk->ik": diag.BadAttribute, "i1->i": diag.BadAttribute,
		"....ij->ij": diag.BadAttribute,
	} {
		refused(t, equation, code, [][]int{{2, 2}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Einsum(at, equation, in...)
		})
	}
	refused(t, "sizes", "L0306", [][]int{{2, 3}, {2, 3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Einsum(at, "ij,jk->ik", in...)
	})
	refused(t, "diagonal", diag.OperandShapes, [][]int{{2, 3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node,
		error) {
		return b.Einsum(at, "ii->i", in...)
	})
	n := New("g", "m")
	x, _ := n.Input("x", ir.F32, []int{2, 3})
	if y, err := n.Einsum(Place{Name: "e"}, "ij->ij", x); err != nil || y != x {
		t.Error(y, err)
	}
}
