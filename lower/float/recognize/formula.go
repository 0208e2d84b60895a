// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// longestFormula bounds the text of a formula; what is longer stays as it is.
const longestFormula = 4096

// mostCount bounds the whole numbers in formulas: no sum of those that a formula has room for is beyond 32 bits.
const mostCount = 1 << 16

// counts lists what formulas take of whole numbers, such as the number of the first condition that holds.
var counts = []*ir.Op{whole.Convert, whole.Where, whole.Compare, move.Reshape, pointwise.Add, pointwise.Sub,
	pointwise.Max, pointwise.Min}

// Formulas makes one formula, which hardware looks up in one table, of each part of a graph that computes elements from
// the elements of one value alone and holds an operation without a unit: comparisons and selections, quotients,
// trigonometric functions. The part is as large as can be.
func Formulas(g *ir.Graph) error {
	for again := true; again; {
		g.DropDead()
		again = false
		at := make(map[*ir.Node]int, len(g.Nodes))
		for i, n := range g.Nodes {
			at[n] = i
		}
		for _, n := range slices.Backward(g.Nodes) {
			if n.Type.Format != ir.Float().Format || n.IsConst() || !formulaic(n) || n.Op == move.Reshape {
				continue
			}
			if x, text := formulaOf(at, n); x != nil {
				if !slices.Equal(x.Type.Shape, n.Type.Shape) {
					shape := &move.ReshapeAttrs{Shape: slices.Clone(n.Type.Shape)}
					x = &ir.Node{Name: g.FreshName(n.Name + ".shape"), Op: move.Reshape, Attrs: shape, Args: []*ir.Node{x},
						Pos: n.Pos, Type: x.Type.WithShape(slices.Clone(n.Type.Shape))}
					g.InsertBefore(n, x)
				}
				n.Op, n.Attrs, n.Args = curve.Formula, &curve.FormulaAttrs{Text: text}, []*ir.Node{x}
				again = true
				break
			}
		}
	}
	return nil
}

// formulaOf is the value that n is a function of, element by element, and the text of that function; the value is nil
// where there is none, or where all that n is computed by has units. It goes back from n: whenever a single value is
// left to be read, n is a function of it. Reshapes between keep the order of elements, and what is not a number has as
// many as n, so that element i of each belongs to element i of n.
func formulaOf(at map[*ir.Node]int, n *ir.Node) (x *ir.Node, text string) {
	open, lacks := []*ir.Node{n}, false
	for len(open) > 0 {
		latest := slices.MaxFunc(open, func(a, b *ir.Node) int { return at[a] - at[b] })
		if len(open) == 1 && latest != n && lacks && latest.Type.Format == n.Type.Format &&
			latest.Type.Elems() == n.Type.Elems() {
			w := formulaWriter{x: latest, memo: map[*ir.Node]string{}}
			if t, ok := w.text(n); ok {
				x, text = latest, t
			} else {
				break // longer from here on
			}
		}
		if !formulaic(latest) || latest.Type.Elems() != n.Type.Elems() {
			break
		}
		lacks = lacks || unitless(latest)
		open = slices.DeleteFunc(open, func(o *ir.Node) bool { return o == latest })
		for _, a := range latest.Args {
			if _, number := numberOf(a); !number && !slices.Contains(open, a) {
				open = append(open, a)
			}
		}
	}
	return x, text
}

// unitless says that no unit computes n on elements of values, or none as well as one table that computes what n reads,
// too: a reciprocal of rounded values is far off where those are small.
func unitless(n *ir.Node) bool {
	return n.Op.Traits.FloatOnly && !n.Op.ByParts() || n.Op == whole.Div && !n.Args[1].IsConst() || n.Op == whole.Power ||
		n.Op == whole.And || n.Op == whole.Or || n.Op == curve.Reciprocal
}

// numberOf is the text of a constant whose elements are all one number.
func numberOf(n *ir.Node) (text string, ok bool) {
	v, ok := n.Uniform()
	if !ok || n.Type.Format == ir.Bool || ir.IsWhole(n.Type.Format) && math.Abs(v) > mostCount {
		return "", false
	}
	return numeral(float32(v))
}

