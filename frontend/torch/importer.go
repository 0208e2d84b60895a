// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/frontend/layers"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// importer turns the records of a program into a graph.
type importer struct {
	program *program
	opts    source.Options
	b       *build.Builder
	scope
	depth       int // of graphs inside of graphs
	dims        dims
	table       map[string]*row
	shared      map[string]*ir.Node   // constants by their views
	turned      map[*ir.Node]*ir.Node // transposes of constants, to what was transposed
	fixed       map[*ir.Node]bool     // nodes that depend on no input
	copiedElems int
	source.Failures
}

// scope is a graph and the values of its names.
type scope struct {
	graph  *graph
	values map[string]*value
}

// value is what a name of the graph stands for.
type value struct {
	node  *ir.Node
	typ   ir.DType
	coded *coding.Scheme // of codes that are computed: node then gives the numbers that they stand for
	spec  *inputSpec     // of what is stored; its node is made when it is first read
	bad   bool           // the producer failed, and that is reported already
	// missing is the place of a producer that does not give this one of its results.
	missing string
	// memory is shared by all views of a tensor; version is that of the memory when the value was made.
	memory  *memory
	version int
	// base is the name of the tensor that this one is a view of, and write makes the contents of that tensor from its
	// older ones and from those of the view; nil where the view is of another kind, or the value none.
	base  string
	write writer
}

type writer func(c *call, base, view *ir.Node) *ir.Node

// memory counts the changes of a tensor in place.
type memory struct {
	version int
	by      string // the last operation that changed it
}

func (im *importer) run() (*ir.Graph, error) {
	im.graph, im.values = im.program.graph, map[string]*value{}
	im.turned, im.fixed = map[*ir.Node]*ir.Node{}, map[*ir.Node]bool{}
	im.shared, im.table = map[string]*ir.Node{}, map[string]*row{}
	for _, r := range slices.Concat(tables()...) {
		for _, target := range strings.Fields(r.targets) {
			im.table[target] = &r
		}
	}
	if err := im.inputs(); err != nil {
		return nil, err
	}
	e, live := im.end()
	for i := range im.graph.nodes {
		if live[i] {
			im.convert(&im.graph.nodes[i])
		}
	}
	if err := im.failed(); err != nil {
		if len(e.lost) > 0 {
			err = im.b.NoValue(e.lost[0], e.known())
		}
		return nil, err
	}
	if err := im.results(e); err != nil {
		return nil, err
	}
	origin := im.b.Origin()
	origin.Format, origin.Producer = "PyTorch exported program", strings.TrimSpace("PyTorch "+im.program.version)
	return im.b.Finish()
}

// inputs defines what the inputs of the graph stand for.
func (im *importer) inputs() error {
	var users []string
	for i := range im.program.inputs {
		s := &im.program.inputs[i]
		if s.arg == "" {
			continue
		}
		if im.values[s.arg] != nil {
			return s.at.Errorf(diag.DuplicateName, "defines %s a second time", source.Quote(s.arg))
		}
		im.values[s.arg] = &value{spec: s, memory: &memory{}}
		if m := im.graph.tensors[s.arg]; m != nil {
			im.values[s.arg].typ = storage(m.dtype)
		}
		if s.kind == "user_input" {
			if im.graph.tensors[s.arg] == nil {
				return s.at.Errorf(diag.UndefinedValue, "the graph does not state the shape of %s", source.Quote(s.arg))
			}
			users = append(users, s.arg)
		}
	}
	binding, err := build.Bind(im.opts.Bind, users)
	if err != nil {
		return err
	}
	im.b.Bound(binding)
	if err := im.bind(users, binding); err != nil {
		return err
	}
	for _, name := range users {
		m, v := im.graph.tensors[name], im.values[name]
		shape, err := im.shapeOf(m)
		if err != nil {
			return err
		}
		if v.typ, err = m.storage(); err != nil {
			return err
		}
		if want, ok := im.opts.Shapes[name]; ok && !slices.Equal(want, shape) {
			return diag.New(diag.BadBinding, "", "input %s has the shape %s, not %s", source.Quote(name),
				ir.ShapeString(shape), ir.ShapeString(want))
		}
		if slices.Contains(shape, 0) {
			return m.at.Errorf(diag.BadDimension, "the shape %s has no elements", ir.ShapeString(shape))
		}
		if v.node, err = im.b.Input(name, v.typ, shape); err != nil {
			return diag.At(err, diag.BadDimension, m.at.Pos())
		}
	}
	return nil
}

