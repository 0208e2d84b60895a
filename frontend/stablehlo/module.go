// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
)

// function is a function of the module.
type function struct {
	name string
	at   int
	args []syntax.Arg
	outs []syntax.Attrs // of the results
	body *syntax.Node
	// types are those that the function states for its results.
	types []syntax.Type
}

// collect finds the functions and the one to import: main, the only public one, or the only one.
func (im *importer) collect() (*function, error) {
	ops := im.Ops
	var modules int
	for i := range ops {
		if ops[i].Name == "module" || ops[i].Name == "builtin.module" {
			modules++
		}
	}
	if modules > 1 || modules == 1 && len(ops) > 1 {
		return nil, im.Errorf(diag.SeveralModules, ops[1].At, "the file holds several modules").
			WithHint("write each module into a file of its own")
	}
	if modules == 1 {
		in := im.Instr(&ops[0])
		if len(in.Regions) != 1 || len(in.Regions[0].Blocks) == 0 {
			return nil, im.Errorf(diag.NoOutputs, ops[0].At, "the module holds no function")
		}
		ops = in.Regions[0].Blocks[0].Ops
	}
	var public, all []*function
	for i := range ops {
		f, private, err := im.function(&ops[i])
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if im.funcs[f.name] != nil {
			return nil, im.Errorf(diag.DuplicateName, f.at, "the function @%s is defined twice", f.name)
		}
		im.funcs[f.name] = f
		all = append(all, f)
		if !private {
			public = append(public, f)
		}
	}
	switch {
	case im.funcs["main"] != nil:
		return im.funcs["main"], nil
	case len(public) == 1:
		return public[0], nil
	case len(all) == 0:
		return nil, diag.New(diag.NoOutputs, im.Name, "the module holds no function")
	}
	return nil, im.Errorf(diag.NoOutputs, all[0].at, "the module has %d public functions and none is called main",
		len(public))
}

// function reads func.func; nil for other operations of a module, which say nothing of values.
func (im *importer) function(op *syntax.Op) (f *function, private bool, err error) {
	if op.Name != "func.func" {
		if op.Name == "sdy.mesh" || op.Name == "mhlo.mesh" {
			return nil, false, nil
		}
		return nil, false, im.Errorf(diag.UnsupportedOps, op.At, "%s stands where functions are expected", op.Name)
	}
	in := im.Instr(op)
	f = &function{name: in.Callee, at: op.At}
	if name := in.Attrs.Get("sym_name"); name != nil {
		f.name = name.Word()
	}
	f.types = in.Types.Out
	if typed := in.Attrs.Get("function_type"); typed != nil { // of the generic form
		f.types = im.Signature(typed).Out
	}
	if len(in.Regions) == 0 || len(in.Regions[0].Blocks) == 0 {
		return nil, false, im.Errorf(diag.UnsupportedForm, op.At, "the function @%s has no body", f.name)
	}
	f.body = in.Regions[0]
	private = in.Attrs.Get("sym_visibility").Word() == "private"
	if len(f.body.Blocks) > 1 {
		return nil, false, im.Errorf(diag.UnsupportedForm, op.At, "the function @%s has several blocks", f.name)
	}
	f.args = f.body.Blocks[0].Args
	outs := false
	for i := range op.Items {
		switch n := &op.Items[i]; {
		case n.Is("private"):
			private = true
		case n.Is("->"):
			outs = true
		case n.Kind == syntax.Paren && outs:
			f.outs = resultAttrs(n)
		case n.Kind == syntax.Paren && in.Attrs.Get("sym_name") == nil:
			f.args = syntax.Args(n.Kids)
		}
	}
	return f, private, nil
}

// resultAttrs are the attributes behind the types of results.
func resultAttrs(n *syntax.Node) []syntax.Attrs {
	var list []syntax.Attrs
	for _, a := range syntax.Args(n.Kids) {
		list = append(list, a.Attrs)
	}
	return list
}

