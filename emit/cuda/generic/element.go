// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"slices"

	"lathe/cuda/word"
	"lathe/emit/cuda/index"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// infix are the operators of C++ that are the operation itself, for floats and for integers.
var (
	infixFloat = map[hlo.Kind]string{hlo.KindAdd: "+", hlo.KindSubtract: "-", hlo.KindMultiply: "*",
		hlo.KindDivide: "/"}
	infixInt  = map[hlo.Kind]string{hlo.KindAnd: "&", hlo.KindOr: "|", hlo.KindXor: "^"}
	infixBool = map[hlo.Kind]string{hlo.KindAnd: "&&", hlo.KindOr: "||", hlo.KindXor: "!=", hlo.KindAdd: "||",
		hlo.KindMultiply: "&&"}
)

// Functions of integers in the prelude.
var functions = map[hlo.Kind]string{
	hlo.KindAdd: "add", hlo.KindSubtract: "sub", hlo.KindMultiply: "mul",
	hlo.KindDivide: "quotient", hlo.KindRemainder: "remainder_of", hlo.KindMaximum: "greatest",
	hlo.KindMinimum: "least", hlo.KindShiftLeft: "shl", hlo.KindShiftRightArithmetic: "sar",
	hlo.KindShiftRightLogical: "shr", hlo.KindNegate: "neg", hlo.KindAbs: "magnitude",
	hlo.KindSign: "sign_of",
}

// Functions of floats: those of the prelude, and those of CUDA, which take an f behind their name for f32.
var (
	floatFunctions = map[hlo.Kind]string{
		hlo.KindMaximum: "float_greatest", hlo.KindMinimum: "float_least", hlo.KindLogistic: "logistic",
	}
	mathFunctions = map[hlo.Kind]string{
		hlo.KindPower: "pow", hlo.KindRemainder: "fmod", hlo.KindAbs: "fabs", hlo.KindExponential: "exp",
		hlo.KindLog: "log", hlo.KindExpm1: "expm1", hlo.KindLog1p: "log1p", hlo.KindTanh: "tanh",
		hlo.KindErf: "erf", hlo.KindSine: "sin", hlo.KindCosine: "cos", hlo.KindTan: "tan",
		hlo.KindAsin: "asin", hlo.KindAcos: "acos", hlo.KindAtan: "atan", hlo.KindSinh: "sinh",
		hlo.KindCosh: "cosh", hlo.KindAsinh: "asinh", hlo.KindAcosh: "acosh", hlo.KindAtanh: "atanh",
		hlo.KindSqrt: "sqrt", hlo.KindRsqrt: "rsqrt", hlo.KindFloor: "floor", hlo.KindCeil: "ceil",
		hlo.KindRoundEven: "rint", hlo.KindRoundAway: "round",
	}
)

// others are computed by cases in element, move or accumulate.
var others = []hlo.Kind{
	hlo.KindInput, hlo.KindWeight, hlo.KindConstant, hlo.KindIota, hlo.KindReshape, hlo.KindBroadcast,
	hlo.KindTranspose, hlo.KindSlice, hlo.KindReverse, hlo.KindPad, hlo.KindGather, hlo.KindConcatenate,
	hlo.KindReduce, hlo.KindReduceWindow, hlo.KindDot, hlo.KindConvolution, hlo.KindScatter, kindRank, kindRanked,
	hlo.KindCompare, hlo.KindSelect, hlo.KindConvert, hlo.KindBitcast, hlo.KindNot, hlo.KindPopCount,
	hlo.KindCountLeadingZeros,
}

// unknown lists the kinds that have no kernel form, each once.
func unknown(ops []hlo.Operation) []string {
	var bad []string
	for _, o := range ops {
		d := o.Type.DType
		_, f := floatFunctions[o.Kind]
		_, m := mathFunctions[o.Kind]
		_, x := infixFloat[o.Kind]
		_, n := functions[o.Kind]
		_, i := infixInt[o.Kind]
		_, l := infixBool[o.Kind]
		floats := d.IsFloat() && (f || m || x || o.Kind == hlo.KindNegate || o.Kind == hlo.KindSign)
		ints := d.IsInt() && (n || i)
		name := kindName(o.Kind) + " of " + string(d)
		if !floats && !ints && !(d == hlo.I1 && l) && !slices.Contains(others, o.Kind) && !slices.Contains(bad, name) {
			bad = append(bad, name)
		}
	}
	return bad
}

