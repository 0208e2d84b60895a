// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/walk"
)

// TestTraits holds every operation to its traits, on random graphs.
func TestTraits(t *testing.T) {
	for _, o := range All {
		if o.Traits.Source {
			if o.Gen != nil || o.Arity != [2]int{} {
				t.Errorf("%s is a source and reads arguments", o.Name)
			}
			continue
		}
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 11))
			n := o.Gen(r, o).Out[0].Node
			if f, fixed := n.Type.Format.(format.Fixed); fixed && !o.Traits.KeepsCodes && !o.Traits.FloatOnly {
				f.Over = format.Sat // a result that wraps is not monotone
				n.Type.Format = f
			}
			if a, affine := n.Type.Format.(format.Affine); affine && !o.Traits.KeepsCodes {
				a.Over = format.Sat
				n.Type.Format = a
			}
			for _, trait := range []struct {
				name  string
				has   bool
				check func(r *rand.Rand, n *ir.Node) error
			}{
				{"not FloatOnly", !o.Traits.FloatOnly, isExact}, {"FloatOnly", o.Traits.FloatOnly, isFloat},
				{"Elementwise", o.Traits.Elementwise, isElementwise}, {"Monotone", o.Traits.Monotone, isMonotone},
				{"Weighted", o.Traits.Weighted, isWeighted}, {"KeepsCodes", o.Traits.KeepsCodes, keepsCodes},
				{"Wire", o.Traits.Wire, isWire}, {"Last", o.Traits.Last != nil, hasChannels},
				{"KeepsRanks", norm.KeepsRanks(o), ranks},
				{"Axis", o.Traits.Axis != nil, hasAxis},
				{"Axes", o.Traits.Axes != nil, hasAxes},
				{"PerChannel", o.Traits.PerChannel, hasChannels},
				{"Positions", o.Traits.Positions != nil, hasPositions}, {"Perm", o.Traits.Perm != nil, permutes},
				{"Casts", o.Traits.Casts, casts}, {"Commutes", o.Traits.Commutes, commutes},
				{"bounded", o.Bounds != nil, bounds},
			} {
				if !trait.has {
					continue
				}
				if err := trait.check(r, n); err != nil {
					t.Errorf("seed %d: %s is %s: %v", seed, o.Name, trait.name, err)
				}
			}
		}
	}
}

// drawn makes random values for the arguments that are no constants; those stay nil.
func drawn(r *rand.Rand, n *ir.Node) []*ir.Tensor {
	args := make([]*ir.Tensor, len(n.Args))
	for i, a := range n.Args {
		if a.IsConst() {
			continue
		}
		args[i] = ir.NewTensor(a.Type)
		for k := range args[i].Codes {
			args[i].Codes[k] = draw.Code(r, format.Raw(a.Type.Format))
		}
		for k := range args[i].Floats {
			args[i].Floats[k] = float32(r.NormFloat64())
		}
	}
	return args
}

func isExact(_ *rand.Rand, n *ir.Node) error {
	if n.Type.IsFloat() {
		return fmt.Errorf("it draws float graphs")
	}
	return nil
}

func isFloat(_ *rand.Rand, n *ir.Node) error {
	if n.Op.Legal == nil || n.Op.Legal(n) == nil {
		return fmt.Errorf("it is legal in a quantized graph")
	}
	return nil
}

// isElementwise changes the arguments of all elements but one.
func isElementwise(r *rand.Rand, n *ir.Node) error {
	x, other := drawn(r, n), drawn(r, n)
	before, err := draw.Run(n, x)
	if err != nil {
		return err
	}
	at := r.IntN(n.Type.Elems())
	for i, a := range n.Args {
		if !a.IsConst() {
			from := walk.BroadcastIndex(a.Type.Shape, n.Type.Shape)[at]
			column.CopyRun(other[i], from, x[i], from, 1)
		}
	}
	after, err := draw.Run(n, other)
	if err == nil && element(after, at) != element(before, at) {
		err = fmt.Errorf("element %d depends on others", at)
	}
	return err
}

// element is the bits of an element.
func element(t *ir.Tensor, at int) int64 {
	if t.Codes != nil {
		return t.Codes[at]
	}
	return int64(math.Float32bits(t.Floats[at]))
}

