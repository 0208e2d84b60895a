// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"math"
	"math/big"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
)

// FormulaAttrs is the text of a function of x: numbers, operators and functions in the syntax of Go, such as
// "where(x > 0, x, 0.01*x)".
type FormulaAttrs struct {
	Text string
}

// Formula is any function of one number that a text states. As an operation on codes it is the table of the rounded
// results of its float64 form.
var Formula = formula()

func formula() *ir.Op {
	o := function{
		name: "formula", doc: "a function of x, stated as text", attrs: FormulaAttrs{}, fraction: true,
		bends: func(attrs any) []float64 { return parsed(attrs).bends() },
		near:  func(attrs any) func(float64) float64 { return parsed(attrs).eval },
		exact: func(attrs any) func(*big.Rat) format.Exact {
			f := parsed(attrs)
			return func(x *big.Rat) format.Exact {
				v, _ := x.Float64()
				return format.FromFloat64(f.eval(v))
			}
		},
		hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value { return parsed(attrs).print(b, x) },
		draw: func(r *rand.Rand) any {
			return &FormulaAttrs{formulaSamples[r.IntN(len(formulaSamples))]}
		},
	}.op()
	o.Infer = func(n *ir.Node) ([]int, error) {
		if _, err := parseFormula(n.Attrs.(*FormulaAttrs).Text); err != nil {
			return nil, err
		}
		return column.SameShape(n)
	}
	return o
}

// formulaSamples are texts that random graphs draw from.
var formulaSamples = []string{"where(x > 0, x, x*0.125)", "where(x >= 1, 1, where(x <= -1, -1, x))",
	"max(x*x - 0.5, -0.25)", "where(x != 0, floor(x*4)*0.25, 1)"}

// parsed is the tree of attributes, which Infer has checked; that of x where they hold no formula.
func parsed(attrs any) *term {
	t, err := parseFormula(attrs.(*FormulaAttrs).Text)
	if err != nil {
		return &term{part: &parts[0]}
	}
	return t
}

// eval is the value at x.
func (t *term) eval(x float64) float64 {
	var args [3]float64
	for i, a := range t.args {
		args[i] = a.eval(x)
	}
	return t.part.value(x, t.number, args)
}

// print writes the formula on float32 values.
func (t *term) print(b *hlo.Builder, x hlo.Value) hlo.Value {
	var args [3]hlo.Value
	for i, a := range t.args {
		args[i] = a.print(b, x)
	}
	return t.part.print(b, x, t.number, args)
}

// bendSpan and bendSteps are where formulas are looked at for bends: beyond, they are taken to go on as they do there.
const (
	bendSpan  = 64
	bendSteps = 1 << 14
	mostBends = 256
)

// bends are arguments at which a formula stops rising or falling, or jumps, found on a grid.
func (t *term) bends() (at []float64) {
	const step = 2 * bendSpan / float64(bendSteps)
	last, rising := t.eval(-bendSpan), 0
	for i := 1; i <= bendSteps && len(at) < mostBends; i++ {
		x := -bendSpan + step*float64(i)
		y := t.eval(x)
		way := rising
		if y > last {
			way = 1
		} else if y < last {
			way = -1
		}
		if way != rising && rising != 0 {
			at = append(at, x-step, x)
		}
		last, rising = y, way
	}
	return at
}

// part is what formulas consist of.
type part struct {
	// name is that of a function; operators are named by their sign.
	name  string
	arity int
	// truth: the result is a truth value; asks: so is argument 0, and with all the others.
	truth, asks, all bool
	value            func(x, number float64, a [3]float64) float64
	print            func(b *hlo.Builder, x hlo.Value, number float64, a [3]hlo.Value) hlo.Value
}

