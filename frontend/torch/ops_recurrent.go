// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/recurrent"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
)

// recurrences lists the layers that go over a sequence step by step, and single steps of them.
func recurrences() []row {
	const rest = " params has_biases num_layers dropout train bidirectional batch_first"
	return []row{
		{"lstm.input gru.input rnn_tanh.input rnn_relu.input", "input hx" + rest, convertRecurrent},
		{"lstm_cell.default gru_cell.default rnn_tanh_cell.default rnn_relu_cell.default", "input hx w_ih w_hh b_ih b_hh",
			convertCell},
	}
}

// Do, Now and Const make a call the maker of package recurrent.
func (c *call) Do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return c.emit(part, o, attrs, args...)
}

// Now evaluates at once.
func (c *call) Now(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil || slices.Contains(args, nil) {
		return nil
	}
	at := c.place
	at.Name += "." + part
	n, err := c.b.Evaluate(at, o, attrs, args...)
	c.wrap(err)
	return n
}

// Const is a constant of the operation.
func (c *call) Const(part string, data *ir.Blob, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Const(c.place.Name+"."+part, data, shape)
	c.wrap(err)
	return n
}

// blank is a cell of the kind that the operation has, without weights. PyTorch's gates are i, f, g and o of an LSTM, r,
// z and n of a GRU, which resets behind the product.
func (c *call) blank() recurrent.Cell {
	sigmoid, tanh := recurrent.Unary(curve.Sigmoid, nil), recurrent.Unary(curve.Tanh, nil)
	switch target := c.n.target[len(prefix):]; {
	case strings.HasPrefix(target, "lstm"):
		return recurrent.Cell{Kind: recurrent.LSTM, Gates: "ifco", F: sigmoid, G: tanh, H: tanh, Standard: true}
	case strings.HasPrefix(target, "gru"):
		return recurrent.Cell{Kind: recurrent.GRU, Gates: "rzh", F: sigmoid, G: tanh, ResetAfter: true, Standard: true}
	case strings.HasPrefix(target, "rnn_relu"):
		return recurrent.Cell{Kind: recurrent.RNN, Gates: "h", F: recurrent.Unary(pointwise.Relu, nil), Standard: true,
			Relu: true}
	}
	return recurrent.Cell{Kind: recurrent.RNN, Gates: "h", F: tanh, Standard: true}
}

// cell is a step over features with the weights w [gates*H,I] and r [gates*H,S].
func (c *call) cell(features int, w, r, wb, rb, projection *ir.Node) *recurrent.Cell {
	p := c.blank()
	p.Input, p.Recurrent, p.InputBias, p.RecurrentBias, p.Projection = w, r, wb, rb, projection
	c.fixed("the weights", w, r, wb, rb, projection)
	if c.err != nil {
		return &p
	}
	if ws, rs := w.Type.Shape, r.Type.Shape; len(ws) != 2 || len(rs) != 2 || ws[0] != rs[0] || rs[0]%len(p.Gates) != 0 ||
		ws[1] != features {
		c.fail(diag.OperandShapes, "weights %s and %s do not fit %d features", ir.ShapeString(ws), ir.ShapeString(rs),
			features)
		return &p
	}
	p.Hidden, p.States = r.Type.Shape[0]/len(p.Gates), r.Type.Shape[1]
	return &p
}

// fixed are nodes that must be constants.
func (c *call) fixed(what string, nodes ...*ir.Node) {
	for _, n := range nodes {
		if c.err == nil && n != nil && !n.IsConst() {
			c.wrap(build.NotConstant(n, what))
		}
	}
}

// convertCell is one step: the state behind it, and the cell of an LSTM.
func convertCell(c *call) {
	x, w, r, wb, rb := c.tensor("input"), c.tensor("w_ih"), c.tensor("w_hh"), c.maybe("b_ih"), c.maybe("b_hh")
	if c.err == nil && len(x.Type.Shape) != 2 {
		c.fail(diag.OperandShapes, "its input is %s, batch and features are needed", ir.ShapeString(x.Type.Shape))
	}
	if c.err != nil {
		return
	}
	p := c.cell(x.Type.Shape[1], w, r, wb, rb, nil)
	s := c.states(p.Kind)
	if c.err != nil {
		return
	}
	_, last := recurrent.Run(c, "", p, []*ir.Node{x}, x.Type.Shape[0], s, false, nil)
	if c.resultIfRead(func() *ir.Node { return last.H }); p.Kind == recurrent.LSTM {
		c.resultIfRead(func() *ir.Node { return last.C })
	}
}