// shapeOf evaluates the sizes that are stated of a tensor.
func (im *importer) shapeOf(m *meta) ([]int, error) {
	shape := make([]int, len(m.sizes))
	for i, v := range m.sizes {
		n, err := im.dims.size(v)
		if err == nil && (n < 0 || n > maxSize) {
			err = v.Errorf(diag.BadDimension, "the size is %d", n)
		}
		if err != nil {
			return nil, err
		}
		shape[i] = int(n)
	}
	return shape, nil
}

// results makes the outputs of the graph.
func (im *importer) results(e ending) error {
	if im.opts.Outputs != nil {
		return im.outputs(e)
	}
	for i, o := range im.program.outputs {
		switch o.kind {
		case "user_output", "loss_output":
		case "buffer_mutation", "user_input_mutation", "parameter_mutation", "gradient_to_parameter",
			"gradient_to_user_input", "token":
			return o.at.Errorf(diag.UnsupportedForm, "the program changes its state (%s); a graph only computes outputs",
				o.kind).
				WithHint("call model.eval() before torch.export, and return what changes as an output")
		default:
			return o.at.Errorf(diag.ProgramSchema, "an output of the kind %s is not known", source.Quote(o.kind))
		}
		if o.arg.kind != "as_tensor" {
			im.b.Origin().Notes = append(im.b.Origin().Notes,
				fmt.Sprintf("output %d is not a tensor (%s), and is left out", i, strings.TrimPrefix(o.arg.kind, "as_")))
			continue
		}
		name, err := o.arg.v.Get("name").Str()
		if err != nil {
			return err
		}
		n, err := im.nodeOf(name)
		if err != nil {
			return diag.At(err, diag.UndefinedValue, o.at.Pos())
		}
		if im.program.names != nil && im.program.names[i] != "" {
			name = im.program.names[i]
		}
		im.b.Output(name, n)
	}
	return nil
}

// nodeOf returns the node of a value.
func (im *importer) nodeOf(name string) (*ir.Node, error) {
	v := im.values[name]
	switch {
	case v == nil:
		return nil, diag.New(diag.UndefinedValue, "", "%s is computed by nothing", source.Quote(name))
	case v.node == nil && v.spec != nil:
		n, err := im.parameter(v.spec)
		if err != nil {
			return nil, err
		}
		v.node = n
	case v.node == nil:
		return nil, diag.New(diag.SecondResult, "", "reads %s, a result of %s that is not supported",
			source.Quote(name), v.missing)
	}
	if v.version != v.memory.version {
		return nil, diag.New(diag.InPlaceMutation, "", "reads %s, whose elements %s changed in place", source.Quote(name),
			v.memory.by).WithHint("write the operation without the underscore or +=, or run_decompositions() before saving")
	}
	if v.coded != nil {
		return im.codesOf(name, v)
	}
	return v.node, nil
}

// failed reports all failures at once.
func (im *importer) failed() error {
	hint := layers.Hint
	for _, op := range im.Unknowns() {
		if own, is := strings.CutPrefix(op, "torch.ops."); is && !knownLibrary(own) {
			own, _ = strings.CutSuffix(own, ".default")
			hint = layers.Declare("torch", own)
			break
		}
	}
	return im.Err("", func(op string) string {
		if near := im.opts.Layers.NearTorch(strings.TrimPrefix(op, "torch.ops.")); near != "" {
			return near
		}
		base := plainName(op)
		if len(base) >= 80 {
			return ""
		}
		return diag.Nearest(base, targets())
	}, hint)
}

