// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
)

// term is an operand of Einsum: a node and the letter of each axis.
type term struct {
	n      *ir.Node
	labels []rune
}

// ellipsis is the first of the labels that stand for the axes of "...": the last of them is ellipsis, the one before it
// ellipsis + 1 and so on, so that they align at the end.
const ellipsis = rune(0x2026)

// Einsum is NumPy's einsum of one operand or more: "bij,bjk->bik". Without "->" the result has the letters that occur
// once, sorted. A letter twice in one operand is its diagonal.
func (b *Builder) Einsum(at Place, equation string, args ...*ir.Node) (*ir.Node, error) {
	c := b.chain(at)
	terms, out := c.equation(equation, args)
	if c.err != nil {
		return c.done(nil)
	}
	left := terms[0]
	for i, t := range terms[1:] {
		var needed []rune
		for _, later := range terms[i+2:] {
			needed = append(needed, later.labels...)
		}
		part := "product"
		if len(terms) > 2 {
			part += strconv.Itoa(i + 1)
		}
		left = c.contract(part, left, t, append(needed, out...))
	}
	left = c.summed("sum", left, out)
	if c.err != nil {
		return c.done(nil)
	}
	perm := make([]int, len(out))
	for i, l := range out {
		perm[i] = slices.Index(left.labels, l)
	}
	return c.done(c.transpose("turned", left.n, perm...))
}

// equation reads the letters of the operands and of the result.
func (c *chain) equation(text string, args []*ir.Node) (terms []term, out []rune) {
	left, right, given := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	operands := strings.Split(left, ",")
	if len(operands) != len(args) {
		c.fail(diag.BadAttribute, "the equation %q has %d operands, there are %d", text, len(operands), len(args))
		return nil, nil
	}
	dots, count := 0, map[rune]int{}
	for i, o := range operands {
		shape := args[i].Type.Shape
		labels, twice := c.labels(text, o, len(shape)), []rune(nil)
		for k, l := range labels {
			if slices.Contains(labels[:k], l) {
				twice = append(twice, l)
			}
			if count[l]++; l >= ellipsis {
				dots = max(dots, int(l-ellipsis)+1)
			}
		}
		terms = append(terms, c.diagonals("diagonal"+strconv.Itoa(i), term{args[i], labels}, twice))
	}
	if given {
		out = c.labels(text, right, len(strings.Replace(right, "...", "", 1))+dots)
	} else {
		for l, n := range count {
			if n == 1 && l < ellipsis {
				out = append(out, l)
			}
		}
		slices.Sort(out)
		for i := range dots {
			out = slices.Insert(out, 0, ellipsis+rune(i))
		}
	}
	for i, l := range out {
		if count[l] == 0 || slices.Contains(out[:i], l) {
			c.fail(diag.BadAttribute, "the result of the equation %q has a letter that no operand has, or twice", text)
		}
	}
	return terms, out
}

// labels are the letters of an operand of rank axes.
func (c *chain) labels(text, operand string, rank int) []rune {
	before, after, dots := strings.Cut(operand, "...")
	var out []rune
	for _, l := range before + after {
		if (l < 'a' || l > 'z') && (l < 'A' || l > 'Z') {
			c.fail(diag.BadAttribute, "%q in the equation %q is not a letter", string(l), text)
			return nil
		}
		out = append(out, l)
	}
	missing := rank - len(out)
	if missing < 0 || missing > 0 && !dots {
		c.fail(diag.OperandShapes, "%q in the equation %q does not fit %d axes", operand, text, rank)
		return nil
	}
	for i := range missing {
		out = slices.Insert(out, len(before), ellipsis+rune(i))
	}
	return out
}

// diagonals takes the diagonal of the first two axes of each of the letters.
func (c *chain) diagonals(part string, t term, letters []rune) term {
	for _, l := range letters {
		if c.err != nil {
			return t
		}
		i := slices.Index(t.labels, l)
		k := i + 1 + slices.Index(t.labels[i+1:], l)
		shape := t.n.Type.Shape
		if shape[i] != shape[k] {
			c.fail(diag.OperandShapes, "%s has no diagonal along the axes %d and %d", ir.ShapeString(shape), i, k)
			return t
		}
		var perm, rest []int
		labels := []rune{}
		for at, other := range t.labels {
			if at != i && at != k {
				perm, rest, labels = append(perm, at), append(rest, shape[at]), append(labels, other)
			}
		}
		n := c.transpose(part+".turn", t.n, append(perm, i, k)...)
		n = c.reshape(part+".flat", n, append(slices.Clone(rest), shape[i]*shape[i])...)
		a := &move.SliceAttrs{Axis: len(rest), Count: shape[i], Step: shape[i] + 1}
		t = term{c.do(part, move.Slice, a, n), append(labels, l)}
	}
	return t
}

// summed reduces the axes whose letters are not wanted, and drops them.
func (c *chain) summed(part string, t term, wanted []rune) term {
	if c.err != nil {
		return t
	}
	var axes, shape []int
	var labels []rune
	for i, l := range t.labels {
		if slices.Contains(wanted, l) {
			labels, shape = append(labels, l), append(shape, t.n.Type.Shape[i])
		} else {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return t
	}
	n := c.do(part, reduce.Sum, &reduce.Attrs{Axes: axes}, t.n)
	return term{c.reshape(part+".shape", n, shape...), labels}
}

// contract multiplies two operands and sums over the letters of both that are not wanted.
func (c *chain) contract(part string, x, y term, wanted []rune) term {
	x = c.summed(part+".left", x, append(slices.Clone(wanted), y.labels...))
	y = c.summed(part+".right", y, append(slices.Clone(wanted), x.labels...))
	if c.err != nil {
		return x
	}
	var batch, inner, rows, cols []rune
	for _, l := range x.labels {
		switch shared := slices.Contains(y.labels, l); {
		case shared && slices.Contains(wanted, l):
			batch = append(batch, l)
		case shared:
			inner = append(inner, l)
		default:
			rows = append(rows, l)
		}
	}
	for _, l := range y.labels {
		if !slices.Contains(x.labels, l) {
			cols = append(cols, l)
		}
	}
	left := c.matrices(part+".a", x, batch, rows, inner)
	right := c.matrices(part+".b", y, batch, inner, cols)
	product := c.do(part, sum.MatMul, nil, left, right)
	if c.err != nil {
		return x
	}
	shape := slices.Clone(product.Type.Shape[:len(batch)])
	for i, t := range []term{x, y} {
		for _, l := range [][]rune{rows, cols}[i] {
			shape = append(shape, t.n.Type.Shape[slices.Index(t.labels, l)])
		}
	}
	return term{c.reshape(part+".axes", product, shape...), slices.Concat(batch, rows, cols)}
}

// matrices are the elements of an operand with the axes of batch, and those of rows and of cols as one axis each.
func (c *chain) matrices(part string, t term, batch, rows, cols []rune) *ir.Node {
	var perm, shape []int
	size := func(labels []rune) int {
		n := 1
		for _, l := range labels {
			at := slices.Index(t.labels, l)
			perm, n = append(perm, at), n*t.n.Type.Shape[at]
		}
		return n
	}
	for _, l := range batch {
		shape = append(shape, size([]rune{l}))
	}
	shape = append(shape, size(rows))
	shape = append(shape, size(cols))
	return c.reshape(part+".matrix", c.transpose(part+".turn", t.n, perm...), shape...)
}
