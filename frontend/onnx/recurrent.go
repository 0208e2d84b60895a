// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"
	"strings"

	"lathe/frontend/recurrent"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// recurrentTable lists the layers that go over a sequence step by step.
func recurrentTable() []opSpec {
	const attrs = "activation_alpha activation_beta activations clip direction hidden_size layout "
	return []opSpec{
		{"LSTM", attrs + "input_forget", 3, 8, convertRecurrent(recurrent.LSTM, "iofc"), true},
		{"GRU", attrs + "linear_before_reset", 3, 6, convertRecurrent(recurrent.GRU, "zrh"), true},
		{"RNN", attrs, 3, 6, convertRecurrent(recurrent.RNN, "h"), true},
	}
}

// Do, Now and Const make a call the maker of package recurrent.
func (c *call) Do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return c.emit(part, o, attrs, args...)
}

// Now does not keep the formats of quantized weights: rows of a matrix have no scales of their own.
func (c *call) Now(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Evaluate(c.place(part), o, attrs, args...)
	c.wrap(diag.OperandShapes, err)
	return n
}

// Const is a constant of the operation.
func (c *call) Const(part string, data *ir.Blob, shape []int) *ir.Node {
	return c.made(part, data, shape)
}

// layer is a recurrent operation: x [T,B,I], or [B,T,I] where batchFirst, and directions.
type layer struct {
	*call
	kind                 recurrent.Kind
	gates                string
	batchFirst           bool
	dirs                 []string // "forward", "reverse"
	steps, batch, hidden int
	lengths              []int
	h, c                 []*ir.Node // the states that the directions begin with
}

func convertRecurrent(kind recurrent.Kind, gates string) func(*call) {
	return func(c *call) {
		l := &layer{call: c, kind: kind, gates: gates}
		if l.sizes(); c.err != nil {
			return
		}
		l.lengths, l.h, l.c = l.ends(), l.initial(5, "initial_h"), l.initial(6, "initial_c") // the latter of an LSTM
		cells := l.cells()
		if c.err != nil {
			return
		}
		for d, cell := range cells {
			if cell.WrittenOut(c.b.Origin(), c.place("").Name, l.steps, l.batch, l.before(d), l.lengths) {
				l.expand(cells)
				return
			}
		}
		l.compute(cells)
	}
}

// cells are those of all directions.
func (l *layer) cells() []*recurrent.Cell {
	functions, standard, relu := l.functions()
	var cells []*recurrent.Cell
	for d := range l.dirs {
		per := len(functions) / len(l.dirs)
		c := l.cell(d, l.prefix(d))
		if l.err != nil {
			return nil
		}
		c.F, c.G, c.H = functions[d*per], functions[d*per+min(1, per-1)], functions[d*per+per-1]
		c.Standard, c.Relu = standard[d], relu[d]
		cells = append(cells, c)
	}
	return cells
}

// prefix tells the directions apart, where there are two.
func (l *layer) prefix(d int) string {
	if len(l.dirs) > 1 {
		return l.dirs[d] + "."
	}
	return ""
}

// compute makes an operation with state for each direction.
func (l *layer) compute(cells []*recurrent.Cell) {
	x := l.reshape("rows", l.data(0), []int{l.steps, l.shape(0)[2]})
	var all, last, lastC []*ir.Node
	shows := l.wants(2) && l.kind == recurrent.LSTM
	for d, dir := range l.dirs {
		s := recurrent.Layer(l, l.prefix(d), cells[d], x, l.before(d), dir == "reverse", shows)
		if l.wants(0) {
			all = append(all, s.All())
		}
		if l.wants(1) {
			last = append(last, s.Last())
		}
		if shows {
			lastC = append(lastC, s.LastCell())
		}
	}
	if l.wants(0) {
		l.resultAt(0, l.reshape("all", recurrent.Joined(l.call, "all_directions", all, 1), l.stackedShape(l.steps, len(all))))
	}
	if l.wants(1) {
		l.resultAt(1, l.stacked("last", last, len(l.dirs)))
	}
	if shows {
		l.resultAt(2, l.stacked("last_c", lastC, len(l.dirs)))
	}
}