// inputs makes an input node of each argument of the entry.
func (im *importer) inputs(f *function) ([]value, error) {
	names := im.argNames(f)
	binding, err := build.Bind(im.opts.Bind, names)
	if err != nil {
		return nil, err
	}
	im.b.Bound(binding)
	var args []value
	for i := range f.args {
		a := &f.args[i]
		t, ok := im.ArgType(a)
		if !ok || !t.Tensor {
			return nil, im.Errorf(diag.OperandTypes, a.At, "the argument %%%s is not a tensor", a.Name)
		}
		d := syntax.Storage(t.Elem)
		if d == "" {
			code := diag.BadElementType
			if strings.HasPrefix(t.Elem, "!quant") {
				code = diag.QuantizedType
			}
			return nil, im.Errorf(code, a.At, "the argument %%%s has elements of type %s, which are not supported", a.Name,
				t.Elem)
		}
		name := names[i]
		given, ok := im.opts.Shapes[name]
		if !ok {
			given, ok = binding.Shape(name)
		}
		dims, err := im.bind(t, name, a, given, ok)
		if err != nil {
			return nil, err
		}
		n, err := im.b.Input(name, d, dims)
		if err != nil {
			return nil, im.positioned(err, diag.BadDimension, a.At)
		}
		args = append(args, wholeValue(n))
	}
	if len(im.opts.Dims) > 0 {
		return nil, diag.New(diag.BadBinding, im.Name, "dimensions of StableHLO modules have no names").
			WithHint("--shape INPUT=... gives sizes to those of an input")
	}
	return args, source.Known("input", slices.Sorted(maps.Keys(im.opts.Shapes)), slices.Sorted(slices.Values(names)))
}

// argNames are the names of the inputs: those of their locations, or of the text where those are not unique.
func (im *importer) argNames(f *function) []string {
	names := make([]string, len(f.args))
	for i := range f.args {
		a := &f.args[i]
		if names[i] = argName(im.ArgLoc(a), a.Name); slices.Contains(names[:i], names[i]) {
			names[i] = a.Name
		}
	}
	return names
}

// bind gives sizes to the dimensions that a type leaves open; ok says that a shape is given.
func (im *importer) bind(t syntax.Type, name string, a *syntax.Arg, given []int, ok bool) ([]int, error) {
	dims := slices.Clone(t.Dims)
	if ok && len(given) != len(dims) {
		return nil, im.Errorf(diag.BadBinding, a.At, "input %q of type %s cannot have the shape %s", name, t,
			ir.ShapeString(given))
	}
	for i, d := range dims {
		switch {
		case ok && d != syntax.Dynamic && given[i] != d, ok && given[i] < 1:
			return nil, im.Errorf(diag.BadBinding, a.At, "input %q of type %s cannot have the shape %s", name, t,
				ir.ShapeString(given))
		case d != syntax.Dynamic:
		case ok:
			dims[i] = given[i]
		case i == 0:
			dims[i] = 1
		default:
			return nil, im.Errorf(diag.OpenDimension, a.At, "axis %d of input %q of type %s has no size", i, name, t).
				WithHint("give the shape: --shape %s=...", name)
		}
	}
	return dims, nil
}

// outputNames are the names of the results in the caller: jax.result_info, or numbers.
func (im *importer) outputNames(f *function, n int) []string {
	names := make([]string, n)
	used := map[string]bool{}
	for i := range names {
		if i < len(f.outs) {
			names[i] = argName(f.outs[i].Get("jax.result_info").Word(), "")
		}
		if names[i] == "" || used[names[i]] {
			names[i] = "result"
			if n > 1 {
				names[i] += strconv.Itoa(i)
			}
		}
		used[names[i]] = true
	}
	return names
}

// resultStorage is the storage type of result i by the types that the function returns, "" where it states none.
func (im *importer) resultStorage(f *function, i int) ir.DType {
	ops := f.body.Blocks[0].Ops
	if types := im.Instr(&ops[len(ops)-1]).Types.In; i < len(types) {
		return syntax.Storage(types[i].Elem)
	}
	return ""
}

// body converts a function for given arguments.
func (im *importer) body(f *function, args []value, path string) ([]value, error) {
	if slices.Contains(im.stack, f.name) {
		return nil, im.Errorf(diag.UnknownFunction, f.at, "the function @%s calls itself", f.name)
	}
	if len(args) != len(f.args) {
		return nil, im.Errorf(diag.UnknownFunction, f.at, "the function @%s takes %d arguments, not %d", f.name, len(f.args),
			len(args))
	}
	im.stack = append(im.stack, f.name)
	defer func() { im.stack = im.stack[:len(im.stack)-1] }()
	sc := &scope{values: map[string]value{}, path: path}
	for i, a := range f.args {
		sc.values[a.Name] = args[i]
	}
	ops := f.body.Blocks[0].Ops
	outs, err := im.block(sc, ops)
	if err != nil {
		return nil, err
	}
	c := &call{importer: im, in: im.Instr(&ops[len(ops)-1])}
	if len(outs) != len(f.types) {
		c.fail(diag.OperandTypes, "%d values, the function @%s states %d", len(outs), f.name, len(f.types))
		return nil, c.err
	}
	for i, t := range f.types {
		c.sameType(t, outs[i], "result of @"+f.name)
	}
	return outs, c.err
}