// states are the initial states: one tensor, or two of an LSTM.
func (c *call) states(kind recurrent.Kind) recurrent.State {
	if kind != recurrent.LSTM {
		return recurrent.State{H: c.tensor("hx")}
	}
	hx := c.tensors("hx")
	if c.err == nil && len(hx) != 2 {
		c.fail(diag.OperandCount, "has %d initial states, two are needed", len(hx))
	}
	if c.err != nil {
		return recurrent.State{}
	}
	return recurrent.State{H: hx[0], C: hx[1]}
}

// stack is a recurrent operation of several layers and directions.
type stack struct {
	*call
	layers, dirs, steps, batch, axis int
	params                           []*ir.Node
	cells                            []*recurrent.Cell // of each layer, of each direction
	before                           []recurrent.State
	last                             struct{ H, C func() *ir.Node }
}

func convertRecurrent(c *call) {
	s := &stack{call: c, layers: clampInt(c.int("num_layers", 1)), dirs: 1, params: c.tensors("params")}
	if c.bool("bidirectional", false) {
		s.dirs = 2
	}
	if c.bool("batch_first", false) {
		s.axis = 1
	}
	x := c.tensor("input")
	if c.bool("train", false) && c.float("dropout", 0) != 0 {
		c.fail(diag.UnsupportedForm, "drops out in training mode").WithHint("call model.eval() before torch.export")
	}
	if c.err == nil && len(x.Type.Shape) != 3 {
		c.fail(diag.OperandShapes, "its input is %s, three axes are needed", ir.ShapeString(x.Type.Shape))
	}
	if c.err != nil {
		return
	}
	if s.steps, s.batch = x.Type.Shape[s.axis], x.Type.Shape[1-s.axis]; s.steps < 1 {
		c.fail(diag.OperandShapes, "its input %s has no steps", ir.ShapeString(x.Type.Shape))
		return
	}
	if s.prepare(x.Type.Shape[2]); c.err != nil {
		return
	}
	y := s.compute(x)
	if c.err != nil {
		return
	}
	c.resultIfRead(y)
	if c.resultIfRead(s.last.H); s.last.C != nil {
		c.resultIfRead(s.last.C)
	}
}

// prepare reads the weights and initial states of all layers, each of all directions.
func (s *stack) prepare(features int) {
	kind, per := s.blank().Kind, 2
	initial := s.states(kind)
	if s.bool("has_biases", true) {
		per = 4
	}
	cells := s.layers * s.dirs
	if kind == recurrent.LSTM && len(s.params) == cells*(per+1) {
		per++ // a projection
	}
	if s.err == nil && (s.layers < 1 || len(s.params) != cells*per || slices.Contains(s.params, nil)) {
		s.fail(diag.OperandCount, "has %d tensors of weights for %d layers in %d directions", len(s.params), s.layers, s.dirs)
	}
	for l := 0; l < s.layers && s.err == nil; l++ {
		for d := range s.dirs {
			i, name := l*s.dirs+d, s.prefix(l, d)
			s.cells = append(s.cells, s.weights(features, s.params[i*per:(i+1)*per]))
			s.before = append(s.before,
				recurrent.State{H: s.at(name+"h0", initial.H, i), C: s.at(name+"c0", initial.C, i)})
		}
		features = s.dirs * s.cells[l*s.dirs].States
	}
}

// compute goes over all layers, and makes the result of the last one. The last states of all are joined.
func (s *stack) compute(x *ir.Node) func() *ir.Node {
	whole := true
	for i, c := range s.cells {
		if whole = !c.WrittenOut(s.b.Origin(), s.place.Name, s.steps, s.batch, s.before[i], nil); !whole {
			break
		}
	}
	if whole {
		return s.whole(x)
	}
	if s.steps*s.dirs > recurrent.MaxSteps {
		s.fail(diag.ModelLimit, recurrent.TooLong, s.steps*s.dirs, recurrent.MaxSteps).Hint = recurrent.Shorter
		return nil
	}
	return s.expand(recurrent.Steps(s, x, s.axis))
}

// whole makes an operation with state of each direction of each layer.
func (s *stack) whole(x *ir.Node) func() *ir.Node {
	outs := s.outs()
	cells := len(outs) > 2 && s.read(outs[2])
	x = s.reshape("rows", x, []int{s.steps, x.Type.Shape[2]})
	var states []*recurrent.States
	both := func(l int) *ir.Node { // directions of a layer
		var out []*ir.Node
		for _, d := range states[l*s.dirs:] {
			out = append(out, d.All())
		}
		return recurrent.Joined(s, fmt.Sprintf("layer%d.both", l), out, 1)
	}
	for l := range s.layers {
		if l > 0 {
			x = both(l - 1)
		}
		for d := range s.dirs {
			states = append(states, recurrent.Layer(s, s.prefix(l, d), s.cells[l*s.dirs+d], x,
				s.before[l*s.dirs+d], d == 1, cells))
		}
	}
	ends := func(name string, of func(*recurrent.States) *ir.Node) func() *ir.Node {
		return func() *ir.Node {
			var all []*ir.Node
			for _, d := range states {
				all = append(all, of(d))
			}
			return s.joined(name, all)
		}
	}
	if s.last.H = ends("last", (*recurrent.States).Last); s.blank().Kind == recurrent.LSTM {
		s.last.C = ends("last_c", (*recurrent.States).LastCell)
	}
	return func() *ir.Node {
		y := both(s.layers - 1)
		return s.reshape("", y, s.sequence(elems(s.shape(y)[1:])))
	}
}

