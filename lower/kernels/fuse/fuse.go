// SPDX-License-Identifier: Apache-2.0

// Package fuse decides which nodes of a graph a GPU computes together: an anchor with the moves in front of it, and
// what follows until a value is read twice, or no kernel goes on.
package fuse

import (
	"cmp"
	"fmt"
	"slices"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/ir"
)

// Border is a value that one kernel writes and another one reads.
type Border struct {
	// From computes the value, To reads it.
	From, To string
	// Why no kernel computes both.
	Why string
}

// Groups sets HW.Group of every node, as the kernels for a target allow. The borders that are left are in the order of
// the graph, one for each value and reader.
func Groups(g *ir.Graph, target cuda.Target) []Border {
	f := newFuser(g, target)
	f.caches()
	for _, stage := range []func(n *ir.Node) bool{f.library, alone, elementwise, every} {
		for _, n := range g.Nodes {
			if f.free(n) && stage(n) {
				f.grow(n)
			}
		}
	}
	for _, n := range g.Nodes {
		n.HW.Group = ""
		if a := f.anchor[n]; a != nil && a != n {
			n.HW.Group = a.Name
		}
	}
	return f.borders()
}

// fuser is the work of Groups.
type fuser struct {
	graph  *ir.Graph
	target cuda.Target
	users  map[*ir.Node][]*ir.Node
	output map[*ir.Node]bool
	order  map[*ir.Node]int
	anchor map[*ir.Node]*ir.Node // of nodes that have a group
	why    map[*ir.Node]string   // a value is not read in its own group

	fitting map[*ir.Node]bool // the library has a kernel of the node alone
}

func newFuser(g *ir.Graph, target cuda.Target) *fuser {
	f := &fuser{graph: g, target: target, users: g.Users(), output: map[*ir.Node]bool{},
		order: map[*ir.Node]int{}, anchor: map[*ir.Node]*ir.Node{}, why: map[*ir.Node]string{},
		fitting: map[*ir.Node]bool{}}
	for i, n := range g.Nodes {
		f.order[n] = i
	}
	for _, o := range g.Out {
		f.output[o.Node] = true
	}
	return f
}

// free says that n is computed, and belongs to no group yet.
func (f *fuser) free(n *ir.Node) bool { return !n.Op.Traits.Source && f.anchor[n] == nil }

// library says that n is neither an element-wise function nor a move, and has a kernel of the library.
func (f *fuser) library(n *ir.Node) bool { return alone(n) && f.fitsAlone(n) }

// alone says that n is neither an element-wise function nor a move.
func alone(n *ir.Node) bool { return !elementwise(n) && !moves(n) }

// elementwise says that an element of the result is computed of the elements at its place, and of constants.
func elementwise(n *ir.Node) bool {
	t := n.Op.Traits
	return (t.Elementwise || t.Casts || t.PerChannel) && !t.Source && !t.KeepsCodes
}

// moves says that n moves elements, and looks at none.
func moves(n *ir.Node) bool { return n.Op.Traits.KeepsCodes && !n.Op.Traits.Compares }

func every(*ir.Node) bool { return true }

// group is what members would be together.
func (f *fuser) group(members []*ir.Node, anchor *ir.Node) *ir.Group {
	members = slices.Clone(members)
	slices.SortFunc(members, f.compare)
	return ir.NewGroup(anchor, members, func(n *ir.Node) bool { return f.leaves(n, members) })
}

// compare is the order of the graph.
func (f *fuser) compare(a, b *ir.Node) int { return cmp.Compare(f.order[a], f.order[b]) }

// leaves says that n is read by others than members.
func (f *fuser) leaves(n *ir.Node, members []*ir.Node) bool {
	return f.output[n] || slices.ContainsFunc(f.users[n], func(u *ir.Node) bool { return !slices.Contains(members, u) })
}

// accepts asks the library for a kernel of members, or else says why it has none.
func (f *fuser) accepts(members []*ir.Node, anchor *ir.Node) (ok bool, why string) {
	if anchor.Op.CUDA == nil {
		return false, ""
	}
	switch _, err := anchor.Op.CUDA(f.group(members, anchor), f.target); e := err.(type) {
	case nil:
		return true, ""
	case *cuda.Refusal:
		return false, e.Why
	case *diag.Error:
		return false, e.Msg
	default:
		return false, err.Error() // and comes again where the node is emitted
	}
}

// fitsAlone says that the library has a kernel of n.
func (f *fuser) fitsAlone(n *ir.Node) bool {
	fits, known := f.fitting[n]
	if !known {
		fits, _ = f.accepts([]*ir.Node{n}, n)
		f.fitting[n] = fits
	}
	return fits
}

// grow makes the group of anchor.
func (f *fuser) grow(anchor *ir.Node) {
	members := []*ir.Node{anchor}
	fits, join := f.fitsAlone(anchor), f.made
	if !fits && alone(anchor) {
		if moved := f.moved(anchor); moved != nil {
			members, fits = moved, true
		}
	}
	if fits {
		join = f.fits
	}
	for {
		size := len(members)
		members = f.behind(f.before(members, join), join)
		if len(members) == size && fits && elementwise(anchor) {
			fits, join = false, f.made // a chain that the library does not have is a kernel all the same
			continue
		}
		if len(members) == size {
			break
		}
	}
	for _, n := range members {
		f.anchor[n] = anchor
	}
}

