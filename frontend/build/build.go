// SPDX-License-Identifier: Apache-2.0

// Package build makes graphs for all importers: nodes with names and places, constants that stay views of their file,
// and constant expressions, which are evaluated as soon as they stand.
package build

import (
	"encoding/binary"
	"fmt"
	"slices"

	"lathe/frontend/unsigned"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// Limits on constant expressions: elements of one result, and of all results together. Larger ones stay nodes, which
// engines evaluate once.
const (
	maxResult   = 1 << 20
	maxComputed = 1 << 24
)

// Builder makes one graph. Every value is a node; nodes that no output needs vanish in Finish.
type Builder struct {
	// File is the name of the model file, which begins the position of every node.
	File    string
	g       *ir.Graph
	names   namer
	budget  int
	modules map[string]bool
	binding *Binding
	// unsigned are the values of the operation being converted that are unsigned integers of 64 bits; nil between such.
	unsigned map[*ir.Node]bool
}

// New begins a graph called name, read from a file of the given base name.
func New(name, file string) *Builder {
	return &Builder{File: file, g: &ir.Graph{Name: name, Origin: &ir.Origin{}}, names: namer{}, budget: maxComputed,
		modules: map[string]bool{}, binding: &Binding{}}
}

// Place is where a node comes from.
type Place struct {
	// Name is the name of the node: its module path, and what tells it from others there. It is made unique.
	Name string
	// Alt is appended to a name that is taken, instead of a number: the operation, as a rule.
	Alt string
	// Source is the operation in the source model, for messages: "Conv", "aten.conv2d.default".
	Source string
}

// Input adds an input of the graph, or a constant where the user binds it to an array. Elements of the storage type d
// have the format ir.FormatOf(d).
func (b *Builder) Input(name string, d ir.DType, shape []int) (*ir.Node, error) {
	f := ir.FormatOf(d)
	if f == nil {
		return nil, fmt.Errorf("input %q has elements of the unknown type %q", name, d)
	}
	if err := ir.CheckShape(shape); err != nil {
		return nil, err
	}
	if a := b.binding.arrays[name]; a != nil {
		data, err := b.binding.blob(name, a, d, shape)
		if err != nil {
			return nil, err
		}
		return b.Stored(name, data, shape, Unsaid(shape))
	}
	n := &ir.Node{
		Name: b.names.take(name, "input"), Op: leaf.Input, Attrs: &ir.Input{},
		Type: ir.Type{Shape: slices.Clone(shape), Format: f}, Pos: b.File + ": " + name + " (input)",
	}
	b.g.Nodes, b.g.In = append(b.g.Nodes, n), append(b.g.In, n)
	return n, nil
}

// Const makes a literal of the elements of data, which it does not copy. Its name is made unique in Finish, so that it
// never takes that of another node.
func (b *Builder) Const(name string, data *ir.Blob, shape []int) (*ir.Node, error) {
	f := ir.FormatOf(data.DType)
	if f == nil {
		return nil, fmt.Errorf("constant %q has elements of the unknown type %q", name, data.DType)
	}
	if err := ir.CheckShape(shape); err != nil {
		return nil, err
	}
	t := ir.Type{Shape: slices.Clone(shape), Format: f}
	if data.Len() != t.Elems() {
		return nil, fmt.Errorf("constant %q has %d elements, its shape %s needs %d", name, data.Len(),
			ir.ShapeString(shape), t.Elems())
	}
	n := &ir.Node{
		Name: name, Op: leaf.Const, Attrs: &ir.Const{Data: data, Role: ir.Literal}, Type: t,
		Pos: b.File + ": " + name + " (constant)",
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return n, nil
}

// Emit makes a node. Where all arguments are constants and the result is not too large, it is a constant at once. What
// depends on the order of unsigned integers of 64 bits is written out, see Unsigned.
func (b *Builder) Emit(at Place, o *ir.Op, attrs any, args ...*ir.Node) (*ir.Node, error) {
	n, err := b.unsignedForm(at, o, attrs, args)
	if n == nil && err == nil {
		n, err = b.emit(at, o, attrs, args...)
	}
	if err == nil {
		b.carryUnsigned(n, o, attrs, args)
	}
	return n, err
}

func (b *Builder) emit(at Place, o *ir.Op, attrs any, args ...*ir.Node) (*ir.Node, error) {
	n, err := ir.NewNode(o, at.Name, b.File+": "+at.Name+" ("+at.Source+")", attrs, args...)
	if err != nil {
		return nil, err
	}
	if err := ir.CheckShape(n.Type.Shape); err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if computed, err := b.compute(n); computed != nil || err != nil {
		return computed, err
	}
	b.name(n, at)
	b.g.Nodes = append(b.g.Nodes, n)
	return n, nil
}

// EmitNode is Emit that never evaluates: large weights in another order stay views of the file, and engines evaluate
// the node once.
func (b *Builder) EmitNode(at Place, o *ir.Op, attrs any, args ...*ir.Node) (*ir.Node, error) {
	budget := b.budget
	b.budget = -1
	n, err := b.Emit(at, o, attrs, args...)
	b.budget = budget
	return n, err
}

// Unsigned runs convert, which makes the nodes of one operation of the source. What it marks is forgotten behind it: a
// node can stand for values of several types.
func (b *Builder) Unsigned(convert func()) {
	before := b.unsigned
	b.unsigned = map[*ir.Node]bool{}
	convert()
	b.unsigned = before
}

// MarkUnsigned says that n, an argument or a constant of the operation being converted, is of unsigned integers of 64
// bits.
func (b *Builder) MarkUnsigned(n *ir.Node) {
	if b.unsigned != nil && n != nil && n.Type.Format == ir.Int64 {
		b.unsigned[n] = true
	}
}

// IsUnsigned says that n was marked in the operation being converted, or computed from such values.
func (b *Builder) IsUnsigned(n *ir.Node) bool { return b.unsigned[n] }

// unsignedForm is an operation on unsigned integers written out; nil where it needs no other form.
func (b *Builder) unsignedForm(at Place, o *ir.Op, attrs any, args []*ir.Node) (*ir.Node, error) {
	if !slices.ContainsFunc(args, b.IsUnsigned) {
		return nil, nil
	}
	marked := b.unsigned
	b.unsigned = nil // the nodes below mean what they say
	defer func() { b.unsigned = marked }()
	c := b.chain(at)
	n := unsigned.Form(c, o, attrs, args, func(n *ir.Node) bool { return marked[n] })
	return n, c.err
}

// carryUnsigned marks n where it is computed from marked values, places of elements aside.
func (b *Builder) carryUnsigned(n *ir.Node, o *ir.Op, attrs any, args []*ir.Node) {
	to, converted := attrs.(*whole.ConvertAttrs)
	if converted && to.To == ir.U64 || o.Traits.Positions == nil && !converted && slices.ContainsFunc(args, b.IsUnsigned) {
		b.MarkUnsigned(n)
	}
}

// ShiftRight shifts zeros into x, whole numbers of a signed format. Amounts are unsigned.
func (b *Builder) ShiftRight(at Place, x, by *ir.Node) (*ir.Node, error) {
	c := b.chain(at)
	n := unsigned.ShiftRight(c, x, by)
	return n, c.err
}

// name gives a node its name and its position; a constant has its name from the file, or gets it in Finish.
func (b *Builder) name(n *ir.Node, at Place) {
	if n.IsConst() {
		n.Name = at.Name
		return
	}
	n.Name = b.names.take(at.Name, at.Alt)
	b.renamed(at, n.Name)
	n.Pos = b.File + ": " + n.Name + " (" + at.Source + ")"
}

// Evaluate is Emit for constant arguments of any size: weights that are wanted in another form.
func (b *Builder) Evaluate(at Place, o *ir.Op, attrs any, args ...*ir.Node) (*ir.Node, error) {
	n, err := ir.NewNode(o, at.Name, b.File+": "+at.Name+" ("+at.Source+")", attrs, args...)
	if err != nil {
		return nil, err
	}
	return b.constant(n)
}

// compute returns the constant that n is, or nil if it is none or too large.
func (b *Builder) compute(n *ir.Node) (*ir.Node, error) {
	if len(n.Args) == 0 || slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() }) {
		return nil, nil
	}
	if n.Op.Traits.Wire { // the same elements in another shape
		c, err := b.Const(n.Name, n.Args[0].Attrs.(*ir.Const).Data, n.Type.Shape)
		if err == nil {
			from(c, n.Args...)
		}
		return c, err
	}
	work := n.Type.Elems()
	for _, a := range n.Args {
		work = max(work, a.Type.Elems())
	}
	if work > maxResult || work > b.budget {
		return nil, nil
	}
	b.budget -= work
	return b.constant(n)
}

