// SPDX-License-Identifier: Apache-2.0

package build

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/op/leaf"
)

// Binding says which arrays of a file stand for inputs of a model, which so become constants.
type Binding struct {
	arrays map[string]*npz.Array // by the name of the input
	file   string                // for messages
	notes  []string              // what the user should hear
	order  bool                  // arrays were taken in order, not by name
}

// Bind finds for each array of f the input that it stands for, among the names of all inputs in order: the one of its
// name; or of its number, written 0, arg0, or arr_0 as numpy.savez does; or, where no array has such a name, the one at
// its own place in the file. A nil file binds nothing. Error L0215 for a name that is almost that of an input.
func Bind(f *npz.File, names []string) (*Binding, error) {
	b := &Binding{arrays: map[string]*npz.Array{}}
	if f == nil || len(f.Arrays) == 0 {
		return b, nil
	}
	b.file = filepath.Base(f.Path)
	var unknown []string
	for i := range f.Arrays {
		a := &f.Arrays[i]
		name := inputOf(a.Name, names)
		switch {
		case name == "":
			unknown = append(unknown, a.Name)
		case b.arrays[name] != nil:
			return nil, diag.New(diag.BadBinding, b.file, "arrays %q and %q both stand for input %q", b.arrays[name].Name,
				a.Name, name)
		default:
			b.arrays[name] = a
		}
	}
	free := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return b.arrays[name] != nil })
	for _, name := range unknown {
		if near := diag.Nearest(name, free); near != "" {
			return nil, diag.New(diag.BadBinding, b.file, "the model has no input called %s", source.Quote(name)).
				WithHint("did you mean %s?", source.Quote(near))
		}
	}
	if len(b.arrays) == 0 {
		return b, b.inOrder(f, names)
	}
	if len(unknown) > 0 {
		b.notes = append(b.notes, fmt.Sprintf("no input is called %s: not read from %s", strings.Join(unknown, ", "), b.file))
	}
	return b, nil
}

// inputOf is the input that an array stands for by its name or number, "" if there is none.
func inputOf(array string, names []string) string {
	if slices.Contains(names, array) {
		return array
	}
	number := strings.TrimPrefix(strings.TrimPrefix(array, "arg"), "arr_")
	if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(names) && number == strconv.Itoa(i) {
		return names[i]
	}
	return ""
}

// inOrder binds the arrays to the first inputs.
func (b *Binding) inOrder(f *npz.File, names []string) error {
	if len(f.Arrays) > len(names) {
		return diag.New(diag.BadBinding, b.file, "no array is named after an input, and %d arrays are more than the %d "+
			"inputs", len(f.Arrays), len(names)).WithHint("the inputs are %s", few(names))
	}
	b.order = true
	pairs := make([]string, len(f.Arrays))
	for i := range f.Arrays {
		b.arrays[names[i]] = &f.Arrays[i]
		pairs[i] = names[i] + " = " + f.Arrays[i].Name
	}
	b.notes = append(b.notes, fmt.Sprintf("no array of %s is called as an input; they are taken in order: %s", b.file,
		few(pairs)))
	return nil
}

// few lists the first words of a list.
func few(words []string) string {
	const most = 20
	if len(words) > most {
		return strings.Join(words[:most], ", ") + ", ..."
	}
	return strings.Join(words, ", ")
}

// Shape is the shape of the array that stands for an input; ok is false where there is none.
func (b *Binding) Shape(input string) (shape []int, ok bool) {
	a := b.arrays[input]
	if a == nil {
		return nil, false
	}
	return a.Shape, true
}

// Bound makes Input give constants for the inputs that the binding has arrays for.
func (b *Builder) Bound(binding *Binding) {
	b.binding = binding
	b.g.Origin.Warnings = append(b.g.Origin.Warnings, binding.notes...)
}

// BindInputs replaces inputs of a finished float graph by constants.
func BindInputs(g *ir.Graph, f *npz.File) error {
	names := make([]string, len(g.In))
	for i, n := range g.In {
		names[i] = n.Name
	}
	b, err := Bind(f, names)
	if err != nil {
		return err
	}
	var open []*ir.Node
	for _, n := range g.In {
		a := b.arrays[n.Name]
		if a == nil {
			open = append(open, n)
			continue
		}
		data, err := b.blob(n.Name, a, ir.StoredAs(n.Type.Format), n.Type.Shape)
		if err != nil {
			return err
		}
		n.Op, n.Attrs = leaf.Const, &ir.Const{Data: data, Role: Unsaid(a.Shape)}
	}
	if g.In = open; g.Origin == nil && len(b.notes) > 0 {
		g.Origin = &ir.Origin{}
	}
	if len(b.notes) > 0 {
		g.Origin.Warnings = append(g.Origin.Warnings, b.notes...)
	}
	return nil
}

