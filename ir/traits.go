// SPDX-License-Identifier: Apache-2.0

package ir

// Traits are what a rewrite may know of an operation without knowing which one it is. A test in ir/op holds the
// operations to them.
type Traits struct {
	// Source: the value comes from no argument. Every engine supplies inputs and places constants by itself.
	Source bool
	// FloatOnly: there is no exact integer meaning.
	FloatOnly bool
	// RoundsOnce: the integer form rounds the result alone to its format, and what precedes it, if at all, to many more
	// bits. So the operation is not quantized as what it expands to, whose parts would each round to a format.
	RoundsOnce bool
	// Whole: in float graphs it computes on whole numbers, too: all arguments and the result have one format, and results
	// are modulo 2^W. Operations with a Format column say there what they take.
	Whole bool
	// Index, if not nil, is the size of the axis whose positions the elements of argument i of n are, 0 if they are none.
	// Negative positions count from the end; those outside are an error of evaluation.
	Index func(n *Node, i int) int
	// Positions, if not nil, is the size of an axis, and elements of the result are positions on it: 0 to size-1.
	Positions func(n *Node) int
	// Elementwise: an element of the result is computed from the elements of the arguments at its place, all alike;
	// arguments broadcast.
	Elementwise bool
	// Table: with up to 16 bits a code of the result is a function of the code of argument 0, the only one, whatever the
	// scalar formats of both.
	Table bool
	// Curve: the function is not computed of codes but looked up, so that an argument of few bits is cheaper.
	Curve bool
	// Casts: every element of the result is the element of argument 0, rounded into another format.
	Casts bool
	// Compares: which elements the result is made of depends on their values.
	Compares bool
	// Monotone: the result grows, or stays, with every element of every argument.
	Monotone bool
	// Reads16: argument 0 gets a 16-bit format unless the plan chooses one.
	Reads16 bool
	// Fraction: results lie between 0 and 1, of which 1 itself may saturate.
	Fraction bool
	// Commutes: there are two arguments, and the result is the same with them swapped.
	Commutes bool
	// Bends, if not nil, lists for the attributes of an element-wise operation with one argument the values of that
	// argument at which it stops rising or falling, or jumps. It is not Monotone, but it is between two of them.
	Bends func(attrs any) []float64
	// Weighted: the result is linear in argument 0. Argument 1 holds the weights, one row of axis 0 an output channel, and
	// argument 2, which may be missing, one summand an output channel; in quantized graphs both are constants.
	Weighted bool
	// Windows: the unit keeps rows of argument 0 in a line buffer.
	Windows bool
	// Blocks, if not nil, says of n, some of whose types are block formats, that it computes on their blocks.
	Blocks func(n *Node) bool
	// Meets, if not 0, is the axis of argument 1 along which its products with argument 0, along the last axis of that,
	// are summed. Both are values.
	Meets int
	// KeepsCodes: every element of the result is an element of argument 0, in its format.
	KeepsCodes bool
	// Perm, if not nil, permutes the axes of argument 0: axis i of the result is its axis perm[i]. The operation does
	// nothing else, and so KeepsCodes.
	Perm func(attrs any) []int
	// Joins: every element of the result is an element of one of the arguments, or a constant of the operation; all have
	// one format, and all arguments are read along Axis alike.
	Joins bool
	// Wire: KeepsCodes, and the stream of the result is that of argument 0: hardware is a name.
	Wire bool
	// Forks: the stream of the result goes to HW.Branches readers. Streams of all others have one reader.
	Forks bool
	// Ring is the part of the operation in a ring of units that layers share. All of them keep codes.
	Ring RingPart
	// BlockCodes: on a block format the codes of the result follow from those of argument 0 alone, and scales stay.
	BlockCodes bool
	// Axis, if not nil, points to the attribute that names an axis of argument 0. The operation works along that axis,
	// or reads its other arguments along it, and treats all other axes alike.
	Axis func(attrs any) *int
	// Axes, if not nil, is the attribute that lists axes of argument 0: as Axis, for operations along several. Passes that
	// move axes change its elements.
	Axes func(attrs any) []int
	// PerChannel: Axis is the axis of channels, the same in argument 0 and in the result.
	PerChannel bool
	// Tokens, if not nil, says how the unit takes frames whose number of tokens changes; axis is that of tokens in
	// argument 0. nil: as follows from the other traits.
	Tokens func(n *Node, axis int) TokenWay
	// Last, if not nil, points to the attribute that says that channels are the last axis of argument 0 and of the result,
	// and not axis 1.
	Last func(attrs any) *bool
}

// TokenWay is how a unit takes frames whose number of tokens changes.
type TokenWay uint8

// Ways to take tokens.
const (
	AcrossTokens TokenWay = iota // only frames of one length
	ByToken                      // one after the other, whatever their number
	FirstToken                   // the result is the first one
)

// EachToken is the trait Tokens of operations that take tokens one after the other.
func EachToken(*Node, int) TokenWay { return ByToken }

// RingPart is a part in a ring of units that layers share: a frame goes through it in several turns of a sample.
type RingPart uint8

// Parts of a ring. A ring has one Enters and one Leaves, and one Returns.
const (
	NoRing  RingPart = iota
	Enters           // gives the frame from outside in the first turn, then those that Returns gives
	Returns          // passes on the frames of all turns but the last
	Leaves           // passes on the frame of the last turn
	Replays          // gives a frame from outside in each turn
)

// MeetsAcross says that products of n are summed along an axis of argument 1 that is not its last one: blocks of
// argument 1 would span several tokens, so n makes them of fixed values.
func (n *Node) MeetsAcross() bool {
	axis := n.Op.Traits.Meets
	return axis > 0 && axis != len(n.Args[1].Type.Shape)-1
}

// ByParts says that the operation is quantized, and built in hardware, as what it expands to.
func (o *Op) ByParts() bool { return o.Expand != nil && o.RTL == nil && !o.Traits.RoundsOnce }

// IsInput says that n is a value that the caller supplies.
func (n *Node) IsInput() bool { return n.Op.Traits.Source && !n.IsConst() }

// AxisOf points to the attribute of n that names an axis; nil if there is none.
func (n *Node) AxisOf() *int {
	if n.Op.Traits.Axis == nil {
		return nil
	}
	return n.Op.Traits.Axis(n.Attrs)
}

// AxesOf is the attribute of n that lists axes; nil if there is none.
func (n *Node) AxesOf() []int {
	if n.Op.Traits.Axes == nil {
		return nil
	}
	return n.Op.Traits.Axes(n.Attrs)
}

// ChannelAxis is the axis of channels of argument 0 and of the result; false if there is none.
func (n *Node) ChannelAxis() (axis int, ok bool) {
	t := &n.Op.Traits
	switch {
	case t.PerChannel:
		return *t.Axis(n.Attrs), true
	case t.Last == nil:
		return 0, false
	case *t.Last(n.Attrs):
		return len(n.Type.Shape) - 1, true
	}
	return 1, true
}

// LastOf points to the attribute of n that says that channels are the last axis; nil if there is none.
func (n *Node) LastOf() *bool {
	if n.Op.Traits.Last == nil {
		return nil
	}
	return n.Op.Traits.Last(n.Attrs)
}
