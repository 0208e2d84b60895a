// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/op/sequence"
	"lathe/ir/ref"
)

// hidden is a number that stands for minus infinity in masks that are added to scores.
const hidden = -1e9

// lowered is by how much constants lower scaled scores of keys that they hide: a weight falls to less than 2^-57 of
// what it would be, where scores of 16 bits still tell apart what the others differ by.
const lowered = 40

// computedMask takes the mask of attention n apart, where the graph computes it from one input with an element for each
// key, 1 or 0: no token sees the keys at which it is 0, and what is left is all keys or causal order. ok is false where
// the mask is another one.
//
// Exporters write such masks in many ways, so it is not their nodes that are compared: each element is a function of
// elements of the input (followed), and the mask is computed for inputs in which every key is 0 and 1.
func computedMask(n *ir.Node) (keys *ir.Node, causal, ok bool) {
	k := n.Args[1].Type.Shape
	g, ok := maskGraph(n.Args[3])
	if !ok || g.In[0].Type.Elems() != k[0]*k[2] {
		return nil, false, false
	}
	t := &maskTrial{keys: k[2], shape: slices.Concat(slices.Repeat([]int{1}, 4-len(n.Args[3].Type.Shape)),
		n.Args[3].Type.Shape)}
	if t.shape[0] != k[0] || t.shape[3] != k[2] {
		return nil, false, false
	}
	trials := maskTrials(g.In[0])
	p, err := ref.New(g)
	if err != nil {
		return nil, false, false
	}
	masks, err := p.Run(context.Background(), trials)
	if err != nil {
		return nil, false, false
	}
	causal, ok = t.bound(masks[0][0], n.Args[0].Type.Shape[2])
	for i := range trials {
		ok = ok && t.hides(masks[i][0], trials[i][0], causal)
	}
	return g.In[0], causal, ok
}

// maskGraph is the part of a graph that computes a mask, if it has one input, and each element of the mask is a
// function of single elements of it.
func maskGraph(mask *ir.Node) (g *ir.Graph, ok bool) {
	g = &ir.Graph{Name: mask.Name, Out: []ir.Output{{Name: mask.Name, Node: mask}}}
	seen := map[*ir.Node]bool{}
	var visit func(n *ir.Node) bool
	visit = func(n *ir.Node) bool {
		if seen[n] {
			return true
		}
		seen[n] = true
		switch {
		case n.IsConst():
		case len(n.Args) == 0:
			g.In = append(g.In, n)
		case !followed(n):
			return false
		}
		for _, a := range n.Args {
			if !visit(a) {
				return false
			}
		}
		g.Nodes = append(g.Nodes, n)
		return true
	}
	return g, visit(mask) && len(g.In) == 1
}

// onlyMasks says that nothing but masks of attention is computed from n, so that it is of no account which number other
// than 0 an element is.
func onlyMasks(g *ir.Graph, n *ir.Node) bool {
	users := g.Users()
	var only func(n *ir.Node) bool
	only = func(n *ir.Node) bool {
		return !g.IsOutput(n) && !slices.ContainsFunc(users[n], func(u *ir.Node) bool {
			switch at := slices.Index(u.Args, n); u.Op {
			case sequence.Attention:
				return at != 3
			case sequence.AttendWeights:
				return at != 1
			}
			return !followed(u) || !only(u)
		})
	}
	return only(n)
}

// followed says that each element of n is computed from single elements of its arguments, or is one of them.
func followed(n *ir.Node) bool {
	t := n.Op.Traits
	if t.Index == nil {
		return t.Elementwise || t.KeepsCodes || t.Joins
	}
	for i, a := range n.Args {
		if t.Index(n, i) != 0 && !a.IsConst() {
			return false
		}
	}
	return true
}

// maskTrials are inputs of a mask: all ones, which comes first, all zeros, the bits of each position and their
// opposites, and some at random, in case elements of the mask are functions of several elements.
func maskTrials(in *ir.Node) []ref.Sample {
	const random = 8
	rng := rand.New(rand.NewPCG(1, 0))
	size := in.Type.Elems()
	var of []func(i int) bool
	of = append(of, func(int) bool { return true }, func(int) bool { return false })
	for b := 0; size>>b > 0; b++ {
		of = append(of, func(i int) bool { return i>>b&1 == 1 }, func(i int) bool { return i>>b&1 == 0 })
	}
	for range random {
		of = append(of, func(int) bool { return rng.IntN(2) == 1 })
	}
	trials := make([]ref.Sample, len(of))
	for k, one := range of {
		v := ir.NewTensor(in.Type)
		for i := range size {
			if one(i) {
				set(v, i)
			}
		}
		trials[k] = ref.Sample{v}
	}
	return trials
}

func set(v *ir.Tensor, i int) {
	if v.Codes != nil {
		v.Codes[i] = 1
	} else {
		v.Floats[i] = 1
	}
}

// maskTrial says what values of a mask, of four axes, mean.
type maskTrial struct {
	shape []int
	keys  int
}

// at is whether element i of a mask shows a key or hides it; valid where it does one of them.
func (t *maskTrial) at(mask *ir.Tensor, i int) (shown, valid bool) {
	if mask.Codes != nil {
		return mask.Codes[i] != 0, true
	}
	v := float64(mask.Floats[i])
	return v == 0, v == 0 || v <= hidden
}

// biasAt is what element i of a constant mask adds to a scaled score, and whether it hides the key.
func (t *maskTrial) biasAt(mask *ir.Tensor, i int) (x float32, hides bool) {
	if mask.Codes != nil {
		return 0, mask.Codes[i] == 0
	}
	return mask.Floats[i], float64(mask.Floats[i]) <= hidden
}

// bound says whether a mask shows all keys to all of the tokens, or those in causal order.
func (t *maskTrial) bound(mask *ir.Tensor, tokens int) (causal, ok bool) {
	rows := t.shape[2]
	all, ordered := true, rows == tokens && rows > 1 && t.keys >= rows
	for i := range t.elems() {
		shown, valid := t.at(mask, i)
		if !valid {
			return false, false
		}
		all = all && shown
		ordered = ordered && shown == t.before(i)
	}
	return ordered, all || ordered
}

func (t *maskTrial) elems() int { return ir.Type{Shape: t.shape}.Elems() }

// before says that element i of the mask is that of a key which its token sees in causal order.
func (t *maskTrial) before(i int) bool {
	rows := t.shape[2]
	return i%t.keys <= i/t.keys%rows+t.keys-rows
}

// hides says that a mask shows the keys at which in is not 0, and which tokens see otherwise, and no others.
func (t *maskTrial) hides(mask, in *ir.Tensor, causal bool) bool {
	sample := t.elems() / t.shape[0]
	for i := range t.elems() {
		shown, valid := t.at(mask, i)
		key := i/sample*t.keys + i%t.keys
		live := in.Codes != nil && in.Codes[key] != 0 || in.Codes == nil && in.Floats[key] != 0
		if !valid || shown != (live && (!causal || t.before(i))) {
			return false
		}
	}
	return true
}
