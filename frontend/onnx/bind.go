// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// binder gives sizes to the open dimensions of the inputs.
type binder struct {
	opts source.Options
	dims map[string]int // sizes of symbols, given or derived
	// bound are arrays that stand for inputs, whose shapes they give.
	bound *build.Binding
}

// bind returns the shape of each input. A symbol is bound by the options, by a given shape, or, where it is a first
// axis, to 1.
func (b *binder) bind(inputs []*valueInfo) ([][]int, error) {
	for name, size := range b.opts.Dims {
		if size < 1 {
			return nil, diag.New(diag.BadBinding, "", "dimension %s cannot be %d", quote(name), size)
		}
		b.dims[name] = size
	}
	symbols, names := map[string]bool{}, map[string]bool{}
	for _, v := range inputs {
		names[v.name] = true
		for _, d := range v.dims {
			symbols[d.name] = true
		}
		if err := b.given(v); err != nil {
			return nil, err
		}
	}
	if err := source.Known("dimension", sortedKeys(b.opts.Dims), sortedKeys(symbols)); err != nil {
		return nil, err
	}
	if err := source.Known("input", sortedKeys(b.opts.Shapes), sortedKeys(names)); err != nil {
		return nil, err
	}
	for _, v := range inputs {
		if len(v.dims) > 0 && !v.dims[0].fixed && v.dims[0].name != "" && b.dims[v.dims[0].name] == 0 {
			b.dims[v.dims[0].name] = 1
		}
	}
	shapes := make([][]int, len(inputs))
	for i, v := range inputs {
		shape, err := b.shape(v)
		if err != nil {
			return nil, err
		}
		shapes[i] = shape
	}
	return shapes, nil
}

// given checks the shape that the options give to v, and takes its symbols from it.
func (b *binder) given(v *valueInfo) error {
	shape, ok := b.shapeGiven(v)
	if !ok {
		return nil
	}
	err := b.fit(v, shape)
	if _, byHand := b.opts.Shapes[v.name]; err == nil || byHand {
		return err
	}
	return b.bound.Explain(v.name, err, func(turned []int) bool { return b.fit(v, turned) == nil })
}

// fit takes the symbols of v from a shape. Error L0215 where it does not fit.
func (b *binder) fit(v *valueInfo, shape []int) error {
	if v.rank && len(shape) != len(v.dims) {
		return diag.New(diag.BadBinding, "", "input %s has %d dimensions, the given shape %s has %d", quote(v.name),
			len(v.dims), ir.ShapeString(shape), len(shape))
	}
	for i, d := range v.dims {
		switch {
		case d.fixed && d.value > 0 && int64(shape[i]) != d.value:
			return diag.New(diag.BadBinding, "", "dimension %d of input %s is %d, not %d as in the given shape %s", i,
				quote(v.name), d.value, shape[i], ir.ShapeString(shape))
		case d.fixed || d.name == "":
		case b.dims[d.name] != 0 && b.dims[d.name] != shape[i]:
			return diag.New(diag.BadBinding, "", "dimension %s is %d and also %d, by the shape of input %s",
				quote(d.name), b.dims[d.name], shape[i], quote(v.name))
		default:
			b.dims[d.name] = shape[i]
		}
	}
	return nil
}

// shapeGiven is the shape of an input by the options, or that of the array that stands for it.
func (b *binder) shapeGiven(v *valueInfo) ([]int, bool) {
	if shape, ok := b.opts.Shapes[v.name]; ok {
		return shape, true
	}
	return b.bound.Shape(v.name)
}

func (b *binder) shape(v *valueInfo) ([]int, error) {
	shape, ok := b.shapeGiven(v)
	if !ok {
		if !v.rank {
			return nil, diag.New(diag.OpenDimension, "", "the shape of input %s is not known", quote(v.name)).
				WithHint("give a shape to input %s", quote(v.name))
		}
		shape = make([]int, len(v.dims))
		for i, d := range v.dims {
			switch {
			case d.fixed:
				shape[i] = int(d.value)
			case b.dims[d.name] != 0:
				shape[i] = b.dims[d.name]
			case i == 0 && d.name == "":
				shape[i] = 1
			case d.name == "":
				return nil, diag.New(diag.OpenDimension, "", "dimension %d of input %s is open and has no name", i,
					quote(v.name)).WithHint("give a shape to input %s", quote(v.name))
			default:
				return nil, diag.New(diag.OpenDimension, "", "dimension %s of input %s is open", quote(d.name),
					quote(v.name)).WithHint("--dim %s=SIZE", d.name)
			}
		}
	}
	shape = slices.Clone(shape)
	if slices.ContainsFunc(shape, func(d int) bool { return d < 1 }) {
		return nil, diag.New(diag.BadDimension, "", "input %s has the shape %s", quote(v.name), ir.ShapeString(shape))
	}
	if err := ir.CheckShape(shape); err != nil {
		return nil, diag.New(diag.BadDimension, "", "input %s: %v", quote(v.name), err)
	}
	return shape, nil
}
