// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
)

// load imports the model. Sizes that the model leaves open and no option gives are those of the arrays that it will
// run on: where the model with its defaults does not take them, it is imported once more with their shapes.
func (s Source) load(opts source.Options) (*ir.Graph, error) {
	g, err := frontend.Load(s.Model, opts)
	if err != nil && diag.CodeOf(err) != diag.OpenDimension || err == nil && g.Stage != ir.StageFloat {
		return g, err
	}
	path := s.Arrays
	if path == "" {
		path = s.Calibrate
	}
	f, e := npz.Read(path)
	if path == "" || e != nil {
		return g, err // arrays that cannot be read are an error when they are
	}
	if err == nil && takes(g, f) {
		s.noteUnread(g, f)
		return g, nil
	}
	given := opts.Shapes
	for _, leading := range []leadingAxis{countsSamples, isOfModel, isExtra} {
		opts.Shapes = shapesOf(g, f, leading)
		if opts.Shapes == nil {
			continue
		}
		maps.Copy(opts.Shapes, given)
		if found, e := frontend.Load(s.Model, opts); e == nil && takes(found, f) {
			s.noteShapes(g, found, path)
			s.noteUnread(found, f)
			return found, nil
		}
	}
	return g, err
}

// leadingAxis is what the first axis of an array may be, in the order in which it is tried.
type leadingAxis uint8

const (
	countsSamples leadingAxis = iota // where the model has an axis of size 1
	isOfModel
	isExtra // counts samples, and the model has no such axis
)

// shapesOf are shapes of inputs that would fit the arrays; nil where there are none. g is the model with its defaults,
// nil where it has none: then all arrays are taken for inputs.
func shapesOf(g *ir.Graph, f *npz.File, leading leadingAxis) map[string][]int {
	shapes := map[string][]int{}
	add := func(name string, a *npz.Array, first, rank int) {
		shape := slices.Clone(a.Shape)
		if leading == isExtra && len(shape) > 0 || rank >= 0 && len(shape) == rank+1 {
			shape = shape[1:]
		} else if leading == countsSamples && len(shape) > 0 {
			shape[0] = first
		}
		if rank < 0 || len(shape) == rank {
			shapes[name] = shape
		}
	}
	if g == nil {
		for i := range f.Arrays {
			add(f.Arrays[i].Name, &f.Arrays[i], 1, -1)
		}
		return shapes
	}
	for _, n := range g.In {
		a := arrayOf(g, n, f)
		if a == nil {
			return nil
		}
		shape := callerShape(n.Type.Shape, n.Attrs.(*ir.Input).Perm)
		first := 1
		if len(shape) > 0 {
			first = shape[0]
		}
		add(n.Name, a, first, len(shape))
	}
	return shapes
}

// arrayOf is the array for an input, nil if there is none: that of its name, or the only one for the only input.
func arrayOf(g *ir.Graph, n *ir.Node, f *npz.File) *npz.Array {
	if a, err := f.Get(n.Name); err == nil {
		return a
	}
	if len(g.In) == 1 && len(f.Arrays) == 1 {
		return &f.Arrays[0]
	}
	return nil
}

// takes says that all arrays hold samples of the inputs.
func takes(g *ir.Graph, f *npz.File) bool {
	for _, n := range g.In {
		a := arrayOf(g, n, f)
		if a == nil {
			return false
		}
		if _, ok := batchOf(a.Shape, callerShape(n.Type.Shape, n.Attrs.(*ir.Input).Perm)); !ok {
			return false
		}
	}
	return true
}

// noteUnread names the arrays of --inputs that are no inputs, such as a mask that a folder was not asked to take.
func (s Source) noteUnread(g *ir.Graph, f *npz.File) {
	var names []string
	for i := range f.Arrays {
		a := &f.Arrays[i]
		if !slices.ContainsFunc(g.In, func(n *ir.Node) bool { return arrayOf(g, n, f) == a }) {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 || s.Arrays == "" || s.Note == nil {
		return
	}
	text := fmt.Sprintf("not read, since the model has no such input: %s of %s", strings.Join(names, ", "),
		filepath.Base(s.Arrays))
	if g.Origin != nil && g.Origin.Format == "Hugging Face" {
		text += "; --model-inputs chooses the inputs"
	}
	s.Note(text)
}

// noteShapes says which inputs have other shapes than by default. before is nil where there is no default.
func (s Source) noteShapes(before, g *ir.Graph, path string) {
	var parts []string
	for i, n := range g.In {
		if before == nil || !slices.Equal(before.In[i].Type.Shape, n.Type.Shape) {
			parts = append(parts, fmt.Sprintf("%s is %s", n.Name,
				ir.ShapeString(callerShape(n.Type.Shape, n.Attrs.(*ir.Input).Perm))))
		}
	}
	if s.Note != nil {
		s.Note(fmt.Sprintf("%s, as in %s", strings.Join(parts, ", "), filepath.Base(path)))
	}
}

// reshaping says what to do with an array of shape have, which does not hold samples of a shape: where its axes only
// stand in another order, which transpose of NumPy turns them.
func reshaping(have, shape []int) string {
	want := fmt.Sprintf("expected %s (N samples): ", sampled(shape))
	rows := shape
	if len(rows) > 0 && rows[0] == 1 && len(rows) == len(have) {
		rows = rows[1:]
	}
	if n := len(rows); len(have) == n+1 && n > 0 {
		given := have[1:]
		switch axes := []int{0}; {
		case n == 1 && have[0] == rows[0]:
			return want + "the samples stand last: x.T"
		case n > 1 && given[n-1] == rows[0] && slices.Equal(given[:n-1], rows[1:]):
			for axes = append(axes, n); len(axes) <= n; {
				axes = append(axes, len(axes)-1)
			}
			return want + "the first axis of the model stands last: x.transpose(" + commas(axes) + ")"
		case n > 1 && given[0] == rows[n-1] && slices.Equal(given[1:], rows[:n-1]):
			for len(axes) < n {
				axes = append(axes, len(axes)+1)
			}
			return want + "the last axis of the model stands first: x.transpose(" + commas(append(axes, 1)) + ")"
		}
	}
	return want + "wrong file, or reshape it; --shape sets sizes that the model leaves open, --seq the tokens of a " +
		"Hugging Face folder, --max-seq the room of a decoder"
}

// commas lists numbers.
func commas(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// Several is a batch of samples that have an axis of their own.
func Several(samples int) Batch { return Batch{samples, prepended} }