// element computes an operation whose operands are read at the index of the result.
func (g *gen) element(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	args := make([]*kernel.Expr, len(o.Operands))
	for i := range args {
		if args[i] = g.operand(n, i, at); args[i] == nil {
			return nil
		}
	}
	t := TypeOf(o.Type.DType)
	switch o.Kind {
	case hlo.KindSelect:
		return kernel.Either(args[0], args[1], args[2])
	case hlo.KindCompare:
		relation := map[hlo.Dir]string{hlo.EQ: "==", hlo.NE: "!=", hlo.LT: "<", hlo.LE: "<=", hlo.GT: ">", hlo.GE: ">="}
		return kernel.Binary(relation[o.Attrs.Dir], args[0], args[1])
	case hlo.KindConvert:
		return kernel.Convert(t, args[0])
	case hlo.KindBitcast:
		return bitcast(t, args[0])
	case hlo.KindNot:
		if t == word.Bool {
			return kernel.Unary("!", args[0])
		}
		return kernel.Narrow(kernel.Unary("~", args[0]))
	case hlo.KindPopCount, hlo.KindCountLeadingZeros:
		return countBits(o.Kind, args[0])
	}
	switch {
	case t.IsFloat():
		return float(o.Kind, t, args)
	case t == word.Bool:
		return kernel.Binary(infixBool[o.Kind], args[0], args[1])
	}
	if operator, ok := infixInt[o.Kind]; ok {
		return kernel.Narrow(kernel.Binary(operator, args[0], args[1]))
	}
	if idle(o.Kind, args) {
		return args[0]
	}
	return kernel.Function(t, functions[o.Kind], args...)
}

// idle says that an integer operation with a literal gives its first operand.
func idle(k hlo.Kind, args []*kernel.Expr) bool {
	if len(args) < 2 || args[1].Kind != kernel.Lit {
		return false
	}
	switch k {
	case hlo.KindAdd, hlo.KindSubtract, hlo.KindShiftLeft, hlo.KindShiftRightArithmetic, hlo.KindShiftRightLogical:
		return args[1].Bits == 0
	case hlo.KindMultiply, hlo.KindDivide:
		return args[1].Bits == 1
	}
	return false
}

func float(k hlo.Kind, t word.Type, args []*kernel.Expr) *kernel.Expr {
	if operator, ok := infixFloat[k]; ok {
		return kernel.Binary(operator, args[0], args[1])
	}
	x := args[0]
	zero, one := kernel.Int(t, 0), kernel.Int(t, 1)
	switch k {
	case hlo.KindNegate:
		return kernel.Unary("-", x)
	case hlo.KindSign:
		below := kernel.Either(kernel.Binary("<", x, zero), kernel.Unary("-", one), x)
		return kernel.Either(kernel.Binary(">", x, zero), one, below)
	}
	if name, ok := floatFunctions[k]; ok {
		return kernel.Function(t, name, args...)
	}
	name := mathFunctions[k]
	if t == word.F32 {
		name += "f"
	}
	return kernel.Function(t, name, args...)
}

// bitcast reads the bits of x as type t of the same size.
func bitcast(t word.Type, x *kernel.Expr) *kernel.Expr {
	switch {
	case t == word.F32:
		return kernel.Function(t, "__int_as_float", kernel.Convert(word.I32, x))
	case t == word.F64:
		return kernel.Function(t, "__longlong_as_double", kernel.Convert(word.I64, x))
	case x.Type == word.F32:
		return kernel.Convert(t, kernel.Function(word.I32, "__float_as_int", x))
	case x.Type == word.F64:
		return kernel.Convert(t, kernel.Function(word.I64, "__double_as_longlong", x))
	}
	return kernel.Convert(t, x)
}

// countBits counts one bits, or zero bits above the highest one.
func countBits(k hlo.Kind, x *kernel.Expr) *kernel.Expr {
	t := x.Type
	name, as := "__popc", word.U32
	if k == hlo.KindCountLeadingZeros {
		name = "__clz"
	}
	if t.Bytes() == 8 {
		name, as = name+"ll", word.U64
	}
	narrow := t
	if t == word.I8 {
		narrow = word.U8 // no copies of the sign
	}
	v := kernel.Function(word.I32, name, kernel.Convert(as, kernel.Convert(narrow, x)))
	if k == hlo.KindCountLeadingZeros && t.Bytes() == 1 {
		v = kernel.Binary("-", v, kernel.Int(word.I32, 24))
	}
	return kernel.Convert(t, v)
}
