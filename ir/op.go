// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"errors"
	"math/rand/v2"
	"slices"

	"lathe/cuda"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/rtl"
)

// Op is all that is known of one operation: one column for each thing a target needs.
type Op struct {
	Name string
	// Doc is one sentence with the formula.
	Doc string
	// Attrs is a zero value of the attribute struct, nil if the operation has none.
	Attrs any
	// Arity is the least and the most number of arguments.
	Arity [2]int
	// Traits are what rewrites may know without knowing the operation.
	Traits Traits
	// Infer computes the shape of the result from argument types and attributes.
	Infer func(n *Node) ([]int, error)
	// Format is the format of the result in a float graph, where it is not that of argument 0: comparisons give Bool,
	// positions Int64.
	Format func(n *Node) (format.Format, error)
	// Eval prepares the node once (tables, packed weights) and returns what computes one sample. With a float result
	// type that is float32 arithmetic (sums in float64); otherwise it is the exact integer meaning of the hardware:
	// one rounding into the result format. Constant arguments are read from the node and passed as nil.
	Eval func(n *Node) (Kernel, error)
	// Bounds bounds the result in a float graph by the bounds of the arguments, element by element; those of weights are
	// not filled in. Without the column bounds follow from traits, or from those of what the node expands to.
	Bounds func(n *Node, args []Bounds) (Bounds, error)
	// Exact is a format of one step that holds every result of a quantized node without rounding, whatever its result
	// format; an error where there is none. Without the column results are rounded, or are codes of an argument.
	Exact func(n *Node) (format.Format, error)
	// Each is the codes of the channels of the result, along its last axis, where each has its own; its format holds all.
	// Without the column all channels have the codes of the format.
	Each func(n *Node) (*format.Each, error)
	// HLO prints the same as StableHLO. Activations carry the sample axis of b, where it has one (Builder.Axis); codes
	// travel in i32 or i64. Constant arguments come as zero Values: the column prints the form that it needs as a weight.
	HLO func(b *hlo.Builder, n *Node, args []hlo.Value) (hlo.Value, error)
	// Expand writes the node, which stays as it is, as simpler ones, returned in order; the last one takes its place. They
	// read the arguments of the node and each other; names need not be unique in the graph.
	Expand func(n *Node) ([]*Node, error)
	// RTL returns the unit that computes the node on streams. Package unit calls it once for each hardware of a node.
	RTL func(n *Node) (*rtl.Unit, error)
	// Products lists the forms that the products of n, whose lanes are decided, can have in its unit, the plainest first;
	// the RTL column reads from HW.Products which of them it is, and takes the plainest where that is empty. Errors are
	// those of the RTL column. Without the column there is one form.
	Products func(n *Node) ([]ProductForm, error)
	// Lanes are the foldings that the unit can have. Without it op.LanesOf follows from traits and types.
	Lanes func(n *Node) (*Lanes, error)
	// DSPCause says why products of n, decided but for its lanes, cannot share a DSP ("pack"), be summed in DSPs
	// ("chain") or both ("pack_chain"), whatever those lanes are; "" where they can, and how many output lanes share one.
	// Errors are those of a layer that has no hardware. Without the column no products can.
	DSPCause func(n *Node, how string) (lanes int, cause string, err error)
	// MACs counts the multiplications of n whose products are summed, for one sample. Without the column those of an
	// operation that is Weighted follow from its weights, and others have none.
	MACs func(n *Node) int
	// CUDA returns the kernels of the library that compute the group, whose anchor is a node of this operation, in a
	// configuration for t. Its error is a *cuda.Refusal where there are none for these members, formats or shapes:
	// kernels are then made of the StableHLO form, as they are without the column. OneNode makes it of a function of a
	// node alone.
	CUDA func(g *Group, t cuda.Target) (*cuda.Unit, error)
	// Chain is the name of n among the functions of the kernel library that compute elements of floats; "" where it has
	// none. Kernels that end in such functions apply it to what they have computed.
	Chain func(n *Node) string
	// Legal explains why the formats or the schedule of a quantized node cannot be built, or returns nil.
	Legal func(n *Node) error
	// Gen makes a random legal node of operation o, which is this one, with its arguments as inputs and constants, for
	// differential tests. Inputs and constants have none: they stand in the graphs of the others.
	Gen func(r *rand.Rand, o *Op) *Graph
}

// ProductForm is a form that products of a node can have.
type ProductForm struct {
	Products
	// Sum is the module that computes the products of one row in a beat, and their sum.
	Sum *rtl.Unit
	// Decoded says that the unit has this form only behind a decoder of the data, which it lacks as it stands.
	Decoded bool
}

// Group is what is computed together on a GPU: nodes of a graph, constants apart.
type Group struct {
	// Anchor is the member that gives the group its name, and whose CUDA column is asked for kernels of the library.
	Anchor *Node
	// Members are in the order of the graph.
	Members []*Node
	// Inputs are the values from outside that members read, Outputs the members that are read outside or are results of
	// the graph: each once, in the order of reading and in that of the graph. Constants are no inputs.
	Inputs, Outputs []*Node
}

// GroupOf is a node alone.
func GroupOf(n *Node) *Group {
	return NewGroup(n, []*Node{n}, func(*Node) bool { return true })
}

// NewGroup is the group of members, in the order of the graph, of which leaves names those that others read.
func NewGroup(anchor *Node, members []*Node, leaves func(n *Node) bool) *Group {
	g := &Group{Anchor: anchor, Members: members}
	for _, n := range members {
		for _, a := range n.Args {
			if !a.IsConst() && !slices.Contains(members, a) && !slices.Contains(g.Inputs, a) {
				g.Inputs = append(g.Inputs, a)
			}
		}
		if leaves(n) {
			g.Outputs = append(g.Outputs, n)
		}
	}
	return g
}

// OneNode is a CUDA column of an operation whose kernels compute a node alone; operands of f count the arguments of the
// node.
func OneNode(f func(n *Node, t cuda.Target) (*cuda.Unit, error)) func(*Group, cuda.Target) (*cuda.Unit, error) {
	return func(g *Group, t cuda.Target) (*cuda.Unit, error) {
		n := g.Anchor
		if len(g.Members) != 1 {
			return nil, cuda.Refuse("the library computes %s alone", n.Op.Name)
		}
		u, err := f(n, t)
		if err != nil {
			return nil, err
		}
		return u, g.Bind(u, n.Args)
	}
}

// Bind makes the inputs of u, indices of args, those of g.
func (g *Group) Bind(u *cuda.Unit, args []*Node) error {
	for i, o := range u.Operands {
		if o.Kind != cuda.Input && o.Kind != cuda.InputScales {
			continue
		}
		if u.Operands[i].Index = slices.Index(g.Inputs, args[o.Index]); u.Operands[i].Index < 0 {
			return errors.New("a kernel reads the constant " + args[o.Index].Name + " as a value")
		}
	}
	return nil
}

// Kernel computes one sample from the argument values. It is safe for concurrent use and does not keep args.
type Kernel func(args []*Tensor) (*Tensor, error)

// Bounds are the least and the greatest value that every element of a float tensor can have, up to rounding.
type Bounds struct{ Lo, Hi *Tensor }

// Support is one row of the support matrix.
type Support struct {
	Name, Doc                    string
	Float, Exact, HLO, RTL, CUDA bool
}
