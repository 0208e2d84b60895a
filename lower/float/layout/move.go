// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/reduce"
	"lathe/lower/float/simplify"
)

// Sink moves transposes towards the outputs: through element-wise operations, additions and operations along an axis,
// until they meet one that undoes them.
func Sink(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op == move.Transpose {
			mergeInto(g, n)
			continue
		}
		perm := firstPerm(n)
		if perm == nil || !crosses(n, perm, perm) {
			continue
		}
		out := resultPerm(n, perm)
		for i, a := range n.Args {
			if a.IsConst() && !elementwise(n, i) {
				continue
			}
			if a.IsConst() {
				if err := broadcastConst(g, n, i, inverse(perm)); err != nil {
					return err
				}
				continue
			}
			n.Args[i] = transpose(g, n, a, inverse(perm))
		}
		moveAxis(n, func(axis int) int { return perm[axis] })
		n.Type.Shape = ir.TransposeShape(n.Type.Shape, inverse(out))
		if !isIdentity(out) {
			behind(g, n, out)
		}
	}
	g.DropDead()
	return nil
}

// mergeInto joins a transpose with one before it; where both cancel, readers read the source.
func mergeInto(g *ir.Graph, n *ir.Node) {
	x := n.Args[0]
	if p := permOf(x); p != nil {
		n.Args[0] = x.Args[0]
		n.Attrs = &move.TransposeAttrs{Perm: compose(p, permOf(n))}
	}
	if isIdentity(permOf(n)) {
		g.Replace(n, n.Args[0])
	}
}

// firstPerm is the permutation of the first transposed argument of n, nil if there is none.
func firstPerm(n *ir.Node) []int {
	for _, a := range n.Args {
		if p := permOf(a); p != nil {
			return p
		}
	}
	return nil
}

// elementwise says that argument i of n is read element by element, with broadcasting, or along the axis of n.
func elementwise(n *ir.Node, i int) bool {
	along := n.AxisOf() != nil || n.Op.Traits.Axes != nil
	return n.Op.Traits.Elementwise || along && (i == 0 || n.Op.Traits.Joins)
}

// crosses says that a transpose by perm can move to the other side of n: its values have the rank of the permutation,
// its constants at most that, and channels that are the last axis stay so; axes says where each axis of n goes.
func crosses(n *ir.Node, perm, axes []int) bool {
	last := len(perm) - 1
	if !elementwise(n, 0) || n.Op.Traits.PerChannel && *n.AxisOf() == last && axes[last] != last {
		return false
	}
	for i, a := range n.Args {
		rank := len(a.Type.Shape)
		if elementwise(n, i) && (rank > len(perm) || rank < len(perm) && !a.IsConst()) {
			return false
		}
	}
	return true
}

// moveAxis applies f to the axis attributes of n, counted from the front.
func moveAxis(n *ir.Node, f func(axis int) int) {
	if a := n.AxisOf(); a != nil {
		*a = f((*a + len(n.Args[0].Type.Shape)) % len(n.Args[0].Type.Shape))
	}
	axes := n.AxesOf()
	for i, a := range axes {
		axes[i] = f(a)
	}
	slices.Sort(axes)
}

// resultPerm is what a transpose of the argument of n becomes behind n: argmax without KeepDims drops an axis.
func resultPerm(n *ir.Node, perm []int) []int {
	a, ok := n.Attrs.(*reduce.ArgMaxAttrs)
	if !ok || a.KeepDims {
		return perm
	}
	axis := (a.Axis + len(perm)) % len(perm)
	var out []int
	for i, p := range perm {
		if i == axis {
			continue
		}
		if p > perm[axis] {
			p--
		}
		out = append(out, p)
	}
	return out
}

// broadcastConst transposes a constant operand that broadcasts: its shape is first filled up with leading ones.
func broadcastConst(g *ir.Graph, n *ir.Node, i int, perm []int) error {
	shape := n.Args[i].Type.Shape
	full := append(slices.Repeat([]int{1}, len(perm)-len(shape)), shape...)
	return simplify.MoveConst(g, n, i, ir.TransposeShape(full, perm), ir.TransposeIndex(full, perm))
}

// Hoist moves transposes that are left towards the inputs, through element-wise operations that they alone read, where
// that saves moves: a transpose that reaches an input costs nothing, one that meets another may join it, and one that
// ends elsewhere stays where it was.
func Hoist(g *ir.Graph) error {
	least, err := moved(g)
	for at := len(g.Nodes) - 1; at >= 0 && least > 0 && err == nil; at-- {
		for _, most := range []int{1, many} {
			if g.Nodes[at].Op != move.Transpose || err != nil {
				continue
			}
			c := g.Clone()
			if err = hoistFrom(c, c.Nodes[at], most); err != nil {
				return err
			}
			count, wrong := moved(c)
			if err = wrong; err == nil && count < least {
				*g, least, at = *c, count, len(c.Nodes)-1
			}
		}
	}
	return err
}

const many = 1 << 30

// moved counts the elements that transposes put into another order after the passes that follow. g stays as it is.
func moved(g *ir.Graph) (int, error) {
	after := g.Clone()
	if err := errors.Join(Inputs(after), Join(after)); err != nil {
		return 0, err
	}
	count := 0
	for _, n := range after.Nodes {
		if n.Op == move.Transpose && !move.KeepsOrder(n) {
			count += n.Type.Elems()
		}
	}
	return count, nil
}

// hoistFrom moves the transpose n, and those that come of it, as far as they go through operations that read at most
// that many values which are no constants.
func hoistFrom(g *ir.Graph, n *ir.Node, most int) error {
	for work := []*ir.Node{n}; len(work) > 0; {
		n, work = work[0], work[1:]
		users, x := g.Users(), n.Args[0]
		if len(users[x]) != 1 || g.IsOutput(x) || computed(x) > most || !hoistable(x, permOf(n)) {
			continue
		}
		if err := hoist(g, n, x, permOf(n)); err != nil {
			return err
		}
		for i, a := range x.Args {
			if permOf(a) != nil && !slices.Contains(x.Args[:i], a) {
				work = append(work, a)
			}
		}
	}
	g.DropDead()
	return nil
}

// computed counts the arguments that are no constants.
func computed(n *ir.Node) int {
	count := 0
	for _, a := range n.Args {
		if !a.IsConst() {
			count++
		}
	}
	return count
}

// hoistable says that a transpose behind x can go before it.
func hoistable(x *ir.Node, perm []int) bool {
	return len(x.Type.Shape) == len(perm) && x.Op != reduce.ArgMax && crosses(x, perm, inverse(perm))
}

// hoist swaps x and the transpose n behind it.
func hoist(g *ir.Graph, n, x *ir.Node, perm []int) error {
	for i, a := range x.Args {
		switch {
		case !elementwise(x, i):
		case a.IsConst():
			if err := broadcastConst(g, x, i, perm); err != nil {
				return err
			}
		default:
			x.Args[i] = transpose(g, x, a, perm)
		}
	}
	inv := inverse(perm)
	moveAxis(x, func(axis int) int { return inv[axis] })
	x.Type.Shape = ir.TransposeShape(x.Type.Shape, perm)
	g.Replace(n, x)
	g.DropDead()
	return nil
}