// blob holds the elements of an array for an input of type d. They are taken as they are: an array of another shape,
// floats for whole numbers or the reverse, or floats of more digits are refused.
func (b *Binding) blob(input string, a *npz.Array, d ir.DType, shape []int) (*ir.Blob, error) {
	if !slices.Equal(a.Shape, shape) {
		return nil, b.misshapen(input, a, shape)
	}
	whole, isWhole := ir.WholeOf(ir.FormatOf(d))
	isFloat := strings.HasPrefix(a.DType, "float")
	if isFloat == isWhole || a.DType == "float64" && d != ir.F64 {
		want := "float32"
		if isWhole {
			want = whole.String()
		}
		return nil, diag.New(diag.BadBinding, b.file, "array %q is %s, input %q takes %s", a.Name, a.DType, input, want).
			WithHint("convert it: array.astype(numpy.%s)", numpyName(d))
	}
	switch {
	case d == ir.F64:
		return ir.DoubleBlob(a.Float64s()), nil
	case !isWhole:
		return ir.FloatBlob(a.Float32s()), nil
	}
	values, err := a.Int64s()
	if err != nil {
		return nil, diag.At(err, diag.BadBinding, b.file)
	}
	for i, v := range values {
		if v < whole.Min() || v > whole.Max() {
			return nil, diag.New(diag.BadBinding, b.file, "array %q holds %d at flat index %d, input %q takes %d to %d",
				a.Name, v, i, input, whole.Min(), whole.Max())
		}
	}
	return IntBlob(ir.StoredAs(whole), values), nil
}

// What errors about shapes add.
const (
	inTurn     = "no array is named after an input: they were taken in order"
	transposed = "save its transpose: array.T"
)

// misshapen is the error for an array whose shape is not that of its input.
func (b *Binding) misshapen(input string, a *npz.Array, shape []int) *diag.Error {
	e := diag.New(diag.BadBinding, b.file, "array %q has shape %s, input %q takes %s", a.Name,
		ir.ShapeString(a.Shape), input, ir.ShapeString(shape))
	if b.order {
		e = e.WithNote(inTurn)
	}
	if turned := slices.Clone(a.Shape); len(turned) > 1 {
		slices.Reverse(turned)
		if slices.Equal(turned, shape) {
			return e.WithHint(transposed)
		}
	}
	return e
}

// Explain names the file and the array from which the shape of an input was taken in an error about it;
// fits says whether another shape would do.
func (b *Binding) Explain(input string, err error, fits func(shape []int) bool) error {
	a, e := b.arrays[input], (*diag.Error)(nil)
	if a == nil || !errors.As(err, &e) {
		return err
	}
	of := *e
	of.Pos = b.file
	of.Msg = fmt.Sprintf("array %q of shape %s does not fit: ", a.Name, ir.ShapeString(a.Shape)) + e.Msg
	if b.order {
		of.Notes = append(slices.Clone(of.Notes), inTurn)
	}
	if turned := slices.Clone(a.Shape); len(turned) > 1 {
		if slices.Reverse(turned); fits(turned) {
			return of.WithHint(transposed)
		}
	}
	return &of
}

// numpyName is how NumPy calls the arrays that inputs of a storage type take.
func numpyName(d ir.DType) string {
	f, whole := ir.WholeOf(ir.FormatOf(d))
	switch {
	case !whole:
		return "float32"
	case d == ir.B1:
		return "bool_"
	case f.Signed:
		return "int" + strconv.Itoa(f.W)
	}
	return "uint" + strconv.Itoa(f.W)
}

// NotConstant words the error that values must be constant, and says how n becomes that where it is an input.
func NotConstant(n *ir.Node, what string) *diag.Error {
	if n == nil || !n.IsInput() {
		return diag.New(diag.NotConstant, "", "%s must be constant, not computed at run time", what)
	}
	return diag.New(diag.NotConstant, "", "%s must be constant, not an input of the model", what).
		WithHint("--bind weights.npz, a file with an array %q, makes a constant of it", n.Name)
}