func numeral(v float32) (text string, ok bool) {
	switch {
	case v != v:
		return "", false
	case math.IsInf(float64(v), 0):
		text = "inf"
	default:
		text = strconv.FormatFloat(math.Abs(float64(v)), 'g', -1, 32)
	}
	if v < 0 {
		text = "(-" + text + ")"
	}
	return text, true
}

// formulaForms print operations whose arguments have these texts; a missing one is not formulaic.
var formulaForms = map[*ir.Op]func(n *ir.Node, a []string) string{
	pointwise.Add: infix("+"), pointwise.Sub: infix("-"), pointwise.Mul: infix("*"), whole.Div: infix("/"),
	pointwise.Max: callOf("max"), pointwise.Min: callOf("min"), whole.Power: callOf("pow"),
	whole.Where: func(n *ir.Node, a []string) string {
		if a[1] == a[2] {
			return a[1]
		}
		return callOf("where")(n, a)
	},
	whole.Not: callOf("not"), whole.And: infix("&&"), whole.Or: infix("||"),
	whole.Compare: func(n *ir.Node, a []string) string {
		sign := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
		return infix(sign[n.Attrs.(*whole.CompareAttrs).Rel])(n, a)
	},
	pointwise.Relu: func(_ *ir.Node, a []string) string { return "max(" + a[0] + ", 0)" },
	pointwise.LeakyRelu: func(n *ir.Node, a []string) string {
		return fmt.Sprintf("where(%s >= 0, %[1]s, %[1]s*%s)", a[0], sure(n.Attrs.(*pointwise.LeakyAttrs).Alpha))
	},
	pointwise.Clip: func(n *ir.Node, a []string) string {
		c := n.Attrs.(*pointwise.ClipAttrs)
		return fmt.Sprintf("min(max(%s, %s), %s)", a[0], sure(c.Min), sure(c.Max))
	},
	curve.Reciprocal: func(n *ir.Node, a []string) string {
		return fmt.Sprintf("(%s/%s)", sure(n.Attrs.(*curve.ReciprocalAttrs).Numerator), a[0])
	},
	curve.Pow: func(n *ir.Node, a []string) string {
		return fmt.Sprintf("pow(%s, %s)", a[0], sure(n.Attrs.(*curve.PowAttrs).Exponent))
	},
	curve.Silu: func(n *ir.Node, a []string) string {
		return fmt.Sprintf("(%s*sigmoid(%[1]s*%s))", a[0], sure(n.Attrs.(*curve.AlphaAttrs).Alpha))
	},
	curve.Softplus: func(_ *ir.Node, a []string) string {
		return fmt.Sprintf("(max(%s, 0) + log(1 + exp(-abs(%[1]s))))", a[0])
	},
	curve.Trunc:    func(_ *ir.Node, a []string) string { return fmt.Sprintf("(sign(%s)*floor(abs(%[1]s)))", a[0]) },
	curve.Softsign: func(_ *ir.Node, a []string) string { return fmt.Sprintf("(%s/(1 + abs(%[1]s)))", a[0]) },
	curve.Gelu: func(_ *ir.Node, a []string) string {
		return fmt.Sprintf("(%s*(1 + erf(%[1]s*0.70710678118654752))/2)", a[0])
	},
	curve.HardSwish: func(_ *ir.Node, a []string) string {
		return fmt.Sprintf("(%s*min(max(%[1]s/6 + 0.5, 0), 1))", a[0])
	},
	curve.HardSigmoid: func(n *ir.Node, a []string) string {
		h := n.Attrs.(*curve.HardSigmoidAttrs)
		return fmt.Sprintf("min(max(%s*%s + %s, 0), 1)", a[0], sure(h.Alpha), sure(h.Beta))
	},
	curve.ThresholdedRelu: func(n *ir.Node, a []string) string {
		return fmt.Sprintf("where(%s > %s, %[1]s, 0)", a[0], sure(n.Attrs.(*curve.AlphaAttrs).Alpha))
	},
	curve.Elu: func(n *ir.Node, a []string) string {
		return fmt.Sprintf("(max(%s, 0) + %s*(exp(min(%[1]s, 0)) - 1))", a[0], sure(n.Attrs.(*curve.AlphaAttrs).Alpha))
	},
	whole.Convert: func(n *ir.Node, a []string) string { // of a truth value or a count, see formulaic
		if n.Args[0].Type.Format != ir.Bool {
			return a[0]
		}
		return fmt.Sprintf("where(%s, 1, 0)", a[0])
	},
	move.Reshape: func(_ *ir.Node, a []string) string { return a[0] },
	curve.Abs:    callOf("abs"), curve.Sign: callOf("sign"), curve.Exp: callOf("exp"), curve.Log: callOf("log"),
	curve.Sqrt: callOf("sqrt"), curve.Tanh: callOf("tanh"), curve.Erf: callOf("erf"), curve.Sigmoid: callOf("sigmoid"),
	curve.Floor: callOf("floor"), curve.Ceil: callOf("ceil"), curve.Round: callOf("round"),
	curve.Sin: callOf("sin"), curve.Cos: callOf("cos"), curve.Tan: callOf("tan"), curve.Asin: callOf("asin"),
	curve.Acos: callOf("acos"), curve.Atan: callOf("atan"), curve.Sinh: callOf("sinh"), curve.Cosh: callOf("cosh"),
	curve.Asinh: callOf("asinh"), curve.Acosh: callOf("acosh"), curve.Atanh: callOf("atanh"),
}