// before is the state that a direction begins with.
func (l *layer) before(d int) recurrent.State { return recurrent.State{H: l.h[d], C: l.c[d]} }

// expand writes all directions out in time.
func (l *layer) expand(cells []*recurrent.Cell) {
	if n := l.steps * len(l.dirs); n > recurrent.MaxSteps {
		l.fail(diag.ModelLimit, recurrent.TooLong, n, recurrent.MaxSteps).Hint = recurrent.Shorter
		return
	}
	xs := recurrent.Steps(l, l.data(0), l.lead())
	hs, last := make([][]*ir.Node, len(l.dirs)), make([]recurrent.State, len(l.dirs))
	for d, dir := range l.dirs {
		hs[d], last[d] = recurrent.Run(l, l.prefix(d), cells[d], xs, l.batch, l.before(d), dir == "reverse", l.lengths)
	}
	l.outputs(hs, last)
}

// lead is the axis of the directions of states, and of the steps of sequences: 0, or 1 behind the batch.
func (l *layer) lead() int {
	if l.batchFirst {
		return 1
	}
	return 0
}

// sizes reads the sizes and directions, and holds the shapes of the inputs against them.
func (l *layer) sizes() {
	c := l.call
	switch d := c.string("direction", "forward"); d {
	case "forward", "reverse":
		l.dirs = []string{d}
	case "bidirectional":
		l.dirs = []string{"forward", "reverse"}
	default:
		c.fail(diag.BadAttribute, "direction %s is neither forward, reverse nor bidirectional", quote(d))
	}
	if l.batchFirst = c.int("layout", 0) != 0; l.batchFirst && c.opset < 14 {
		c.fail(diag.BadAttribute, "layout is an attribute since operator set 14, and the model states set %d", c.opset)
	}
	x, r := c.shape(0), c.shape(2)
	n, gates := len(l.dirs), len(l.gates)
	if len(r) != 3 || len(x) != 3 {
		c.fail(diag.OperandShapes, "its input is %s and its recurrent weights are %s, three axes each are needed",
			ir.ShapeString(x), ir.ShapeString(r))
		return
	}
	l.hidden = r[2]
	if l.steps, l.batch = x[0], x[1]; l.batchFirst {
		l.steps, l.batch = x[1], x[0]
	}
	if h := c.int("hidden_size", int64(l.hidden)); h != int64(l.hidden) {
		c.fail(diag.OperandShapes, "hidden_size is %d, its recurrent weights have %d columns", h, l.hidden)
	}
	state := []int{n, l.batch, l.hidden}
	if l.batchFirst {
		state = []int{l.batch, n, l.hidden}
	}
	wants := [][]int{x, {n, gates * l.hidden, x[2]}, {n, gates * l.hidden, l.hidden}, {n, 2 * gates * l.hidden}, {l.batch},
		state, state, {n, 3 * l.hidden}}
	for i, name := range strings.Fields("X W R B sequence_lens initial_h initial_c P") {
		if c.has(i) && !slices.Equal(c.shape(i), wants[i]) {
			c.fail(diag.OperandShapes, "%s has shape %s, %s is needed", name, ir.ShapeString(c.shape(i)),
				ir.ShapeString(wants[i]))
		}
	}
}

// ends reads the lengths of the sequences; nil where all have all steps.
func (l *layer) ends() []int {
	if !l.has(4) {
		return nil
	}
	var out []int
	full := true
	for _, v := range l.list(4, "sequence_lens") {
		if v < 1 || v > int64(l.steps) {
			l.fail(diag.BadAttribute, "sequence_lens holds %d, lengths must be 1 to %d", v, l.steps)
		}
		out, full = append(out, int(v)), full && v == int64(l.steps)
	}
	if full {
		return nil
	}
	return out
}