// constant makes the constant that n is, whose arguments are all constants.
func (b *Builder) constant(n *ir.Node) (*ir.Node, error) {
	t, err := ref.Constant(n)
	if err != nil {
		return nil, err
	}
	c, err := b.Const(n.Name, blob(t), t.Type.Shape)
	if err == nil {
		c.Pos = n.Pos
		from(c, n.Args...)
	}
	return c, err
}

// Ints are the elements of a constant of whole numbers; ok is false if n is none. It is for shapes, axes and the like.
func Ints(n *ir.Node) (values []int64, ok bool) {
	if n == nil || !n.IsConst() || n.Type.IsFloat() {
		return nil, false
	}
	t, err := n.Value()
	if err != nil {
		return nil, false
	}
	return t.Codes, true
}

// Floats are the elements of a constant of any type as float64; ok is false if n is none.
func Floats(n *ir.Node) (values []float64, ok bool) {
	if n == nil || !n.IsConst() {
		return nil, false
	}
	return n.Attrs.(*ir.Const).Data.Floats64(), true
}

// Output makes n the next output of the graph.
func (b *Builder) Output(name string, n *ir.Node) {
	b.g.Out = append(b.g.Out, ir.Output{Name: name, Node: n})
}

// OutputAs is Output for a value that has the storage type d in the model file.
func (b *Builder) OutputAs(name string, n *ir.Node, d ir.DType) {
	if b.Output(name, n); d == ir.U64 {
		b.g.Origin.Unsigned = append(b.g.Origin.Unsigned, name)
	}
}

