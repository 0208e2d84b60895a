// SPDX-License-Identifier: Apache-2.0

package build

import (
	"lathe/ir"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// Stored is Const for a tensor that the model file holds.
func (b *Builder) Stored(name string, data *ir.Blob, shape []int, role ir.Role) (*ir.Node, error) {
	n, err := b.Const(name, data, shape)
	if err == nil {
		n.Attrs.(*ir.Const).Role = role
	}
	return n, err
}

// from notes that the constant c was computed from args: parameters and buffers among them, of floats or of codes.
func from(c *ir.Node, args ...*ir.Node) {
	k := c.Attrs.(*ir.Const)
	for _, a := range args {
		if a.Type.IsFloat() || a.Type.Format.Width() == 8 {
			k.Add(a.Attrs.(*ir.Const))
		}
	}
}

// Unsaid is the role of a stored tensor where the file does not say which are trained: a number without axes is a
// literal, all else a parameter until GuessBuffers has seen who reads it.
func Unsaid(shape []int) ir.Role {
	if len(shape) == 0 {
		return ir.Literal
	}
	return ir.Parameter
}

// GuessBuffers finds buffers in a graph whose file does not say what is trained, by who reads a constant. Buffers are
// the statistics of batch normalization; tables of two or more axes that are only multiplied element by element (the
// cosines and sines of positions); and what is added to scores before a softmax, or is a mask of attention.
func GuessBuffers(g *ir.Graph) {
	soft := map[*ir.Node]bool{} // what a softmax reads
	for _, n := range g.Nodes {
		if n.Op == norm.Softmax {
			soft[n.Args[0]] = true
		}
	}
	trained := map[*ir.Const]bool{} // read by something else, too
	guess := map[*ir.Const]bool{}
	for _, n := range g.Nodes {
		for i, a := range n.Args {
			k, ok := a.Attrs.(*ir.Const)
			if !ok {
				continue
			}
			buffer := n.Op == sum.BatchNorm && i >= 3 || n.Op == sequence.Attention && i >= 3 || n.Op == pointwise.Add &&
				soft[n] ||
				n.Op == sequence.Rotary || n.Op == pointwise.Mul && longAxes(a.Type.Shape) >= 2
			for _, s := range k.Sources() {
				guess[s] = guess[s] || buffer
				trained[s] = trained[s] || !buffer
			}
		}
	}
	for s := range guess {
		if guess[s] && !trained[s] && s.Role == ir.Parameter {
			s.Role = ir.Buffer
		}
	}
}

// longAxes counts the axes of more than one element.
func longAxes(shape []int) int {
	n := 0
	for _, d := range shape {
		if d > 1 {
			n++
		}
	}
	return n
}
