// SPDX-License-Identifier: Apache-2.0

// Package ir is the dataflow graph that all stages of the compiler exchange.
package ir

import (
	"math"
	"slices"

	"lathe/internal/diag"
)

// Node is one operation. It has exactly one result, named like the node.
type Node struct {
	// Name is unique in the graph; plan rules match on it.
	Name string
	Op   *Op
	Args []*Node
	// Attrs is nil or a pointer to the struct that Op.Attrs declares.
	Attrs any
	Type  Type
	HW    HW
	Stats Stats
	// Pos is the place in the source model, module path included: "model.onnx: conv1 (Conv)".
	Pos string
}

// NewNode makes a node whose shape is inferred; its format is what the operation gives in a float graph, which most
// take from the first argument. attrs is nil or a pointer.
func NewNode(o *Op, name, pos string, attrs any, args ...*Node) (*Node, error) {
	n := &Node{Name: name, Op: o, Pos: pos, Attrs: attrs, Args: args}
	if len(args) < o.Arity[0] || len(args) > o.Arity[1] {
		return nil, n.Errorf(diag.ArgumentCount, "%s takes %d to %d arguments, not %d", o.Name, o.Arity[0], o.Arity[1],
			len(args))
	}
	shape, err := o.Infer(n)
	if err != nil {
		return nil, diag.At(n.Errorf(diag.ArgumentShapes, "%v", err), diag.ArgumentShapes, pos)
	}
	n.Type.Shape = shape
	if n.Type.Format, err = n.FloatFormat(); err != nil {
		return nil, diag.At(n.Errorf(diag.WholeNumbersOp, "%v", err), diag.WholeNumbersOp, pos)
	}
	return n, nil
}

// Const is the attributes of a constant node.
type Const struct {
	Data *Blob
	// Own is the format that the source model itself gives to these values, which all are values of its codes; its
	// Format is nil where the model leaves them float, and in quantized graphs. Its Shape is not used.
	Own Type
	// Role is what the source model uses the values for.
	Role Role
	// From are the constants of the source model that these values were computed from, by an importer or a pass; nil for
	// what the model holds, and for literals. It lets parameters be counted as the model has them, and a weight be found
	// again behind everything that was done to it.
	From []*Const
	// Turns are the constants that stand here in turns 1, 2, .. of a sample, in a graph of units that layers share; nil
	// in all other graphs.
	Turns []*Node
}

// maxSources bounds the constants that one is known to come from; what comes from more has those alone.
const maxSources = 64

// Computed is a constant of the given data, computed from the constants among args.
func Computed(data *Blob, args ...*Node) *Const {
	c := &Const{Data: data}
	for _, a := range args {
		if k, ok := a.Attrs.(*Const); ok {
			c.Add(k)
		}
	}
	return c
}