// Finish drops what no output needs, names the constants and checks the graph.
func (b *Builder) Finish() (*ir.Graph, error) {
	if len(b.g.Out) == 0 {
		return nil, diag.New(diag.UnknownNode, b.File, "the model has no outputs")
	}
	b.dangling()
	b.g.DropDead()
	for _, n := range b.g.Nodes {
		if n.IsConst() {
			n.Name = b.names.take(n.Name, "const")
		}
	}
	if err := b.g.Check(); err != nil {
		return nil, err
	}
	return b.g, nil
}

// blob stores a value of a float graph in the storage type of its format.
func blob(t *ir.Tensor) *ir.Blob {
	if t.Type.IsFloat() {
		return ir.FloatBlob(t.Floats)
	}
	return IntBlob(ir.StoredAs(t.Type.Format), t.Codes)
}

// IntBlob stores whole numbers in the given storage type, modulo its size.
func IntBlob(d ir.DType, values []int64) *ir.Blob {
	size := d.Size()
	bytes := make([]byte, size*len(values))
	var word [8]byte
	for i, v := range values {
		binary.LittleEndian.PutUint64(word[:], uint64(v))
		copy(bytes[i*size:(i+1)*size], word[:])
	}
	return &ir.Blob{DType: d, Bytes: bytes}
}
