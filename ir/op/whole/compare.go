// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// CompareAttrs name the relation: eq, ne, lt, le, gt or ge.
type CompareAttrs struct {
	Rel string
}

// relation is a relation in Go: which results of a comparison it holds for, and whether it does for NaN.
type relation struct {
	name              string
	less, equal, more bool
	nan               bool
	dir               hlo.Dir
}

var relations = []relation{
	{"eq", false, true, false, false, hlo.EQ}, {"ne", true, false, true, true, hlo.NE},
	{"lt", true, false, false, false, hlo.LT}, {"le", true, true, false, false, hlo.LE},
	{"gt", false, false, true, false, hlo.GT}, {"ge", false, true, true, false, hlo.GE},
}

func relationOf(n *ir.Node) (relation, error) {
	rel := n.Attrs.(*CompareAttrs).Rel
	for _, r := range relations {
		if r.name == rel {
			return r, nil
		}
	}
	return relation{}, fmt.Errorf("unknown relation %q; use eq, ne, lt, le, gt or ge", rel)
}

// Compare is the truth value of a relation between two values of one format. With NaN only ne holds.
var Compare = &ir.Op{
	Name: "compare", Doc: "1 where a is eq, ne, lt, le, gt or ge b, else 0, with broadcasting; with NaN only ne holds",
	Attrs: CompareAttrs{}, Arity: [2]int{2, 2},
	Traits: ir.Traits{FloatOnly: true, Elementwise: true},
	Infer: func(n *ir.Node) ([]int, error) {
		if _, err := relationOf(n); err != nil {
			return nil, err
		}
		return walk.BroadcastArgs(n)
	},
	Format: func(n *ir.Node) (format.Format, error) {
		_, err := n.OneFormat(n.Args...)
		return ir.Bool, err
	},
	Eval:  compareEval,
	HLO:   compareHLO,
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		f := draw.Either(r)
		return draw.Element(r, o, &CompareAttrs{relations[r.IntN(len(relations))].name}, f, f)
	},
}

func compareEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	r, err := relationOf(n)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	w, fill := walk.Broadcasting(n.Type.Shape, n.Args[0].Type.Shape, n.Args[1].Type.Shape), column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		w.Each(func(at, count int, from, step []int) {
			for i := range count {
				j, k := from[0]+i*step[0], from[1]+i*step[1]
				if n.Args[0].Type.IsFloat() {
					out.Codes[at+i] = int64(rtl.Flag(holds(r, args[0].Floats[j], args[1].Floats[k])))
				} else {
					out.Codes[at+i] = int64(rtl.Flag(holds(r, args[0].Codes[j], args[1].Codes[k])))
				}
			}
		})
		return out, nil
	}, nil
}

// holds says whether a relation does.
func holds[T cmp.Ordered](r relation, a, b T) bool {
	switch {
	case a < b:
		return r.less
	case a > b:
		return r.more
	case a == b:
		return r.equal
	}
	return r.nan
}

func compareHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if err := column.InFloatGraph(n); err != nil {
		return hlo.Value{}, err
	}
	r, err := relationOf(n)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	v, err := carrier.Operands(b, n, args)
	if err != nil {
		return hlo.Value{}, err
	}
	return carrier.FromBool(b, b.Compare(r.dir, v[0], v[1])), b.Err()
}

// The kinds of floats that are no finite numbers.
var (
	IsNaN = isKind("is_nan", "1 where x is NaN, else 0", func(x float64) bool { return x != x },
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Compare(hlo.NE, x, x) })
	IsInf = isKind("is_inf", "1 where x is an infinity, else 0", func(x float64) bool { return math.IsInf(x, 0) },
		func(b *hlo.Builder, x hlo.Value) hlo.Value {
			return b.Compare(hlo.EQ, b.Abs(x), carrier.Number(b, math.Inf(1)))
		})
)

// isKind makes a test of floats.
func isKind(name, doc string, is func(x float64) bool, print func(*hlo.Builder, hlo.Value) hlo.Value) *ir.Op {
	return &ir.Op{
		Name: name, Doc: doc, Arity: [2]int{1, 1},
		Traits: ir.Traits{FloatOnly: true, Elementwise: true},
		Infer:  column.SameShape,
		Format: func(n *ir.Node) (format.Format, error) {
			if !n.Args[0].Type.IsFloat() {
				return nil, fmt.Errorf("%s takes floats, %q is %s", n.Op.Name, n.Args[0].Name, n.Args[0].Type.Format)
			}
			return ir.Bool, nil
		},
		Eval: func(n *ir.Node) (ir.Kernel, error) {
			if !n.Args[0].Type.IsFloat() {
				return nil, n.Errorf(diag.OpFormats, "%s takes floats", n.Op.Name)
			}
			return func(args []*ir.Tensor) (*ir.Tensor, error) {
				out := ir.NewTensor(n.Type)
				for i, x := range args[0].Floats {
					out.Codes[i] = int64(rtl.Flag(is(float64(x))))
				}
				return out, nil
			}, nil
		},
		HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
			if !n.Args[0].Type.IsFloat() {
				return hlo.Value{}, n.Errorf(diag.OpFormats, "%s takes floats", n.Op.Name)
			}
			return carrier.FromBool(b, print(b, args[0])), b.Err()
		},
		Legal: column.NoInteger,
		Gen:   func(r *rand.Rand, o *ir.Op) *ir.Graph { return draw.Element(r, o, nil, format.FP32) },
	}
}
