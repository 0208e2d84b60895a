// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"slices"
	"strconv"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// model is a graph in the making. After an error, which stays in err, all that is emitted is none.
type model struct {
	*config
	sizes
	b    *build.Builder
	w    *weights
	arch *architecture
	opts source.Transformer
	// root is the module path of the bare model with a dot behind it ("bert."), "" where it stands alone.
	root string
	// batch and seq are the sizes of the token inputs; past is the number of tokens in the caches, -1 without caches.
	batch, seq, past int
	// room is the number of tokens that caches have room for, 0 where they grow; place is then the position of the first
	// token.
	room  int
	place *ir.Node
	// in are the inputs of the graph, by name.
	in map[string]*ir.Node
	// keep is the mask of attention, made of the input attention_mask.
	keep *ir.Node
	// angles are the cosines and sines of rotary embeddings.
	angles []*ir.Node
	// cached are the outputs of the caches.
	cached  []ir.Output
	passed  []string // linear layers that are left out, of a new model
	modules []ir.Module
	none    *ir.Node
}

// emit makes the node called name. class is the class or function of the source library.
func (m *model) emit(name, class string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if m.err != nil {
		return m.none
	}
	n, err := m.b.Emit(build.Place{Name: name, Alt: o.Name, Source: class}, o, attrs, args...)
	if err != nil {
		m.fail(err)
		return m.none
	}
	return n
}

// module records a module of the source model.
func (m *model) module(path, class string) {
	m.modules = append(m.modules, ir.Module{Path: path, Class: class})
}

// weight is the parameter called name, which has the given shape.
func (m *model) weight(name string, shape ...int) *ir.Node {
	if m.err != nil {
		return m.none
	}
	if m.opts.New != nil {
		return m.random(name, shape)
	}
	t := m.w.find(name)
	if t == nil {
		m.w.absent = append(m.w.absent, name)
		return m.stand(name, shape)
	}
	if n := m.w.used[t.Name]; n != nil {
		return n
	}
	m.w.used[t.Name] = m.none
	pos := m.b.File + "/" + t.File + ": " + t.Name
	if !t.IsFloat() {
		m.w.odd = append(m.w.odd, diag.New(diag.BadElementType, pos,
			"has elements of type %s, and %s describes a model of %s",
			t.DType, configName, m.dtype()))
		return m.stand(name, shape)
	}
	if !slices.Equal(t.Shape, shape) {
		m.w.odd = append(m.w.odd, diag.New(diag.OperandShapes, pos, "has the shape %s, and %s asks for %s",
			ir.ShapeString(t.Shape), configName, ir.ShapeString(shape)))
		return m.stand(name, shape)
	}
	data, err := t.Blob()
	if err == nil {
		var n *ir.Node
		if n, err = m.b.Stored(t.Name, data, shape, ir.Parameter); err == nil {
			m.w.used[t.Name] = n
			return n
		}
	}
	m.fail(diag.At(err, diag.TensorData, pos))
	return m.none
}

// stand is an input in place of a parameter that is not there, so that all that are missing are found at once.
func (m *model) stand(name string, shape []int) *ir.Node {
	n, err := m.b.Input(name, ir.F32, shape)
	if err != nil {
		m.fail(diag.At(err, diag.BadDimension, m.b.File))
		return m.none
	}
	return n
}

// bound is the error of a size that the model does not have.
func (m *model) bound(msg string, args ...any) *ir.Node {
	return m.boundTo("", msg, args...)
}

// boundTo is bound with a hint.
func (m *model) boundTo(hint, msg string, args ...any) *ir.Node {
	m.fail(diag.New(diag.BadBinding, m.b.File, msg, args...).WithHint("%s", hint))
	return m.none
}

// dtype is the element type that the configuration names.
func (m *model) dtype() string { return m.text("float32", "dtype", "torch_dtype") }

// constant is a table of the given shape that the importer computes.
func (m *model) constant(name string, data *ir.Blob, shape ...int) *ir.Node {
	if m.err != nil {
		return m.none
	}
	n, err := m.b.Const(name, data, shape)
	if err != nil {
		m.fail(diag.At(err, diag.BadDimension, name))
		return m.none
	}
	return n
}

// wholes are constant whole numbers: [1, their number].
func (m *model) wholes(name string, v []int64) *ir.Node {
	return m.constant(name, build.IntBlob(ir.I64, v), 1, len(v))
}

// whole is a constant whole number for int64 values.
func (m *model) whole(name string, v int64) *ir.Node {
	return m.constant(name, build.IntBlob(ir.I64, []int64{v}))
}

// input makes the input called name, or returns nil if it is not chosen.
func (m *model) input(name string) *ir.Node { return m.in[name] }

// output makes n the next output.
func (m *model) output(name string, n *ir.Node) {
	if m.err == nil {
		m.b.Output(name, n)
	}
}

// layer is the path of layer i in the list at path.
func layer(path string, i int) string { return path + "." + strconv.Itoa(i) }
