// SPDX-License-Identifier: Apache-2.0

package hlo

import "fmt"

// Program is a function "main" as data: what a Builder makes, ir/hlo/text prints, and engines and kernels are made of.
type Program struct {
	Name    string
	Inputs  []Argument
	Weights []Argument // passed behind the inputs
	// Ops are all inputs, weights and operations, in the order of the calls that made them. A value is the number of the
	// operation that gives it, its position here. The operations of a region follow the one that has the region.
	Ops []Operation
	// Places are the places of the model that Builder.At named, in order.
	Places  []string
	Results []int
}

// Argument is a value that the program takes.
type Argument struct {
	Name string // in the model; "" for weights
	Type Type
	Data Array // of weights
	// Becomes is, counted from 1, the result that takes over the memory of an input; 0: none. A run may then use up what
	// it is given here.
	Becomes int
	// Split is, counted from 1, the axis of an input of which each device gets an equal part where there are several; 0:
	// each gets the whole.
	Split int
}

// Operation is one step of the program.
type Operation struct {
	Kind     Kind
	Operands []int // numbers of operations before this one
	Type     Type  // of the result, or of the first of several
	Place    int   // how many of Places came before it: the last of these is its own
	Attrs    Attrs
	Regions  []Region
}

// Region is a part of the program that its operation runs: operations From..To-1. What they make is not seen outside.
type Region struct {
	From, To int
	Results  []int // what the region gives back
}

// Attrs holds what an operation has beside its operands. Each kind uses the fields that its line names.
type Attrs struct {
	// Index is the position of an input or weight among its like, of a param in its region, of a result in those of its
	// operand.
	Index int

	Value Array // constant: of one element where all are equal

	Axes []int // broadcast_in_dim, transpose, reduce, reverse: axes; iota, concatenate, sort: the one axis

	Start, Limit, Stride []int // slice

	Low, High, Inner []int // pad

	Dir Dir // compare; sort: GT for the largest first, LT for the least

	Reducer Reducer // reduce, reduce_window, scatter
	Window  Window  // reduce_window, all lists filled in

	Dot  Dot  // dot_general
	Conv Conv // convolution, everything filled in

	Requantize Requantize // requantize

	// Exact is set on a dot_general or convolution of integers whose sum, in any order, the element type holds exactly,
	// even where it is a float type.
	Exact bool
}

// donations says what is wrong with results that take over the memory of arguments, "" where nothing is.
func (p *Program) donations() string {
	taken := map[int]bool{}
	for i, a := range p.Inputs {
		switch r := a.Becomes; {
		case r == 0:
		case r < 0 || r > len(p.Results) || taken[r] || !a.Type.Equal(p.Ops[p.Results[r-1]].Type):
			return fmt.Sprintf("input %d, %s, cannot become result %d of %d", i, a.Type, r-1, len(p.Results))
		default:
			taken[r] = true
		}
	}
	return ""
}

// Data returns the data of all weights, in the order in which a run passes them after the inputs.
func (p *Program) Data() []Array {
	out := make([]Array, len(p.Weights))
	for i, w := range p.Weights {
		out[i] = w.Data
	}
	return out
}

// Pos is the place in the model of operation n, "" before the first.
func (p *Program) Pos(n int) string {
	if at := p.Ops[n].Place; at > 0 {
		return p.Places[at-1]
	}
	return ""
}
