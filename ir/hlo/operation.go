// SPDX-License-Identifier: Apache-2.0

package hlo

// Kind names what an Operation does: a StableHLO operation by its name ("add", "dot_general", "chlo.erf"), or one of
// the two sources below.
type Kind string

// The sources of a program, which its text declares as arguments.
const (
	KindInput  Kind = "input"
	KindWeight Kind = "weight"
)

// Operation is one line of the program as data. Its number is its position in Builder.Operations.
type Operation struct {
	Kind     Kind
	Operands []int // numbers of operations before this one
	Type     Type
	Pos      string // as last given to At
	Attrs    Attrs
}

// Attrs holds what an operation has beside its operands. Each kind uses the fields that its line names.
type Attrs struct {
	Index int // input, weight: position in Inputs or Weights

	Value Array // constant: of one element where all are equal

	Axes []int // broadcast_in_dim, transpose, reduce, reverse: axes; iota, concatenate, sort: the one axis

	Start, Stride []int // slice

	Low, High, Inner []int // pad

	Dir Dir // compare; sort: GT for the largest first, LT for the least

	Reducer Reducer // reduce, reduce_window, scatter
	Window  Window  // reduce_window, all lists filled in

	Dot  Dot  // dot_general
	Conv Conv // convolution, everything filled in

	// Exact is set on a dot_general or convolution of integers whose sum, in any order, the element type holds exactly,
	// even where it is a float type.
	Exact bool
}

// Operations returns every input, weight and operation in the order of the calls that made them.
func (b *Builder) Operations() []Operation { return b.ops }

// Number is the position in Operations of what computes v; -1 for a failed value.
func (v Value) Number() int {
	if v.b == nil {
		return -1
	}
	return v.number
}

// record appends an operation and returns its number.
func (b *Builder) record(kind Kind, t Type, operands []Value) int {
	numbers := make([]int, len(operands))
	for i, v := range operands {
		numbers[i] = v.number
	}
	b.ops = append(b.ops, Operation{Kind: kind, Operands: numbers, Type: t, Pos: b.pos})
	return len(b.ops) - 1
}

// with sets the attributes of the operation that computes v.
func (v Value) with(a Attrs) Value {
	if v.b != nil {
		v.b.ops[v.number].Attrs = a
	}
	return v
}

// exact marks the sum of products v.
func (v Value) exact() Value {
	if v.b != nil {
		v.b.ops[v.number].Attrs.Exact = true
	}
	return v
}