// initial are the states [B,H] that the directions begin with; nil ones are zeros.
func (l *layer) initial(input int, role string) []*ir.Node {
	out := make([]*ir.Node, len(l.dirs))
	if !l.has(input) {
		return out
	}
	all := l.data(input)
	for d, dir := range l.dirs {
		out[d] = l.direction(dir+"."+role, all, l.lead(), d, l.batch, l.hidden)
	}
	return out
}

// direction is the part of a value for one direction, along an axis, in the given shape.
func (l *layer) direction(role string, all *ir.Node, axis, d int, shape ...int) *ir.Node {
	if l.err != nil {
		return nil
	}
	if len(l.dirs) > 1 {
		a := &move.SliceAttrs{Axis: axis, Start: d, Count: 1, Step: 1}
		if all.IsConst() {
			all = l.Now(role+"_cut", move.Slice, a, all)
		} else {
			all = l.emit(role+"_cut", move.Slice, a, all)
		}
	}
	return l.reshape(role, all, shape)
}

// cell collects the weights of a direction.
func (l *layer) cell(d int, prefix string) *recurrent.Cell {
	rows := len(l.gates) * l.hidden
	w, r := l.weight(1, "the weights"), l.weight(2, "the recurrent weights")
	p := &recurrent.Cell{Kind: l.kind, Gates: l.gates, Hidden: l.hidden, States: l.hidden, Clip: l.finite("clip", 0),
		Coupled: l.int("input_forget", 0) != 0, ResetAfter: l.int("linear_before_reset", 0) != 0}
	if l.err != nil {
		return p
	}
	p.Input = l.direction(prefix+"w", w, 0, d, rows, l.shape(1)[2])
	p.Recurrent = l.direction(prefix+"r", r, 0, d, rows, l.hidden)
	part := func(role string, all *ir.Node, start, count int) *ir.Node {
		return l.Now(role, move.Slice, &move.SliceAttrs{Start: start, Count: count, Step: 1}, all)
	}
	if l.has(3) {
		if all := l.weight(3, "the bias"); l.err == nil {
			all = l.direction(prefix+"b", all, 0, d, 2*rows)
			p.InputBias, p.RecurrentBias = part(prefix+"wb", all, 0, rows), part(prefix+"rb", all, rows, rows)
		}
	}
	if l.has(7) {
		if all := l.weight(7, "the peepholes"); l.err == nil {
			all = l.direction(prefix+"p", all, 0, d, 3*l.hidden)
			for i := range p.Peepholes {
				p.Peepholes[i] = part(prefix+"p_"+"iof"[i:i+1], all, i*l.hidden, l.hidden)
			}
		}
	}
	return p
}

// activation is a row of the activations: its defaults, and which of alpha and beta it takes.
type activation struct {
	name        string
	alpha, beta float32
	takes       int
	make        func(alpha, beta float32) recurrent.Function
}

func activations() []activation {
	plain := func(o *ir.Op) func(alpha, beta float32) recurrent.Function {
		return func(float32, float32) recurrent.Function { return recurrent.Unary(o, nil) }
	}
	alpha := func(o *ir.Op) func(alpha, beta float32) recurrent.Function {
		return func(a, _ float32) recurrent.Function { return recurrent.Unary(o, &curve.AlphaAttrs{Alpha: a}) }
	}
	return []activation{
		{"Sigmoid", 0, 0, 0, plain(curve.Sigmoid)}, {"Tanh", 0, 0, 0, plain(curve.Tanh)},
		{"Relu", 0, 0, 0, plain(pointwise.Relu)}, {"Softsign", 0, 0, 0, plain(curve.Softsign)},
		{"Softplus", 0, 0, 0, plain(curve.Softplus)},
		{"Elu", 1, 0, 1, alpha(curve.Elu)}, {"ThresholdedRelu", 1, 0, 1, alpha(curve.ThresholdedRelu)},
		{"LeakyRelu", 0.01, 0, 1, func(a, _ float32) recurrent.Function {
			return recurrent.Unary(pointwise.LeakyRelu, &pointwise.LeakyAttrs{Alpha: a})
		}},
		{"HardSigmoid", 0.2, 0.5, 2, func(a, b float32) recurrent.Function {
			return recurrent.Unary(curve.HardSigmoid, &curve.HardSigmoidAttrs{Alpha: a, Beta: b})
		}},
		{"Affine", 1, 0, 2, recurrent.Affine}, {"ScaledTanh", 1, 1, 2, recurrent.ScaledTanh},
	}
}