// commutes swaps the arguments.
func commutes(r *rand.Rand, n *ir.Node) error {
	x := drawn(r, n)
	before, err := draw.Run(n, x)
	if err != nil {
		return err
	}
	other := *n
	other.Args = []*ir.Node{n.Args[1], n.Args[0]}
	after, err := draw.Run(&other, []*ir.Tensor{x[1], x[0]})
	if err != nil {
		return err
	}
	for i := range n.Type.Elems() {
		if element(before, i) != element(after, i) {
			return fmt.Errorf("element %d depends on the order of the arguments", i)
		}
	}
	return nil
}

// isMonotone raises some elements of the arguments.
func isMonotone(r *rand.Rand, n *ir.Node) error {
	x, y := drawn(r, n), drawn(r, n)
	for i := range x {
		if x[i] == nil {
			continue
		}
		low, err := x[i].Decode()
		if err != nil {
			return err
		}
		high, err := y[i].Decode()
		if err != nil {
			return err
		}
		for k, c := range x[i].Codes { // not all formats have codes in the order of their values
			if high[k] < low[k] {
				y[i].Codes[k] = c
			}
		}
	}
	var results [2][]float64
	for i, args := range [][]*ir.Tensor{x, y} {
		out, err := draw.Run(n, args)
		if err != nil {
			return err
		}
		if results[i], err = out.Decode(); err != nil {
			return err
		}
	}
	for i, v := range results[0] {
		if results[1][i] < v {
			return fmt.Errorf("element %d falls from %g to %g", i, v, results[1][i])
		}
	}
	return nil
}

func isWeighted(_ *rand.Rand, n *ir.Node) error {
	axis := len(n.Type.Shape) - 1 // generators draw channels-last images
	for _, a := range n.Args[1:] {
		if !a.IsConst() || a.Type.Shape[0] != n.Type.Shape[axis] {
			return fmt.Errorf("%s is no constant with a row a channel", a.Name)
		}
	}
	if len(n.Args) < 2 || len(n.Args) > 3 {
		return fmt.Errorf("it has %d arguments", len(n.Args))
	}
	return nil
}

func keepsCodes(r *rand.Rand, n *ir.Node) error {
	x := drawn(r, n)
	y, err := draw.Run(n, x)
	if err != nil {
		return err
	}
	for _, c := range y.Codes {
		if !slices.Contains(x[0].Codes, c) {
			return fmt.Errorf("the result has code %d, the argument has not", c)
		}
	}
	f := n.Type
	n.Type.Format = format.Fixed{W: 41, F: 77}
	defer func() { n.Type = f }()
	if n.Op.Legal == nil || n.Op.Legal(n) == nil {
		return fmt.Errorf("another format is legal")
	}
	return nil
}

func isWire(_ *rand.Rand, n *ir.Node) error {
	u, err := n.Op.RTL(n)
	if err == nil && u.Module != "" {
		err = fmt.Errorf("its hardware is %s", u.Module)
	}
	return err
}

func hasChannels(_ *rand.Rand, n *ir.Node) error {
	axis, ok := n.ChannelAxis()
	if !ok || axis < 0 || axis >= len(n.Type.Shape) || len(n.Args[0].Type.Shape) != len(n.Type.Shape) {
		return fmt.Errorf("axis %d of %v", axis, n.Type.Shape)
	}
	if last := n.LastOf(); last != nil {
		defer func(v bool) { *last = v }(*last)
		for _, *last = range []bool{true, false} {
			if at, _ := n.ChannelAxis(); *last != (at == len(n.Type.Shape)-1) {
				return fmt.Errorf("channels are axis %d of %v, last: %v", at, n.Type.Shape, *last)
			}
		}
	}
	return nil
}

// hasAxis moves the axis outside the argument, which Infer must refuse.
func hasAxis(_ *rand.Rand, n *ir.Node) error {
	axis := n.AxisOf()
	defer func(v int) { *axis = v }(*axis)
	*axis = len(n.Args[0].Type.Shape)
	if _, err := n.Op.Infer(n); err == nil {
		return fmt.Errorf("axis %d of %v is accepted", *axis, n.Args[0].Type.Shape)
	}
	return nil
}

