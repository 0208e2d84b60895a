// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/sequence"
)

// defaultSeq is the number of tokens where nothing is chosen; a model of fewer positions takes all it has.
const defaultSeq = 128

// inputNames are the inputs that are chosen, or else those that the architecture has by default.
func (m *model) inputNames() []string {
	names := m.opts.Inputs
	if names == nil {
		names = slices.Clone(m.arch.inputs[:m.arch.needed])
		if m.past > 0 && m.arch.caches {
			names = append(names, "position_ids")
		}
	}
	for i, name := range names {
		switch {
		case m.room > 0 && (name == "attention_mask" || name == "position_ids"):
			m.fail(diag.New(diag.UnofferedChoice, m.b.File,
				"caches of %d tokens (--max-seq) take no %s: the input position says it",
				m.room, name))
		case !slices.Contains(m.arch.inputs, name):
			e := diag.New(diag.UnofferedChoice, m.b.File, "%s models have no input %s", m.arch.modelType, source.Quote(name))
			hintNearest(e, name, m.arch.inputs)
			m.fail(e)
		case slices.Contains(names[:i], name):
			m.fail(diag.New(diag.UnofferedChoice, m.b.File, "the input %s is chosen twice", name))
		}
	}
	first := m.arch.inputs[0]
	if first == "input_ids" && slices.Contains(names, first) == slices.Contains(names, "inputs_embeds") {
		m.fail(diag.New(diag.UnofferedChoice, m.b.File, "the graph needs one of the inputs input_ids and inputs_embeds"))
	} else if first != "input_ids" && !slices.Contains(names, first) {
		m.fail(diag.New(diag.UnofferedChoice, m.b.File, "the graph needs the input %s", first))
	}
	return names
}

// hintNearest suggests the nearest of names, or all of them.
func hintNearest(e *diag.Error, name string, names []string) {
	if near := diag.Nearest(name, names); near != "" {
		e.Hint = fmt.Sprintf("did you mean %s?", near)
	} else {
		e.Hint = "there are " + strings.Join(names, ", ")
	}
}

// bind sets the numbers of samples and tokens: from Options.Transformer, --dim batch and seq, or the shape of an input.
func (m *model) bind(opts source.Options) {
	positions := m.positions
	m.batch, m.seq = 0, opts.Transformer.Seq
	if m.past = -1; opts.Transformer.Cache {
		m.past = opts.Transformer.Past
	}
	m.room = opts.Transformer.Room
	bind := func(at *int, what string, n int) {
		if n < 1 || n > maxCount || *at > 0 && *at != n {
			m.bound("the dimension %s is to be %d and %d", what, n, *at)
		}
		*at = n
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Dims)) {
		switch name {
		case "batch":
			bind(&m.batch, name, opts.Dims[name])
		case "seq":
			bind(&m.seq, name, opts.Dims[name])
		default:
			m.bound("unknown dimension %s: only batch and seq can be set", source.Quote(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Shapes)) {
		shape := opts.Shapes[name]
		if len(shape) < 2 || !slices.Contains([]string{"input_ids", "inputs_embeds"}, name) {
			continue // compared when the input is made
		}
		bind(&m.batch, "batch", shape[0])
		bind(&m.seq, "seq", shape[1])
	}
	m.batch = max(m.batch, 1)
	if m.seq == 0 {
		if m.seq = min(defaultSeq, max(positions, 1)); m.past > 0 || m.room > 0 {
			m.seq = 1
		}
	}
	if all := m.all(); positions > 0 && max(all, m.seq) > positions {
		m.boundTo(fmt.Sprintf("take at most %d, with --past and --max-seq: --seq %d", positions, positions),
			"%d tokens are more than the %d positions of the model", max(all, m.seq), positions)
	} else if m.seq > all {
		m.bound("%d tokens do not fit caches of %d", m.seq, all)
	}
}

// all is the number of tokens that are attended to: those before, and those of the graph; or what caches have room for.
func (m *model) all() int {
	if m.room > 0 {
		return m.room
	}
	return m.seq + max(m.past, 0)
}

// makeInputs makes the inputs of the graph.
func (m *model) makeInputs() {
	m.in = map[string]*ir.Node{}
	for _, name := range m.inputNames() {
		d, shape := ir.I64, []int{m.batch, m.seq}
		switch name {
		case "inputs_embeds":
			d, shape = ir.F32, []int{m.batch, m.seq, m.outSize()}
		case "attention_mask":
			shape[1] += max(m.past, 0)
		case "pixel_values":
			d, shape = ir.F32, append([]int{m.batch}, m.image()...)
		}
		m.makeInput(name, d, shape)
	}
	switch {
	case m.room > 0 && m.seq == 1 && !m.opts.First:
		m.place = m.makeInput("position", ir.I32, []int{1})
	case m.room > 0:
		m.place = m.constant("position", build.IntBlob(ir.I32, []int64{0}), 1)
	}
}

// checkShapes compares the shapes that the options give with those of all inputs, caches and labels among them.
func (m *model) checkShapes(opts source.Options) {
	given := slices.Sorted(maps.Keys(opts.Shapes))
	if err := source.Known("input", given, slices.Sorted(maps.Keys(m.in))); err != nil && m.err == nil {
		m.fail(diag.At(err, diag.BadBinding, m.b.File))
	}
	for _, name := range given {
		n := m.in[name]
		if n != nil && m.err == nil && !slices.Equal(n.Type.Shape, opts.Shapes[name]) {
			m.bound("input %q has the shape %s, not %s", name, ir.ShapeString(n.Type.Shape), ir.ShapeString(opts.Shapes[name]))
		}
	}
}

func (m *model) makeInput(name string, d ir.DType, shape []int) *ir.Node {
	if m.err != nil {
		return m.none
	}
	n, err := m.b.Input(name, d, shape)
	if err != nil {
		m.bound("%v", err)
		return m.none
	}
	m.in[name] = n
	return n
}

// embedded are the vectors of the tokens: rows of the table at path, or the input inputs_embeds.
func (m *model) embedded(path string, rows, size int) *ir.Node {
	if x := m.input("inputs_embeds"); x != nil {
		m.module(path, "Embedding")
		m.w.skip(path + ".weight")
		return x
	}
	return m.embedding(path, m.input("input_ids"), rows, size)
}

// cache puts the keys and values of earlier tokens before those of layer i, or these into caches that have room, and
// makes all of them outputs.
func (m *model) cache(path string, i int, k, v *ir.Node, groups, size int) (allKeys, allValues *ir.Node) {
	if m.past < 0 && m.room == 0 {
		return k, v
	}
	both := []*ir.Node{k, v}
	for j, what := range []string{"key", "value"} {
		name := fmt.Sprintf("past_%s_%d", what, i)
		if m.room > 0 {
			earlier := m.makeInput(name, ir.F32, []int{m.batch, groups, m.room, size})
			both[j] = m.emit(path+"."+what+"s", "update", sequence.Append, nil, earlier, both[j], m.place)
		} else if m.past > 0 {
			earlier := m.makeInput(name, ir.F32, []int{m.batch, groups, m.past, size})
			both[j] = m.emit(path+"."+what+"s", "cat", move.Concat, &move.ConcatAttrs{Axis: 2}, earlier, both[j])
		}
		m.cached = append(m.cached, ir.Output{Name: fmt.Sprintf("present_%s_%d", what, i), Node: both[j]})
	}
	return both[0], both[1]
}
