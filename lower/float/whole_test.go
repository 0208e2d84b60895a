// SPDX-License-Identifier: Apache-2.0

package float_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
	"lathe/lower"
	"lathe/lower/float"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// wholeNode makes a node of a float graph.
func wholeNode(t *testing.T, g *ir.Graph, o *ir.Op, name string, attrs any, args ...*ir.Node) *ir.Node {
	t.Helper()
	n, err := ir.NewNode(o, name, "", attrs, args...)
	if err != nil {
		t.Fatal(err)
	}
	g.Nodes = append(g.Nodes, n)
	return n
}

// TestRefusesWholeNumbers wants one error that counts every operation on whole numbers, and those without integer form.
func TestRefusesWholeNumbers(t *testing.T) {
	ids := &ir.Node{Name: "ids", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{4}, Format: ir.Int64}}
	values := &ir.Const{Data: ir.FloatBlob(make([]float32, 6))}
	table := &ir.Node{Name: "table", Op: leaf.Const, Attrs: values, Type: ir.Float(3, 2)}
	g := &ir.Graph{Name: "g", In: []*ir.Node{ids}, Nodes: []*ir.Node{ids, table}}
	a := wholeNode(t, g, whole.Gather, "word", &column.AxisAttrs{}, table, ids)
	b := wholeNode(t, g, whole.Gather, "place", &column.AxisAttrs{}, table, ids)
	c := wholeNode(t, g, whole.Convert, "number", &whole.ConvertAttrs{To: ir.F32}, ids) // else ids would only be looked up
	sum := wholeNode(t, g, pointwise.Add, "sum", nil, a, b)
	y := wholeNode(t, g, norm.Softmax, "soft", &column.AxisAttrs{Axis: -1}, sum)
	g.Out = []ir.Output{{Name: "y", Node: y}, {Name: "c", Node: c}}
	_, _, err := lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
	if diag.CodeOf(err) != "L0337" {
		t.Fatal(err)
	}
	for _, want := range []string{"3 operations in 4 nodes",
		"note: on whole numbers, with which no hardware computes: input",
		`input: node "ids"`, `gather: 2 nodes, the first is "word"; convert: node "number"`,
		"without hardware for any numbers: gather"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestArgMaxIsQuantized: positions, and what moves or converts them, are values to which formats are given.
func TestArgMaxIsQuantized(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 10)}
	g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
	place := wholeNode(t, g, reduce.ArgMax, "place", &reduce.ArgMaxAttrs{Axis: 1}, x)
	wide := wholeNode(t, g, whole.Convert, "wide", &whole.ConvertAttrs{To: ir.I32}, place)
	y := wholeNode(t, g, whole.Convert, "value", &whole.ConvertAttrs{To: ir.F32}, wide)
	if place.Type.Format != ir.Int64 || wide.Type.Format != ir.Int32 || y.Type.Format != format.FP32 {
		t.Fatal(place.Type, wide.Type, y.Type)
	}
	g.Out = []ir.Output{{Name: "y", Node: y}}
	q, _, err := lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := q.Out[0].Node.Type.Format.(format.Fixed); !ok || f.W != 4 || f.F != 0 {
		t.Errorf("positions below 10 are %s", q.Out[0].Node.Type)
	}
}

// TestFloatCasts: conversions between types of floats go before formats are chosen, wherever they stand, and stay in
// graphs that remain float.
func TestFloatCasts(t *testing.T) {
	for _, to := range []ir.DType{ir.F16, ir.BF, ir.F32, ir.F64} {
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 4)}
		g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
		narrow := wholeNode(t, g, whole.Convert, "narrow", &whole.ConvertAttrs{To: to}, x)
		relu := wholeNode(t, g, pointwise.Relu, "relu", nil, narrow)
		again := wholeNode(t, g, whole.Convert, "again", &whole.ConvertAttrs{To: to}, relu)
		y := wholeNode(t, g, whole.Convert, "y", &whole.ConvertAttrs{To: ir.F32}, again)
		g.Out = []ir.Output{{Name: "y", Node: y}, {Name: "again", Node: again}}
		q, _, err := lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
		if err != nil {
			t.Errorf("%s: %v", to, err)
			continue
		}
		for _, n := range q.Nodes {
			if n.Op == whole.Convert {
				t.Errorf("%s: %s is left", to, n.Name)
			}
		}
		s, err := float.Simplify(t.Context(), g, pass.Options{})
		if err != nil || s.Find("narrow") == nil || s.Find("narrow").Op != whole.Convert {
			t.Errorf("%s: the float graph has lost its conversion, %v", to, err)
		}
	}
}

// TestHintsAtTheFront: the hint names all values that operations without hardware need, and those behind them.
func TestHintsAtTheFront(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 4)}
	g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
	scores := wholeNode(t, g, pointwise.Relu, "scores", nil, x)
	total := wholeNode(t, g, reduce.Sum, "total", &reduce.Attrs{Axes: []int{1}}, scores)
	none := wholeNode(t, g, whole.Convert, "none", &whole.ConvertAttrs{To: ir.I32}, total)
	some := wholeNode(t, g, whole.Convert, "some", &whole.ConvertAttrs{To: ir.F32}, none)
	y := wholeNode(t, g, pointwise.Add, "y", nil, scores, some)
	g.Out = []ir.Output{{Name: "y", Node: y}}
	_, _, err := lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
	if diag.CodeOf(err) != "L0337" || !strings.Contains(err.Error(), "--outputs total,scores;") {
		t.Error(err)
	}
	g.Origin = &ir.Origin{Instead: "quantize it otherwise"}
	_, _, err = lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
	if text := fmt.Sprint(err); !strings.Contains(text, "hint: quantize it otherwise") ||
		strings.Contains(text, "--outputs") {
		t.Error(err)
	}
}

// TestInfiniteChoice: of an infinity that a constant condition chooses, the error says what to write in its place.
func TestInfiniteChoice(t *testing.T) {
	for v, asks := range map[float32]bool{float32(math.Inf(-1)): true, -16: false} {
		b := lowertest.New(t, 1)
		x := b.Input("x", 1, 4)
		keep := b.Add(whole.Compare, "keep", &whole.CompareAttrs{Rel: "gt"}, b.Const([]int{4}, 1, 1, 0, 1), b.Const(nil, 0))
		g := b.Done(b.Add(whole.Where, "y", nil, keep, x, b.Const(nil, v)))
		_, _, err := lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
		if asked := err != nil && strings.Contains(err.Error(), diag.FiniteInstead); asked != asks {
			t.Errorf("%g in place of what is not kept: %v", v, err)
		}
	}
}