// hasAxes moves an axis outside the argument, which Infer must refuse.
func hasAxes(_ *rand.Rand, n *ir.Node) error {
	axes := n.AxesOf()
	defer func(v int) { axes[0] = v }(axes[0])
	axes[0] = len(n.Args[0].Type.Shape)
	if _, err := n.Op.Infer(n); err == nil {
		return fmt.Errorf("axes %v of %v are accepted", axes, n.Args[0].Type.Shape)
	}
	return nil
}

// TestCuts wants arguments that differ beyond a bound to make no difference.
func TestCuts(t *testing.T) {
	bounds := map[*ir.Op]any{pointwise.Relu: nil, pointwise.Clip: &pointwise.ClipAttrs{Min: -1, Max: 1}}
	f := format.Fixed{W: 8, F: 4, Signed: true}
	for _, o := range All {
		x := draw.Input("x", ir.Type{Shape: []int{2}, Format: f})
		attrs, listed := bounds[o]
		if pointwise.Cuts(o) != listed {
			t.Errorf("%s cuts: %v", o.Name, pointwise.Cuts(o))
		}
		if !listed {
			continue
		}
		arg := ir.NewTensor(x.Type)
		arg.Codes[0], arg.Codes[1] = -100, -50
		y, err := draw.Run(draw.Graph(o, attrs, x.Type, x).Out[0].Node, []*ir.Tensor{arg})
		if err != nil || y.Codes[0] != y.Codes[1] {
			t.Errorf("%s: %v %v", o.Name, y, err)
		}
	}
}

// TestExpand compares every expansion with the operation itself, up to the rounding of float32. An operation that is
// evaluated as its expansion says nothing of it: its definition stands here.
func TestExpand(t *testing.T) {
	parts := reflect.ValueOf(composite.PartsEval).Pointer()
	for _, o := range All {
		run := draw.Run
		if d := defined[o]; d != nil {
			run = d
		} else if o.Expand != nil && reflect.ValueOf(o.Eval).Pointer() == parts {
			t.Errorf("%s is compared with itself: give it a definition", o.Name)
		}
		for seed := range uint64(40) {
			if o.Expand == nil {
				break
			}
			r := rand.New(rand.NewPCG(seed, 12))
			n := floated(r, o.Gen(r, o).Out[0].Node)
			args := drawn(r, n)
			want, err := run(n, args)
			if err != nil {
				t.Fatal(err)
			}
			got, err := runExpansion(n, args)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want.Floats {
				if d := math.Abs(float64(v - got.Floats[i])); d > 1e-5*(1+math.Abs(float64(v))) {
					t.Errorf("seed %d: %s, element %d: %g, expanded %g", seed, o.Name, i, v, got.Floats[i])
				}
			}
		}
	}
}

// floated is a node of a quantized graph of one operation as one of a float graph, with constants of any values.
func floated(r *rand.Rand, n *ir.Node) *ir.Node {
	if n.Type.IsFloat() {
		return n
	}
	f := *n
	f.Type, f.Args = ir.Float(n.Type.Shape...), slices.Clone(n.Args)
	for i, a := range n.Args {
		c := *a
		if c.Type = ir.Float(a.Type.Shape...); a.IsConst() {
			c = *draw.Values(r, a.Name, c.Type)
		}
		f.Args[i] = &c
	}
	return &f
}

// runExpansion evaluates the parts of n in order.
func runExpansion(n *ir.Node, args []*ir.Tensor) (out *ir.Tensor, err error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return nil, err
	}
	values := make(map[*ir.Node]*ir.Tensor)
	for i, a := range n.Args {
		values[a] = args[i]
	}
	for _, p := range parts {
		if p.IsConst() {
			continue
		}
		in := make([]*ir.Tensor, len(p.Args))
		for i, a := range p.Args {
			in[i] = values[a]
		}
		if out, err = draw.Run(p, in); err != nil {
			return nil, err
		}
		values[p] = out
	}
	if end := parts[len(parts)-1]; end.Type.String() != n.Type.String() {
		return nil, fmt.Errorf("the expansion has type %s, not %s", end.Type, n.Type)
	}
	return out, nil
}
