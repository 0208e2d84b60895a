// SPDX-License-Identifier: Apache-2.0

package grad

import "lathe/ir/hlo"

// rules holds the rule of each kind that has one; nil where the gradient is 0, since the value moves in steps.
var rules = map[hlo.Kind]rule{
	hlo.KindThrough: func(s *sweep, o *step) []hlo.Value { return []hlo.Value{{}, o.grad} },

	hlo.KindAdd:      func(s *sweep, o *step) []hlo.Value { return []hlo.Value{o.grad, o.grad} },
	hlo.KindSubtract: func(s *sweep, o *step) []hlo.Value { return []hlo.Value{o.grad, s.Neg(o.grad)} },
	hlo.KindMultiply: multiply,
	hlo.KindDivide:   divide,
	hlo.KindMaximum:  larger(hlo.GE),
	hlo.KindMinimum:  larger(hlo.LE),
	hlo.KindPower:    power,

	hlo.KindFloor:     nil,
	hlo.KindCeil:      nil,
	hlo.KindRoundEven: nil,
	hlo.KindRoundAway: nil,
	hlo.KindSign:      nil,

	hlo.KindNegate:      one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Neg(g) }),
	hlo.KindAbs:         one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, s.Sign(x)) }),
	hlo.KindExponential: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, y) }),
	hlo.KindLog:         one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Div(g, x) }),
	hlo.KindExpm1: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Mul(g, s.Add(y, s.num(y, 1)))
	}),
	hlo.KindLog1p: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Div(g, s.Add(x, s.num(x, 1)))
	}),
	hlo.KindTanh: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, s.less(1, s.Mul(y, y))) }),
	hlo.KindLogistic: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Mul(g, s.Mul(y, s.less(1, y)))
	}),
	hlo.KindErf:    one(erf),
	hlo.KindSine:   one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, s.Cos(x)) }),
	hlo.KindCosine: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Neg(s.Mul(g, s.Sin(x))) }),
	hlo.KindTan: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Mul(g, s.Add(s.Mul(y, y), s.num(y, 1)))
	}),
	hlo.KindAsin: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, s.Rsqrt(s.less(1, s.Mul(x, x)))) }),
	hlo.KindAcos: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Neg(s.Mul(g, s.Rsqrt(s.less(1, s.Mul(x, x)))))
	}),
	hlo.KindAtan: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Div(g, s.Add(s.Mul(x, x), s.num(x, 1)))
	}),
	hlo.KindSinh: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, s.Cosh(x)) }),
	hlo.KindCosh: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Mul(g, s.Sinh(x)) }),
	hlo.KindAsinh: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Mul(g, s.Rsqrt(s.Add(s.Mul(x, x), s.num(x, 1))))
	}),
	hlo.KindAcosh: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Mul(g, s.Rsqrt(s.Sub(s.Mul(x, x), s.num(x, 1))))
	}),
	hlo.KindAtanh: one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Div(g, s.less(1, s.Mul(x, x))) }),
	hlo.KindSqrt:  one(func(s *sweep, x, y, g hlo.Value) hlo.Value { return s.Div(s.Mul(g, s.num(g, 0.5)), y) }),
	hlo.KindRsqrt: one(func(s *sweep, x, y, g hlo.Value) hlo.Value {
		return s.Div(s.Mul(s.Mul(g, s.num(g, -0.5)), y), x)
	}),

	hlo.KindSelect: func(s *sweep, o *step) []hlo.Value {
		cond, zero := s.arg(o, 0), s.num(o.grad, 0)
		return []hlo.Value{{}, s.Select(cond, o.grad, zero), s.Select(cond, zero, o.grad)}
	},
	hlo.KindConvert: func(s *sweep, o *step) []hlo.Value {
		return []hlo.Value{s.Convert(o.grad, s.arg(o, 0).Type().DType)}
	},

	hlo.KindReshape:       reshape,
	hlo.KindTranspose:     transpose,
	hlo.KindBroadcast:     broadcast,
	hlo.KindSlice:         slice,
	hlo.KindConcatenate:   concatenate,
	hlo.KindPad:           pad,
	hlo.KindReverse:       func(s *sweep, o *step) []hlo.Value { return []hlo.Value{s.Reverse(o.grad, o.Attrs.Axes...)} },
	hlo.KindGather:        gather,
	hlo.KindScatter:       scatter,
	hlo.KindDynamicSlice:  dynamicSlice,
	hlo.KindDynamicUpdate: dynamicUpdate,

	hlo.KindDot:          dot,
	hlo.KindConvolution:  convolution,
	hlo.KindReduce:       reduce,
	hlo.KindReduceWindow: reduceWindow,
}

// one is the rule of a function of one operand: x is the operand, y the result, g the gradient of y.
func one(f func(s *sweep, x, y, g hlo.Value) hlo.Value) rule {
	return func(s *sweep, o *step) []hlo.Value { return []hlo.Value{f(s, s.arg(o, 0), s.out(o), o.grad)} }
}

// less is a - v.
func (s *sweep) less(a float64, v hlo.Value) hlo.Value { return s.Sub(s.num(v, a), v) }

func multiply(s *sweep, o *step) []hlo.Value {
	out := make([]hlo.Value, 2)
	for i := range out {
		if s.wants(o, i) {
			out[i] = s.Mul(o.grad, s.arg(o, 1-i))
		}
	}
	return out
}

func divide(s *sweep, o *step) []hlo.Value {
	x := s.Div(o.grad, s.arg(o, 1))
	return []hlo.Value{x, s.Neg(s.Mul(x, s.out(o)))}
}

// larger is the rule of maximum and minimum: of equal operands the first one has the gradient.
func larger(dir hlo.Dir) rule {
	return func(s *sweep, o *step) []hlo.Value {
		first, zero := s.Compare(dir, s.arg(o, 0), s.arg(o, 1)), s.num(o.grad, 0)
		return []hlo.Value{s.Select(first, o.grad, zero), s.Select(first, zero, o.grad)}
	}
}

// power is the rule of x^y: y x^(y-1) and x^y log x, where x is 0 the latter is 0.
func power(s *sweep, o *step) []hlo.Value {
	x, y := s.arg(o, 0), s.arg(o, 1)
	out := make([]hlo.Value, 2)
	if s.wants(o, 0) {
		out[0] = s.Mul(o.grad, s.Mul(y, s.Pow(x, s.Sub(y, s.num(y, 1)))))
	}
	if s.wants(o, 1) {
		none := s.Compare(hlo.EQ, x, s.num(x, 0))
		log := s.Select(none, s.num(x, 0), s.Log(s.Select(none, s.num(x, 1), x)))
		out[1] = s.Mul(o.grad, s.Mul(s.out(o), log))
	}
	return out
}

// erf has the derivative 2/sqrt(pi) exp(-x^2).
func erf(s *sweep, x, _, g hlo.Value) hlo.Value {
	return s.Mul(g, s.Mul(s.num(x, 1.1283791670955126), s.Exp(s.Neg(s.Mul(x, x)))))
}
