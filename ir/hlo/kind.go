// SPDX-License-Identifier: Apache-2.0

package hlo

// Kind is what an Operation does.
type Kind uint8

// The kinds of operations. Those of the first block are no lines of a text: arguments of the program and of regions,
// and what operations give beside their first result.
const (
	KindInvalid Kind = iota
	KindInput        // an input of the program
	KindWeight       // data that the program takes behind its inputs
	KindParam        // a value that a region is entered with
	KindResult       // a further result of its operand

	KindConstant
	KindIota

	KindAdd
	KindSubtract
	KindMultiply
	KindDivide
	KindRemainder
	KindMaximum
	KindMinimum
	KindPower

	KindAnd
	KindOr
	KindXor
	KindShiftLeft
	KindShiftRightArithmetic
	KindShiftRightLogical
	KindNot
	KindPopCount
	KindCountLeadingZeros

	KindNegate
	KindAbs
	KindSign

	KindExponential
	KindLog
	KindExpm1
	KindLog1p
	KindTanh
	KindLogistic
	KindErf
	KindSine
	KindCosine
	KindTan
	KindAsin
	KindAcos
	KindAtan
	KindSinh
	KindCosh
	KindAsinh
	KindAcosh
	KindAtanh
	KindSqrt
	KindRsqrt
	KindFloor
	KindCeil
	KindRoundEven
	KindRoundAway

	KindCompare
	KindSelect
	KindConvert
	KindBitcast
	KindRequantize // exact integers to codes: Program.Expand writes it out
	KindThrough    // the value of one operand with the gradient of another: Program.Expand leaves the value

	KindReshape
	KindTranspose
	KindBroadcast
	KindSlice
	KindConcatenate
	KindPad
	KindReverse

	KindGather
	KindScatter
	KindDynamicSlice
	KindDynamicUpdate
	KindSort

	KindDot
	KindConvolution
	KindReduce
	KindReduceWindow

	KindWhile

	// NumKinds is the number of kinds; a reader of programs may number kinds of its own from here on.
	NumKinds
)

// class is which operands an element-wise kind takes.
type class uint8

const (
	special      class = iota // not element-wise, or with rules of its own
	double                    // two of one type
	doubleOfBits              // two of one type that is not a float
	single                    // one
	singleOfBits              // one that is not a float
	singleFloat               // one float
)

// fields are those of Attrs that a kind fills.
type fields uint16

// One a field, or a few that go together.
const (
	hasIndex fields = 1 << iota
	hasValue
	hasAxes
	hasStart // and Limit and Stride
	hasLow   // and High and Inner
	hasDir
	hasReducer
	hasWindow
	hasDot
	hasConv
	hasExact
	hasRequantize
	hasRegions // not a field of Attrs: the operation has regions
)

// anyArity is the arity of kinds that take one operand or more.
const anyArity = -1

// kindRow is what is known of a kind.
type kindRow struct {
	name  string
	arity int
	class class
	attrs fields
}