// functions reads the activations of all directions. Parameters go, in order, to those that take one. It says of each
// direction whether they are the ones of the operation with state, and for an RNN that this is relu.
func (l *layer) functions() (out []recurrent.Function, standard, relu []bool) {
	names := map[recurrent.Kind][]string{recurrent.LSTM: {"Sigmoid", "Tanh", "Tanh"}, recurrent.GRU: {"Sigmoid", "Tanh"},
		recurrent.RNN: {"Tanh"}}[l.kind]
	need := len(names) * len(l.dirs)
	usual := names
	names = slices.Repeat(names, len(l.dirs))
	if a := l.attr("activations", kindTexts); a != nil {
		names = nil
		for _, t := range a.texts {
			names = append(names, string(t[:min(len(t), maxName)]))
		}
	}
	if len(names) != need {
		l.fail(diag.BadAttribute, "names %d activations, %d directions need %d", len(names), len(l.dirs), need)
	}
	alphas, betas := l.floats("activation_alpha"), l.floats("activation_beta")
	var known []string
	for _, row := range activations() {
		known = append(known, row.name)
	}
	for _, name := range names {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if i < 0 {
			e := l.fail(diag.BadAttribute, "activation %s is not known", quote(name))
			e.Hint = "known are " + strings.Join(known, ", ")
			return nil, nil, nil
		}
		row := activations()[i]
		if row.takes > 0 && len(alphas) > 0 {
			row.alpha, alphas = alphas[0], alphas[1:]
		}
		if row.takes > 1 && len(betas) > 0 {
			row.beta, betas = betas[0], betas[1:]
		}
		out = append(out, row.make(row.alpha, row.beta))
	}
	for own := range slices.Chunk(names, max(len(usual), 1)) {
		relu = append(relu, l.kind == recurrent.RNN && strings.EqualFold(own[0], "Relu"))
		standard = append(standard, relu[len(relu)-1] || slices.EqualFunc(own, usual, strings.EqualFold))
	}
	return out, standard, relu
}

// floats reads a list of numbers; nil if it is absent.
func (c *call) floats(name string) []float32 {
	a := c.attr(name, kindFloats)
	if a == nil {
		return nil
	}
	return a.floats
}

// outputs are Y [T,D,B,H], Y_h and Y_c [D,B,H]; with the batch first [B,T,D,H] and [B,D,H].
func (l *layer) outputs(hs [][]*ir.Node, last []recurrent.State) {
	if l.wants(0) {
		var all []*ir.Node
		for t := range l.steps {
			for d := range l.dirs {
				all = append(all, hs[d][t])
			}
		}
		l.resultAt(0, l.stacked("", all, l.steps, len(l.dirs)))
	}
	var h, c []*ir.Node
	for _, s := range last {
		h, c = append(h, s.H), append(c, s.C)
	}
	if l.wants(1) {
		l.resultAt(1, l.stacked("last", h, len(l.dirs)))
	}
	if l.wants(2) && l.kind == recurrent.LSTM {
		l.resultAt(2, l.stacked("last_c", c, len(l.dirs)))
	}
}

// stacked joins values [B,H], and gives what they are counted by axes of their own.
func (l *layer) stacked(part string, all []*ir.Node, counts ...int) *ir.Node {
	return l.reshape(part, recurrent.Joined(l.call, strings.TrimPrefix(part+"_steps", "_"), all, l.lead()),
		l.stackedShape(counts...))
}

// stackedShape is that of values that are counted so.
func (l *layer) stackedShape(counts ...int) []int {
	if l.batchFirst {
		return slices.Concat([]int{l.batch}, counts, []int{l.hidden})
	}
	return slices.Concat(counts, []int{l.batch, l.hidden})
}