// Behind lists the constants of g that c is, or was computed from by passes over a copy of g.
func (g *Graph) Behind(c *Const) []*Node {
	var nodes []*Node
	for _, n := range g.Nodes {
		k, ok := n.Attrs.(*Const)
		if ok && slices.ContainsFunc(c.Sources(), func(s *Const) bool { return s.Data == k.Data }) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Add notes that c was computed from k. Literals are no sources.
func (c *Const) Add(k *Const) {
	if k.Role == Literal && len(k.From) == 0 {
		return
	}
	for _, s := range k.Sources() {
		if !slices.Contains(c.From, s) && len(c.From) < maxSources {
			c.From = append(c.From, s)
		}
	}
}

// Role is what a model uses a constant for.
type Role uint8

const (
	// Parameter is trained, or belongs to a graph that does not tell.
	Parameter Role = iota
	// Buffer is stored in the model and not trained: running statistics, tables of positions, masks.
	Buffer
	// Literal is a number of the program, or what an importer computes.
	Literal
)

// Sources are the constants that the values come from: those in From, or c itself.
func (c *Const) Sources() []*Const {
	if len(c.From) > 0 {
		return c.From
	}
	return []*Const{c}
}

// InTurns are the nodes that the unit of n computes, one for each turn of a sample: n alone, but where layers share it.
func (n *Node) InTurns() []*Node {
	turns := 1
	for _, a := range n.Args {
		if c, ok := a.Attrs.(*Const); ok {
			turns = max(turns, len(c.Turns)+1)
		}
	}
	if turns == 1 {
		return []*Node{n}
	}
	list := make([]*Node, turns)
	for t := range list {
		m := *n
		m.Args = slices.Clone(n.Args)
		for i, a := range m.Args {
			if c, ok := a.Attrs.(*Const); ok && len(c.Turns) > 0 {
				m.Args[i] = c.at(a, t)
			}
		}
		list[t] = &m
	}
	return list
}

// at is the constant of a turn, in place of a, whose attributes c is.
func (c *Const) at(a *Node, turn int) *Node {
	if turn > 0 {
		return c.Turns[turn-1]
	}
	alone, data := *a, *c
	data.Turns = nil
	alone.Attrs = &data
	return &alone
}

// IsConst says that n is a constant.
func (n *Node) IsConst() bool {
	_, ok := n.Attrs.(*Const)
	return ok
}

// Uniform is the one number that all elements of a constant are; ok is false where they differ, and of other nodes.
func (n *Node) Uniform() (v float64, ok bool) {
	c, isConst := n.Attrs.(*Const)
	if !isConst {
		return 0, false
	}
	one := c.Data.Keep(sameKey{}, func() any { return c.Data.same() }).(same)
	return one.v, one.ok
}

// Value returns the tensor of a constant node, or an error for any other node.
func (n *Node) Value() (*Tensor, error) {
	c, ok := n.Attrs.(*Const)
	if !ok {
		return nil, n.Errorf(diag.ArgumentNotConstant, "%q is not a constant", n.Name)
	}
	t, err := c.Data.Tensor(n.Type)
	if err != nil {
		return nil, n.Errorf(diag.ConstantData, "%v", err)
	}
	return t, nil
}

// Kernel prepares the evaluation of n: that of its operation and, where n is a float of 16 bits, one rounding behind.
func (n *Node) Kernel() (Kernel, error) {
	k, err := n.Op.Eval(n)
	h, half := n.Type.Half()
	if err != nil || !half {
		return k, err
	}
	return func(args []*Tensor) (*Tensor, error) {
		v, err := k(args)
		if err == nil {
			v = v.rounded(h)
		}
		return v, err
	}, nil
}

// Input is the attributes of an input node.
type Input struct {
	// Perm, if not nil, adapts the caller's layout: axis i of the node's value is axis Perm[i] of the caller's array.
	Perm []int
	// Exponents, if not nil, holds a number for each channel, of the last axis of the node's value: that of channel c is
	// 2^Exponents[c] times the caller's. One format then serves channels of different sizes.
	Exponents []int
	// Without lists values that must not occur in this input, such as the id of padding: results are undefined for samples
	// that contain them.
	Without []int
	// Lengths says that the model has no such input: it is a mask of as many ones as a frame has tokens.
	Lengths bool
	// Saturates says that of samples NaN counts as 0 and an infinity as the greatest or least value; else both are errors.
	Saturates bool
}

// Scale brings values, in the layout of the node, from the caller's unit to that of the node, in place.
func (a *Input) Scale(values []float32) {
	for i := range values {
		if len(a.Exponents) == 0 {
			return
		}
		values[i] = float32(math.Ldexp(float64(values[i]), a.Exponents[i%len(a.Exponents)]))
	}
}

// Errorf makes an error at the node: its source position, or its name where it has none.
func (n *Node) Errorf(code diag.Code, msg string, args ...any) *diag.Error {
	pos := n.Pos
	if pos == "" {
		pos = n.Name + " (" + n.Op.Name + ")"
	}
	return diag.New(code, pos, msg, args...)
}

// Diag is err where it has a code already, else an error at the node under code.
func (n *Node) Diag(code diag.Code, err error) *diag.Error {
	if d, ok := err.(*diag.Error); ok {
		return d
	}
	return n.Errorf(code, "%v", err)
}

// Streams lists the arguments that are no constants, in order.
func (n *Node) Streams() (list []*Node) {
	for _, a := range n.Args {
		if !a.IsConst() {
			list = append(list, a)
		}
	}
	return list
}