// knownLibrary says that operations of the library of a target, "library.op.overload", are supported.
func knownLibrary(target string) bool {
	library, _, _ := strings.Cut(target, ".")
	return library == "aten" ||
		slices.ContainsFunc(targets(), func(known string) bool { return strings.HasPrefix(known, library+".") })
}

// report keeps an error for failed.
func (im *importer) report(err error, at string) { im.Report(err, diag.UnsupportedForm, at) }

// Operations lists the operations that are supported, with their overloads, by name. Those of ATen stand without
// "torch.ops.aten.".
func Operations() []string {
	var names []string
	for _, r := range slices.Concat(tables()...) {
		names = append(names, strings.Fields(r.targets)...)
	}
	slices.Sort(names)
	return names
}

// targets lists the supported operations without their overloads, for suggestions.
func targets() []string {
	names := Operations()
	for i, t := range names {
		names[i] = plainName(t)
	}
	return slices.Compact(names)
}

// plainName is the name of an operation without its overload: relu of ATen, library.op of other libraries.
func plainName(target string) string {
	target = strings.TrimPrefix(target, prefix)
	if name, other := strings.CutPrefix(target, "torch.ops."); other {
		return name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	if strings.HasPrefix(target, "torch.") || strings.HasPrefix(target, "_operator.") {
		return target // of sizes, which have no overloads
	}
	base, _, _ := strings.Cut(target, ".")
	return base
}

// prefix is that of ATen's operations.
const prefix = "torch.ops.aten."

// convert makes the graph nodes of n.
func (im *importer) convert(n *node) {
	path, class := modulePath(n.stack)
	if class != "" {
		im.modules(n.stack)
	}
	c := &call{importer: im, n: n, place: label(n, path, class)}
	for _, name := range c.outs() {
		if im.values[name] != nil {
			im.report(n.at.Errorf(diag.DuplicateName, "defines %s a second time", source.Quote(name)), "")
			return
		}
		im.values[name] = &value{bad: true, memory: &memory{}}
	}
	if n.target == wrapped {
		c.inline()
	} else if o := im.opts.Layers.Torch(strings.TrimPrefix(n.target, "torch.ops.")); o != nil {
		c.declared(o)
	} else if r := im.find(c); r != nil {
		c.args = strings.Fields(r.args)
		if c.check(); c.err == nil && !c.readsBad() {
			r.convert(c)
			c.leave()
		}
	}
	if c.err != nil {
		im.report(c.err, im.b.File+": "+c.place.Name+" ("+source.Quote(n.target)+")")
	}
}

// find returns the row of an operation, or counts it as unsupported. Operations in place are those without the
// underscore at their end.
func (im *importer) find(c *call) *row {
	target, aten := strings.CutPrefix(c.n.target, prefix)
	if !aten {
		target = c.n.target
	}
	if r := im.table[target]; r != nil {
		return r
	}
	base, overload, _ := strings.Cut(target, ".")
	if plain, in := strings.CutSuffix(base, "_"); aten && in && !strings.HasSuffix(plain, "_") {
		if r := im.table[plain+"."+overload]; r != nil {
			c.inplace = true
			return r
		}
	}
	im.Unknown(c.n.target, c.place.Name)
	return nil
}

// modules records the modules around a node.
func (im *importer) modules(stack string) {
	for part := range strings.SplitSeq(stack, ";") {
		if f := strings.SplitN(part, ",", 3); len(f) == 3 {
			im.b.Module(f[1], f[2])
		}
	}
}

// label is where the nodes of n stand: the path of a module of torch.nn, which as a rule computes one thing, and for
// what other modules compute themselves their path and the name of the value.
func label(n *node, path, class string) build.Place {
	name := n.name
	if name == "" && len(n.out) == 1 {
		name, _ = n.out[0].v.Get("name").Str()
	}
	if name == "" {
		name = n.target
	}
	at := build.Place{Name: name, Source: strings.TrimPrefix(n.target, "torch.ops.")}
	switch {
	case path == "":
	case strings.HasPrefix(class, "torch.nn.modules."):
		at.Name, at.Alt = path, name
	default:
		at.Name = path + "." + name
	}
	return at
}