// parts lists the parts of formulas; the first is x, the second a number.
var parts = append([]part{
	{name: "x", value: func(x, _ float64, _ [3]float64) float64 { return x },
		print: func(_ *hlo.Builder, x hlo.Value, _ float64, _ [3]hlo.Value) hlo.Value { return x }},
	{name: "number", value: func(_, number float64, _ [3]float64) float64 { return number },
		print: func(b *hlo.Builder, _ hlo.Value, number float64, _ [3]hlo.Value) hlo.Value {
			return carrier.Number(b, number)
		}},
	{name: "where", arity: 3, asks: true,
		value: func(_, _ float64, a [3]float64) float64 {
			if a[0] != 0 {
				return a[1]
			}
			return a[2]
		},
		print: func(b *hlo.Builder, _ hlo.Value, _ float64, a [3]hlo.Value) hlo.Value {
			return b.Select(a[0], a[1], a[2])
		}},
	{name: "not", arity: 1, truth: true, asks: true,
		value: func(_, _ float64, a [3]float64) float64 { return 1 - a[0] },
		print: func(b *hlo.Builder, _ hlo.Value, _ float64, a [3]hlo.Value) hlo.Value { return b.Not(a[0]) }},
	logical("&&", (*hlo.Builder).And, func(x, y bool) bool { return x && y }),
	logical("||", (*hlo.Builder).Or, func(x, y bool) bool { return x || y }),
	two("+", (*hlo.Builder).Add, func(x, y float64) float64 { return x + y }),
	two("-", (*hlo.Builder).Sub, func(x, y float64) float64 { return x - y }),
	two("*", (*hlo.Builder).Mul, func(x, y float64) float64 { return x * y }),
	two("/", (*hlo.Builder).Div, func(x, y float64) float64 { return x / y }),
	two("max", (*hlo.Builder).Max, func(x, y float64) float64 { return max(x, y) }),
	two("min", (*hlo.Builder).Min, func(x, y float64) float64 { return min(x, y) }),
	two("pow", (*hlo.Builder).Pow, math.Pow),
	compares(">", hlo.GT, func(x, y float64) bool { return x > y }),
	compares(">=", hlo.GE, func(x, y float64) bool { return x >= y }),
	compares("<", hlo.LT, func(x, y float64) bool { return x < y }),
	compares("<=", hlo.LE, func(x, y float64) bool { return x <= y }),
	compares("==", hlo.EQ, func(x, y float64) bool { return x == y }),
	compares("!=", hlo.NE, func(x, y float64) bool { return x != y }),
}, single...)

// single are the functions of one number.
var single = []part{
	one("abs", (*hlo.Builder).Abs, math.Abs), one("sign", (*hlo.Builder).Sign, sign),
	one("exp", (*hlo.Builder).Exp, math.Exp),
	one("log", (*hlo.Builder).Log, math.Log), one("sqrt", (*hlo.Builder).Sqrt, math.Sqrt),
	one("tanh", (*hlo.Builder).Tanh, math.Tanh), one("erf", (*hlo.Builder).Erf, math.Erf),
	one("sigmoid", (*hlo.Builder).Logistic, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	one("floor", (*hlo.Builder).Floor, math.Floor), one("ceil", (*hlo.Builder).Ceil, math.Ceil),
	one("round", (*hlo.Builder).RoundEven, math.RoundToEven),
	one("sin", (*hlo.Builder).Sin, math.Sin), one("cos", (*hlo.Builder).Cos, math.Cos),
	one("tan", (*hlo.Builder).Tan, math.Tan),
	one("asin", (*hlo.Builder).Asin, math.Asin), one("acos", (*hlo.Builder).Acos, math.Acos),
	one("atan", (*hlo.Builder).Atan, math.Atan), one("sinh", (*hlo.Builder).Sinh, math.Sinh),
	one("cosh", (*hlo.Builder).Cosh, math.Cosh), one("asinh", (*hlo.Builder).Asinh, math.Asinh),
	one("acosh", (*hlo.Builder).Acosh, math.Acosh), one("atanh", (*hlo.Builder).Atanh, math.Atanh),
}

func one(name string, print func(*hlo.Builder, hlo.Value) hlo.Value, f func(float64) float64) part {
	return part{name: name, arity: 1,
		value: func(_, _ float64, a [3]float64) float64 { return f(a[0]) },
		print: func(b *hlo.Builder, _ hlo.Value, _ float64, a [3]hlo.Value) hlo.Value { return print(b, a[0]) }}
}

func two(name string, print func(*hlo.Builder, hlo.Value, hlo.Value) hlo.Value, f func(x, y float64) float64) part {
	return part{name: name, arity: 2,
		value: func(_, _ float64, a [3]float64) float64 { return f(a[0], a[1]) },
		print: func(b *hlo.Builder, _ hlo.Value, _ float64, a [3]hlo.Value) hlo.Value { return print(b, a[0], a[1]) }}
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

func compares(name string, dir hlo.Dir, f func(x, y float64) bool) part {
	return part{name: name, arity: 2, truth: true,
		value: func(_, _ float64, a [3]float64) float64 { return truth(f(a[0], a[1])) },
		print: func(b *hlo.Builder, _ hlo.Value, _ float64, a [3]hlo.Value) hlo.Value {
			return b.Compare(dir, a[0], a[1])
		}}
}

func logical(name string, print func(*hlo.Builder, hlo.Value, hlo.Value) hlo.Value, f func(x, y bool) bool) part {
	return part{name: name, arity: 2, truth: true, asks: true, all: true,
		value: func(_, _ float64, a [3]float64) float64 { return truth(f(a[0] != 0, a[1] != 0)) },
		print: func(b *hlo.Builder, _ hlo.Value, _ float64, a [3]hlo.Value) hlo.Value { return print(b, a[0], a[1]) }}
}