// sequence is the shape of a sequence of such features.
func (s *stack) sequence(features int) []int {
	shape := []int{s.steps, s.batch, features}
	shape[s.axis], shape[1-s.axis] = s.steps, s.batch
	return shape
}

// expand writes all layers out in time.
func (s *stack) expand(xs []*ir.Node) func() *ir.Node {
	var hs, cs []*ir.Node
	for l := 0; l < s.layers && s.err == nil; l++ {
		out := make([][]*ir.Node, s.dirs)
		for d := range s.dirs {
			i := l*s.dirs + d
			var last recurrent.State
			out[d], last = recurrent.Run(s, s.prefix(l, d), s.cells[i], xs, s.batch, s.before[i], d == 1, nil)
			hs, cs = append(hs, last.H), append(cs, last.C)
		}
		xs = s.sideBySide(l, out)
	}
	s.last.H = func() *ir.Node { return s.joined("last", hs) }
	if s.blank().Kind == recurrent.LSTM {
		s.last.C = func() *ir.Node { return s.joined("last_c", cs) }
	}
	return func() *ir.Node {
		return s.reshape("", recurrent.Joined(s, "steps", xs, s.axis), s.sequence(xs[0].Type.Shape[1]))
	}
}

// prefix names a layer and a direction, where there are several.
func (s *stack) prefix(l, d int) string {
	name := ""
	if s.layers > 1 {
		name = fmt.Sprintf("layer%d.", l)
	}
	if s.dirs > 1 {
		name += []string{"forward.", "reverse."}[d]
	}
	return name
}

// weights are those of a layer in one direction: of input and state, both biases, a projection; the latter three may be
// missing.
func (s *stack) weights(features int, params []*ir.Node) *recurrent.Cell {
	var all [5]*ir.Node
	if copy(all[:], params); len(params) == 3 {
		all[2], all[4] = nil, all[2]
	}
	return s.cell(features, all[0], all[1], all[2], all[3], all[4])
}

// at is the initial state of one layer in one direction; nil of nil, the cell of what has none.
func (s *stack) at(part string, all *ir.Node, i int) *ir.Node {
	if all == nil {
		return nil
	}
	if len(s.shape(all)) != 3 || all.Type.Shape[0] <= i {
		s.fail(diag.OperandShapes, "an initial state has shape %s", ir.ShapeString(s.shape(all)))
	}
	return s.pick(part, all, 0, i)
}

// sideBySide joins the directions of each step.
func (s *stack) sideBySide(l int, out [][]*ir.Node) []*ir.Node {
	if s.dirs == 1 {
		return out[0]
	}
	xs := make([]*ir.Node, s.steps)
	for t := range xs {
		name := fmt.Sprintf("t%d.both", t)
		if s.layers > 1 {
			name = fmt.Sprintf("layer%d.%s", l, name)
		}
		xs[t] = recurrent.Joined(s, name, []*ir.Node{out[0][t], out[1][t]}, 1)
	}
	return xs
}

// joined are the states of all layers and directions.
func (s *stack) joined(part string, all []*ir.Node) *ir.Node {
	n := recurrent.Joined(s, part+"_states", all, 0)
	return s.reshape(part, n, []int{len(all), s.batch, elems(s.shape(all[0])[1:])})
}

// resultIfRead makes the next result, if anything reads it.
func (c *call) resultIfRead(make func() *ir.Node) {
	outs := c.outs()
	if c.err != nil || c.done >= len(outs) {
		return
	}
	if c.read(outs[c.done]) {
		c.result(make())
		return
	}
	*c.values[outs[c.done]] = value{missing: c.place.Name, memory: &memory{}}
	c.done++
}

// read says that an operation of the graph, or its result, reads a value.
func (c *call) read(name string) bool {
	reads := func(a arg) bool { return slices.Contains(tensorNames(a), name) }
	if slices.ContainsFunc(c.graph.outputs, reads) {
		return true
	}
	return slices.ContainsFunc(c.graph.nodes, func(n node) bool {
		return slices.ContainsFunc(n.in, func(in input) bool { return reads(in.arg) })
	})
}
