// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"math/rand/v2"

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
	// HLO prints the same as StableHLO. Activations carry one leading sample axis; codes travel in i32 or i64. Constant
	// arguments come as zero Values: the column prints the form that it needs as a weight.
	HLO func(b *hlo.Builder, n *Node, args []hlo.Value) (hlo.Value, error)
	// Expand writes the node, which stays as it is, as simpler ones, returned in order; the last one takes its place. They
	// read the arguments of the node and each other; names need not be unique in the graph.
	Expand func(n *Node) ([]*Node, error)
	// RTL returns the unit that computes the node on streams. Package unit calls it once for each hardware of a node.
	RTL func(n *Node) (*rtl.Unit, error)
	// CUDA returns the kernels of the library that compute the node in a configuration for t. Its error is a
	// *cuda.Refusal where there are none for these formats or shapes: kernels are then made of the StableHLO form, as
	// they are without the column.
	CUDA func(n *Node, t cuda.Target) (*cuda.Unit, error)
	// Legal explains why the formats or the schedule of a quantized node cannot be built, or returns nil.
	Legal func(n *Node) error
	// Gen makes a random legal node of operation o, which is this one, with its arguments as inputs and constants, for
	// differential tests. Inputs and constants have none: they stand in the graphs of the others.
	Gen func(r *rand.Rand, o *Op) *Graph
}

// Kernel computes one sample from the argument values. It is safe for concurrent use and does not keep args.
type Kernel func(args []*Tensor) (*Tensor, error)

// Support is one row of the support matrix.
type Support struct {
	Name, Doc                    string
	Float, Exact, HLO, RTL, CUDA bool
}