// moved is an anchor that the library does not take alone with the moves behind it with which it does; nil if there are
// none.
func (f *fuser) moved(anchor *ir.Node) (taken []*ir.Node) {
	if anchor.Op.CUDA == nil {
		return nil
	}
	f.behind([]*ir.Node{anchor}, func(members, more []*ir.Node) (bool, string) {
		all := slices.Concat(members, more)
		if slices.ContainsFunc(more, func(n *ir.Node) bool { return !moves(n) }) {
			return false, ""
		}
		if ok, _ := f.accepts(all, anchor); ok {
			taken = all
		}
		return true, ""
	})
	return taken
}

// joining says whether members, with the ones that are more, are one kernel, or else why not.
type joining func(members, more []*ir.Node) (ok bool, why string)

// fits asks the library.
func (f *fuser) fits(members, more []*ir.Node) (bool, string) {
	return f.accepts(slices.Concat(members, more), members[0])
}

// made are kernels that are made of what nodes compute: moves in front, and functions of single elements behind.
func (f *fuser) made(members, more []*ir.Node) (bool, string) {
	anchor := members[0]
	for _, n := range append(slices.Clone(more), members...) {
		if n.Type.InBlocks() || slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return a.Type.InBlocks() }) {
			return false, "blocks are encoded in a kernel of their own"
		}
	}
	last := slices.MaxFunc(members, f.compare)
	for _, n := range more {
		switch {
		case slices.Contains(n.Args, last) && elementwise(n) && !moves(anchor):
			if !slices.Equal(n.Type.Shape, last.Type.Shape) {
				return false, "its result repeats elements"
			}
		case moves(n) && (!slices.Contains(n.Args, last) || n.Type.Elems() == last.Type.Elems()):
		default:
			return false, n.Op.Name + " is no function of single elements"
		}
	}
	return true, ""
}

// before adds nodes that only members read, or whose results the kernel gives too, as long as they join.
func (f *fuser) before(members []*ir.Node, join joining) []*ir.Node {
	for i := 0; i < len(members); i++ {
		for _, a := range members[i].Args {
			if !f.free(a) || slices.Contains(members, a) || !moves(a) && !elementwise(a) {
				continue
			}
			if f.leaves(a, members) && (moves(a) || f.circle(append(slices.Clone(members), a))) {
				continue
			}
			if ok, _ := join(members, []*ir.Node{a}); ok {
				return f.before(append(slices.Clone(members), a), join)
			}
		}
	}
	return members
}

// circle says that what members read depends on what they give.
func (f *fuser) circle(members []*ir.Node) bool {
	last := f.order[slices.MaxFunc(members, f.compare)]
	seen := map[*ir.Node]bool{}
	var reach func(n *ir.Node) bool
	reach = func(n *ir.Node) bool {
		for _, u := range f.users[n] {
			if slices.Contains(members, u) {
				return true
			}
			if f.order[u] < last && !seen[u] {
				seen[u] = true
				if reach(u) {
					return true
				}
			}
		}
		return false
	}
	for _, n := range members {
		for _, u := range f.users[n] {
			if !slices.Contains(members, u) && f.order[u] < last && reach(u) {
				return true
			}
		}
	}
	return false
}

// behind adds the only reader of the result, as long as it joins.
func (f *fuser) behind(members []*ir.Node, join joining) []*ir.Node {
	for {
		g := f.group(members, members[0])
		if len(g.Outputs) != 1 || f.output[g.Outputs[0]] {
			return members
		}
		out := g.Outputs[0]
		reader := f.users[out][0]
		if slices.ContainsFunc(f.users[out], func(u *ir.Node) bool { return u != reader }) || !f.free(reader) {
			return members
		}
		ok, why := join(members, []*ir.Node{reader})
		more := []*ir.Node{reader}
		if twin := f.twin(reader, out, members[0]); !ok && twin != nil {
			more = append(twin, reader)
			ok, _ = join(members, more)
		}
		if !ok {
			f.why[out] = why
			return members
		}
		delete(f.why, out)
		members = append(members, more...)
	}
}

// twin is the other side of a reader of out: a node like the anchor on the same data, and the function behind it, which
// nobody else reads. nil where it is something else.
func (f *fuser) twin(reader, out, anchor *ir.Node) []*ir.Node {
	if len(reader.Args) != 2 || reader.Args[0] == reader.Args[1] {
		return nil
	}
	n := reader.Args[0]
	if n == out {
		n = reader.Args[1]
	}
	var twin []*ir.Node
	for f.free(n) && len(f.users[n]) == 1 && !f.output[n] {
		twin = append([]*ir.Node{n}, twin...)
		if n.Op == anchor.Op {
			if n.Args[0] == anchor.Args[0] {
				return twin
			}
			return nil
		}
		if len(n.Args) != 1 || !elementwise(n) && !moves(n) {
			return nil
		}
		n = n.Args[0]
	}
	return nil
}

// borders are the values that another group reads.
func (f *fuser) borders() []Border {
	var out []Border
	for _, n := range f.graph.Nodes {
		if f.anchor[n] == nil {
			continue
		}
		seen := map[*ir.Node]bool{}
		for _, u := range f.users[n] {
			if f.anchor[u] == f.anchor[n] || f.anchor[u] == nil || seen[u] {
				continue
			}
			seen[u] = true
			out = append(out, Border{n.Name, u.Name, f.reason(n, u)})
		}
	}
	return out
}

// reason is why u is not in the group of n.
func (f *fuser) reason(n, u *ir.Node) string {
	readers := map[*ir.Node]bool{}
	for _, r := range f.users[n] {
		readers[r] = true
	}
	switch {
	case len(readers) > 1:
		return fmt.Sprintf("%d operations read it", len(readers))
	case f.output[n]:
		return "it is a result of the model"
	case alone(u):
		return u.Op.Name + " needs all of it, and has a kernel of its own"
	case f.why[n] != "":
		return f.why[n]
	}
	return u.Op.Name + " has a kernel of its own"
}
