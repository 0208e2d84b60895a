// SPDX-License-Identifier: Apache-2.0

package grad_test

import "lathe/ir/hlo"

// values are what a case draws its arguments from.
type values struct {
	lo, hi float64
	apart  bool // no two elements lie closer than 0.01, nor any at 0
}

// gradCase is a function of floats whose gradients are compared with differences.
type gradCase struct {
	name  string
	kind  hlo.Kind
	args  [][]int
	from  values
	build func(b *hlo.Builder, x []hlo.Value) hlo.Value
}

var (
	around   = values{-2, 2, false}
	apart    = values{-2, 2, true}
	positive = values{0.5, 2, false}
	inside   = values{-0.9, 0.9, false}
	beyond   = values{1.2, 3, false}
)

func unary(name string, k hlo.Kind, from values, f func(*hlo.Builder, hlo.Value) hlo.Value) gradCase {
	return gradCase{name, k, [][]int{{3, 4}}, from, func(b *hlo.Builder, x []hlo.Value) hlo.Value { return f(b, x[0]) }}
}

func binary(name string, k hlo.Kind, from values, f func(b *hlo.Builder, x, y hlo.Value) hlo.Value) gradCase {
	return gradCase{name, k, [][]int{{3, 4}, {3, 4}}, from,
		func(b *hlo.Builder, x []hlo.Value) hlo.Value { return f(b, x[0], x[1]) }}
}

func moved(name string, k hlo.Kind, shape []int, f func(*hlo.Builder, hlo.Value) hlo.Value) gradCase {
	return gradCase{name, k, [][]int{shape}, apart, func(b *hlo.Builder, x []hlo.Value) hlo.Value { return f(b, x[0]) }}
}

func convolved(name string, x, w []int, c hlo.Conv) gradCase {
	return gradCase{name, hlo.KindConvolution, [][]int{x, w}, around,
		func(b *hlo.Builder, v []hlo.Value) hlo.Value { return b.Convolution(v[0], v[1], c, hlo.F64) }}
}

func window(name string, f hlo.Reducer, w hlo.Window) gradCase {
	return moved(name, hlo.KindReduceWindow, []int{2, 6, 7, 3}, func(b *hlo.Builder, x hlo.Value) hlo.Value {
		return b.ReduceWindow(f, x, w.Spatial(x))
	})
}

func product(name string, x, y []int, d hlo.Dot) gradCase {
	return gradCase{name, hlo.KindDot, [][]int{x, y}, around,
		func(b *hlo.Builder, v []hlo.Value) hlo.Value { return b.DotGeneral(v[0], v[1], d, hlo.F64) }}
}

