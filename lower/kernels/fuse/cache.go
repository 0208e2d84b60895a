// SPDX-License-Identifier: Apache-2.0

package fuse

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/sequence"
)

// caches makes one group of what writes keys and values of a layer into their caches, with the rotation in front of
// them and the moves between, where the library has a kernel of all that.
func (f *fuser) caches() {
	for _, n := range f.graph.Nodes {
		if !f.free(n) || !f.inPlace(n) {
			continue
		}
		turned, _ := f.origin(n.Args[1])
		members := f.appended(n, turned)
		if other := f.beside(n); other != nil {
			if t, _ := f.origin(other.Args[1]); turned == nil && t != nil {
				continue // it goes with the other
			}
			members = union(members, f.appended(other, nil))
		}
		if ok, why := f.accepts(members, n); !ok {
			f.why[n] = why
			continue
		}
		for _, m := range members {
			f.anchor[m] = n
		}
	}
}

// inPlace says that n writes into an input that nobody else reads.
func (f *fuser) inPlace(n *ir.Node) bool {
	return sequence.Updates(n.Op) && n.Args[0].IsInput() && len(f.users[n.Args[0]]) == 1 && !f.output[n.Args[0]]
}

// beside is another cache of the same layer, written at the same position: its rows come from the same value, or the
// same operation reads both. nil if there is none.
func (f *fuser) beside(n *ir.Node) *ir.Node {
	_, source := f.origin(n.Args[1])
	for _, other := range f.graph.Nodes {
		if other == n || !f.free(other) || !f.inPlace(other) || !slices.Equal(other.Args[2:], n.Args[2:]) {
			continue
		}
		reads := func(u *ir.Node) bool { return slices.Contains(f.users[other], u) }
		if _, from := f.origin(other.Args[1]); from == source || slices.ContainsFunc(f.users[n], reads) {
			return other
		}
	}
	return nil
}

// origin is what moves lead from to n, with a rotation on the way or nil.
func (f *fuser) origin(n *ir.Node) (turned, source *ir.Node) {
	for f.free(n) {
		switch {
		case moves(n) && len(n.Args) == 1:
		case sequence.ByPosition(n.Op) && turned == nil:
			turned = n
		default:
			return turned, n
		}
		n = n.Args[0]
	}
	return turned, n
}

// appended is n with the moves in front of it, those in front of a rotation too, and what else the rotation moves to.
func (f *fuser) appended(n, turned *ir.Node) []*ir.Node {
	members := []*ir.Node{n}
	for a := n.Args[1]; f.free(a) && (a == turned || moves(a) && len(a.Args) == 1); a = a.Args[0] {
		if a != turned && slices.ContainsFunc(f.users[a], func(u *ir.Node) bool { return !slices.Contains(members, u) }) {
			break
		}
		members = append(members, a)
		if a != turned {
			continue
		}
		for _, u := range f.users[a] {
			if moves(u) && f.free(u) && !slices.Contains(members, u) {
				members = append(members, u)
			}
		}
	}
	return members
}

// union is a with what else there is of b.
func union(a, b []*ir.Node) []*ir.Node {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(a, n)
		}
	}
	return a
}