// sure is the text of an attribute, of which importers and legality see to it that it is a number.
func sure(v float32) string {
	text, _ := numeral(v)
	return text
}

func infix(sign string) func(*ir.Node, []string) string {
	return func(_ *ir.Node, a []string) string { return "(" + a[0] + " " + sign + " " + a[1] + ")" }
}

func callOf(name string) func(*ir.Node, []string) string {
	return func(_ *ir.Node, a []string) string {
		return name + "(" + strings.Join(a, ", ") + ")"
	}
}

// formulaic says that formulas have a form for n: on floats, on the truth values that are made of them, or on counts of
// those.
func formulaic(n *ir.Node) bool {
	form := formulaForms[n.Op]
	count := func(n *ir.Node) bool {
		return n.Type.Format == ir.FormatOf(ir.I32) || n.Type.Format == ir.FormatOf(ir.I64)
	}
	real := n.Type.Format == ir.Float().Format
	if form == nil || !real && n.Type.Format != ir.Bool && !(count(n) && slices.Contains(counts, n.Op)) {
		return false
	}
	if n.Op == whole.Convert && (n.Type.Format == ir.Bool || n.Args[0].Type.IsFloat()) {
		return false
	}
	for _, a := range n.Args {
		truth := a.Type.Format == ir.Bool && !a.IsConst()
		if !truth && a.Type.Format != ir.Float().Format && !(count(a) && slices.Contains(counts, n.Op)) {
			return false
		}
	}
	return true
}

// formulaWriter writes nodes as functions of x.
type formulaWriter struct {
	x    *ir.Node
	memo map[*ir.Node]string
}

// text is n as a function of x; false where it gets too long.
func (w *formulaWriter) text(n *ir.Node) (string, bool) {
	if n == w.x {
		return "x", true
	}
	if text, ok := numberOf(n); ok {
		return text, true
	}
	if text, ok := w.memo[n]; ok {
		return text, text != ""
	}
	args := make([]string, len(n.Args))
	for i, a := range n.Args {
		text, ok := w.text(a)
		if args[i] = text; !ok {
			w.memo[n] = ""
			return "", false
		}
	}
	text := formulaForms[n.Op](n, args)
	if len(text) > longestFormula {
		text = ""
	}
	w.memo[n] = text
	return text, text != ""
}