// cases has at least one of each kind that has a rule.
var cases = []gradCase{
	binary("add", hlo.KindAdd, around, (*hlo.Builder).Add),
	binary("subtract", hlo.KindSubtract, around, (*hlo.Builder).Sub),
	binary("multiply", hlo.KindMultiply, around, (*hlo.Builder).Mul),
	binary("divide", hlo.KindDivide, positive, (*hlo.Builder).Div),
	binary("maximum", hlo.KindMaximum, apart, (*hlo.Builder).Max),
	binary("minimum", hlo.KindMinimum, apart, (*hlo.Builder).Min),
	binary("power", hlo.KindPower, positive, (*hlo.Builder).Pow),
	unary("square", hlo.KindMultiply, around, func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Mul(x, x) }),
	unary("negate", hlo.KindNegate, around, (*hlo.Builder).Neg),
	unary("abs", hlo.KindAbs, apart, (*hlo.Builder).Abs),
	unary("exponential", hlo.KindExponential, around, (*hlo.Builder).Exp),
	unary("log", hlo.KindLog, positive, (*hlo.Builder).Log),
	unary("expm1", hlo.KindExpm1, around, (*hlo.Builder).Expm1),
	unary("log1p", hlo.KindLog1p, positive, (*hlo.Builder).Log1p),
	unary("tanh", hlo.KindTanh, around, (*hlo.Builder).Tanh),
	unary("logistic", hlo.KindLogistic, around, (*hlo.Builder).Logistic),
	unary("erf", hlo.KindErf, around, (*hlo.Builder).Erf),
	unary("sine", hlo.KindSine, around, (*hlo.Builder).Sin),
	unary("cosine", hlo.KindCosine, around, (*hlo.Builder).Cos),
	unary("tan", hlo.KindTan, inside, (*hlo.Builder).Tan),
	unary("asin", hlo.KindAsin, inside, (*hlo.Builder).Asin),
	unary("acos", hlo.KindAcos, inside, (*hlo.Builder).Acos),
	unary("atan", hlo.KindAtan, around, (*hlo.Builder).Atan),
	unary("sinh", hlo.KindSinh, around, (*hlo.Builder).Sinh),
	unary("cosh", hlo.KindCosh, around, (*hlo.Builder).Cosh),
	unary("asinh", hlo.KindAsinh, around, (*hlo.Builder).Asinh),
	unary("acosh", hlo.KindAcosh, beyond, (*hlo.Builder).Acosh),
	unary("atanh", hlo.KindAtanh, inside, (*hlo.Builder).Atanh),
	unary("sqrt", hlo.KindSqrt, positive, (*hlo.Builder).Sqrt),
	unary("rsqrt", hlo.KindRsqrt, positive, (*hlo.Builder).Rsqrt),
	binary("select", hlo.KindSelect, apart, func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.Select(b.Compare(hlo.GT, x, y), b.Mul(x, x), b.Mul(y, x))
	}),
	moved("reshape", hlo.KindReshape, []int{3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reshape(x, 12) }),
	moved("transpose", hlo.KindTranspose, []int{2, 3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Transpose(x, 1, 2, 0) }),
	moved("broadcast", hlo.KindBroadcast, []int{1, 3},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.BroadcastInDim(x, []int{2, 4, 3}, []int{1, 2}) }),
	moved("slice", hlo.KindSlice, []int{7, 5},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Slice(x, []int{1, 0}, []int{7, 4}, []int{2, 3}) }),
	{"concatenate", hlo.KindConcatenate, [][]int{{2, 3}, {2, 1}, {2, 2}}, around,
		func(b *hlo.Builder, x []hlo.Value) hlo.Value { return b.Concat(1, x...) }},
	{"pad", hlo.KindPad, [][]int{{3, 4}, {}}, around, func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Pad(x[0], x[1], []int{1, -1}, []int{0, 2}, []int{2, 0})
	}},
	moved("reverse", hlo.KindReverse, []int{3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reverse(x, 1) }),
	moved("gather", hlo.KindGather, []int{4, 3}, func(b *hlo.Builder, x hlo.Value) hlo.Value {
		return b.TakeI(x, b.Const(hlo.FromInt64s(hlo.I32, []int{2, 3}, []int64{1, 1, 3, 0, -2, 9})))
	}),
	{"scatter", hlo.KindScatter, [][]int{{4, 3}, {5, 3}}, around, func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		idx := b.Const(hlo.FromInt64s(hlo.I32, []int{5}, []int64{2, 0, 2, 7, -1}))
		return b.ScatterRows(hlo.ReduceAdd, x[0], idx, x[1])
	}},
	moved("dynamic_slice", hlo.KindDynamicSlice, []int{3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Row(x, 1, b.Int(hlo.I32, 2)) }),
	{"dynamic_update", hlo.KindDynamicUpdate, [][]int{{3, 4}, {3}}, around,
		func(b *hlo.Builder, x []hlo.Value) hlo.Value { return b.PutRow(x[0], x[1], 1, b.Int(hlo.I32, 2)) }},
	product("dot", []int{3, 4}, []int{5, 4}, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}),
	product("dot of batches", []int{4, 2, 3, 5}, []int{5, 2, 3, 4, 6}, hlo.Dot{LhsContract: []int{3, 0},
		RhsContract: []int{0, 3}, LhsBatch: []int{1}, RhsBatch: []int{1}}),
	convolved("convolution", []int{2, 5, 6, 3}, []int{4, 3, 2, 3}, hlo.Conv{Low: []int{1, 0}, High: []int{1, 1}}),
	convolved("convolution by strides", []int{2, 7, 6, 3}, []int{4, 3, 2, 3},
		hlo.Conv{Stride: []int{2, 3}, Low: []int{1, 0}, High: []int{0, 1}, KernelDilation: []int{2, 1}}),
	convolved("transposed convolution", []int{2, 4, 3, 3}, []int{4, 3, 2, 3},
		hlo.Conv{InDilation: []int{2, 3}, Low: []int{2, 1}, High: []int{1, 1}}),
	convolved("channels first", []int{2, 3, 5, 6}, []int{4, 3, 3, 2},
		hlo.Conv{Input: "bf01", Kernel: "oi01", Output: "bf01", Low: []int{1, 1}, High: []int{0, 1}}),
	convolved("grouped convolution", []int{2, 5, 5, 4}, []int{6, 3, 3, 2},
		hlo.Conv{Groups: 2, Stride: []int{2, 1}, Low: []int{1, 1}, High: []int{1, 1}}),
	convolved("depthwise convolution", []int{2, 6, 5, 3}, []int{3, 3, 2, 1},
		hlo.Conv{Groups: 3, Stride: []int{2, 1}, Low: []int{1, 0}, High: []int{1, 1}, KernelDilation: []int{1, 2}}),
	moved("reduce add", hlo.KindReduce, []int{2, 3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reduce(hlo.ReduceAdd, x, 2, 0) }),
	moved("reduce maximum", hlo.KindReduce, []int{2, 3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reduce(hlo.ReduceMax, x, 0, 2) }),
	moved("reduce minimum", hlo.KindReduce, []int{2, 3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reduce(hlo.ReduceMin, x, 1) }),
	moved("reduce multiply", hlo.KindReduce, []int{2, 3, 4},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reduce(hlo.ReduceMul, x, 1) }),
	window("average", hlo.ReduceAdd, hlo.Window{Size: []int{3, 2}, Stride: []int{2, 1}, Low: []int{1, 0},
		High: []int{0, 1}, Dilation: []int{1, 2}}),
	window("pool", hlo.ReduceMax, hlo.Window{Size: []int{2, 2}, Stride: []int{2, 2}}),
	window("overlapping pool", hlo.ReduceMax, hlo.Window{Size: []int{3, 3}, Stride: []int{2, 1}, Low: []int{1, 1},
		High: []int{1, 0}}),
	window("least of a window", hlo.ReduceMin, hlo.Window{Size: []int{2, 3}, Stride: []int{1, 2}, Dilation: []int{2, 1}}),
	unary("through", hlo.KindThrough, around, func(b *hlo.Builder, x hlo.Value) hlo.Value {
		same := b.Mul(x, x) // as the value, which the gradient does not see
		return b.Through(same, b.Mul(x, x))
	}),
}