// kinds is the one table of kinds. Names without a dot are those of StableHLO.
var kinds = [NumKinds]kindRow{
	KindInput:  {"input", 0, special, hasIndex},
	KindWeight: {"weight", 0, special, hasIndex},
	KindParam:  {"param", 0, special, hasIndex},
	KindResult: {"result", 1, special, hasIndex},

	KindConstant: {"constant", 0, special, hasValue},
	KindIota:     {"iota", 0, special, hasAxes},

	KindAdd:       {"add", 2, double, 0},
	KindSubtract:  {"subtract", 2, double, 0},
	KindMultiply:  {"multiply", 2, double, 0},
	KindDivide:    {"divide", 2, double, 0},
	KindRemainder: {"remainder", 2, double, 0},
	KindMaximum:   {"maximum", 2, double, 0},
	KindMinimum:   {"minimum", 2, double, 0},
	KindPower:     {"power", 2, double, 0},

	KindAnd:                  {"and", 2, doubleOfBits, 0},
	KindOr:                   {"or", 2, doubleOfBits, 0},
	KindXor:                  {"xor", 2, doubleOfBits, 0},
	KindShiftLeft:            {"shift_left", 2, doubleOfBits, 0},
	KindShiftRightArithmetic: {"shift_right_arithmetic", 2, doubleOfBits, 0},
	KindShiftRightLogical:    {"shift_right_logical", 2, doubleOfBits, 0},
	KindNot:                  {"not", 1, singleOfBits, 0},
	KindPopCount:             {"popcnt", 1, singleOfBits, 0},
	KindCountLeadingZeros:    {"count_leading_zeros", 1, singleOfBits, 0},

	KindNegate: {"negate", 1, single, 0},
	KindAbs:    {"abs", 1, single, 0},
	KindSign:   {"sign", 1, single, 0},

	KindExponential: {"exponential", 1, singleFloat, 0},
	KindLog:         {"log", 1, singleFloat, 0},
	KindExpm1:       {"exponential_minus_one", 1, singleFloat, 0},
	KindLog1p:       {"log_plus_one", 1, singleFloat, 0},
	KindTanh:        {"tanh", 1, singleFloat, 0},
	KindLogistic:    {"logistic", 1, singleFloat, 0},
	KindErf:         {"chlo.erf", 1, singleFloat, 0},
	KindSine:        {"sine", 1, singleFloat, 0},
	KindCosine:      {"cosine", 1, singleFloat, 0},
	KindTan:         {"chlo.tan", 1, singleFloat, 0},
	KindAsin:        {"chlo.asin", 1, singleFloat, 0},
	KindAcos:        {"chlo.acos", 1, singleFloat, 0},
	KindAtan:        {"chlo.atan", 1, singleFloat, 0},
	KindSinh:        {"chlo.sinh", 1, singleFloat, 0},
	KindCosh:        {"chlo.cosh", 1, singleFloat, 0},
	KindAsinh:       {"chlo.asinh", 1, singleFloat, 0},
	KindAcosh:       {"chlo.acosh", 1, singleFloat, 0},
	KindAtanh:       {"chlo.atanh", 1, singleFloat, 0},
	KindSqrt:        {"sqrt", 1, singleFloat, 0},
	KindRsqrt:       {"rsqrt", 1, singleFloat, 0},
	KindFloor:       {"floor", 1, singleFloat, 0},
	KindCeil:        {"ceil", 1, singleFloat, 0},
	KindRoundEven:   {"round_nearest_even", 1, singleFloat, 0},
	KindRoundAway:   {"round_nearest_afz", 1, singleFloat, 0},

	KindCompare:    {"compare", 2, special, hasDir},
	KindSelect:     {"select", 3, special, 0},
	KindConvert:    {"convert", 1, special, 0},
	KindBitcast:    {"bitcast_convert", 1, special, 0},
	KindRequantize: {"requantize", 1, special, hasRequantize},
	KindThrough:    {"through", 2, special, 0},

	KindReshape:     {"reshape", 1, special, 0},
	KindTranspose:   {"transpose", 1, special, hasAxes},
	KindBroadcast:   {"broadcast_in_dim", 1, special, hasAxes},
	KindSlice:       {"slice", 1, special, hasStart},
	KindConcatenate: {"concatenate", anyArity, special, hasAxes},
	KindPad:         {"pad", 2, special, hasLow},
	KindReverse:     {"reverse", 1, special, hasAxes},

	KindGather:        {"gather", 2, special, 0},
	KindScatter:       {"scatter", 3, special, hasReducer},
	KindDynamicSlice:  {"dynamic_slice", anyArity, special, 0},
	KindDynamicUpdate: {"dynamic_update_slice", anyArity, special, 0},
	KindSort:          {"sort", 2, special, hasAxes | hasDir},

	KindDot:          {"dot_general", 2, special, hasDot | hasExact},
	KindConvolution:  {"convolution", 2, special, hasConv | hasExact},
	KindReduce:       {"reduce", 2, special, hasAxes | hasReducer},
	KindReduceWindow: {"reduce_window", 2, special, hasWindow | hasReducer},

	KindWhile: {"while", anyArity, special, hasRegions},
}

// String is the name of a StableHLO operation ("add", "dot_general", with its dialect where that is another:
// "chlo.erf"), or a word for what is none.
func (k Kind) String() string {
	if k >= NumKinds || kinds[k].name == "" {
		return "invalid"
	}
	return kinds[k].name
}
