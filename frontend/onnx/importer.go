// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/frontend/layers"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// importer turns the records of a model into a graph.
type importer struct {
	base  string
	model *model
	opts  source.Options
	b     *build.Builder
	ext   externals
	source.Failures
	specs map[string]*opSpec
	// containers are modules that hold other modules.
	containers map[string]bool
	unit       map[*ir.Node]bool // values whose rows have the sum 1
	nodes      int               // of subgraphs and functions, converted so far

	refusals map[string]*refused // by name
	front    []string            // the computed values that unsupported operations read
}

// frame is where names mean something: the graph, a subgraph, or the body of a function.
type frame struct {
	values map[string]*value
	outer  *frame          // whose names a subgraph sees, too
	used   map[string]bool // names that live nodes and outputs read
	opset  int             // of the default domain
	prefix string          // of the names of nodes, with a dot
	// attrs are those of the call of a function; nil outside of functions.
	attrs map[string]*attr
	// calls are the functions that this one stands in, itself included.
	calls []*function
}

// find looks up a name here and, from a subgraph, outside; nil if there is none.
func (f *frame) find(name string) *value {
	for ; f != nil; f = f.outer {
		if v := f.values[name]; v != nil {
			return v
		}
	}
	return nil
}

func (im *importer) run() (*ir.Graph, error) {
	im.specs, im.unit = map[string]*opSpec{}, map[*ir.Node]bool{}
	im.refusals = map[string]*refused{}
	for _, s := range slices.Concat(opTable(), quantTable(), classicTable()) {
		im.specs[s.name] = &s
	}
	im.findContainers()
	fr := &frame{opset: int(im.model.opset), values: make(map[string]*value, len(im.model.graph.nodes))}
	known, lost := im.end(fr, im.model.graph)
	live, err := im.prepare(fr, im.model.graph)
	if err != nil {
		return nil, err
	}
	if err := im.defineInputs(fr); err != nil {
		return nil, err
	}
	im.convertAll(fr, im.model.graph, live)
	if err := im.failed(); err != nil {
		if len(lost) > 0 {
			err = im.b.NoValue(lost[0], known)
		}
		return nil, err
	}
	if err := im.outputs(fr, known); err != nil {
		return nil, err
	}
	g, err := im.b.Finish()
	if err == nil {
		im.origin(fr, g.Origin)
		build.GuessBuffers(g)
	}
	return g, err
}

// prepare checks the order of a graph, defines its initializers in the frame, and finds the nodes that are needed.
func (im *importer) prepare(fr *frame, g *graph) (live []bool, err error) {
	if live, err = im.order(fr, g); err != nil {
		return nil, err
	}
	fr.used = findUsed(g, live)
	for i := range g.inits {
		t := &g.inits[i]
		if t.name == "" {
			return nil, t.fail(diag.UndefinedValue, "is an initializer")
		}
		fr.values[t.name] = &value{name: t.name, dtype: t.dtype, tensor: t}
	}
	return live, nil
}

// convertAll converts the live nodes of a graph.
func (im *importer) convertAll(fr *frame, g *graph, live []bool) {
	for i := range g.nodes {
		if live[i] {
			im.convert(fr, &g.nodes[i])
		}
	}
}

// failed reports all failures at once.
func (im *importer) failed() error {
	for _, r := range im.refusals {
		switch {
		case r.more == 1:
			r.err.Notes = append(r.err.Notes, "the same holds for one more node")
		case r.more > 1:
			r.err.Notes = append(r.err.Notes, fmt.Sprintf("the same holds for %d more nodes", r.more))
		}
	}
	hint := "docs/onnx.md lists the operators that are supported"
	front := slices.Compact(slices.Sorted(slices.Values(im.front)))
	if len(front) > 0 && len(front) < source.MaxErrors {
		hint += "; to end the model in front of them: --outputs " + strings.Join(front, ",")
	}
	own := layers.Hint
	for _, op := range im.Unknowns() {
		if strings.Contains(op, ".") && !knownDomain(op) {
			own = layers.Declare("onnx", op)
			break
		}
	}
	hint += "; " + own
	return im.Err(im.base, func(op string) string {
		return cmp.Or(im.opts.Layers.NearONNX(op), source.Near(op, opNames()))
	}, hint)
}

// knownDomain says that operations of the domain of an operation, "domain.Op", are supported.
func knownDomain(op string) bool {
	domain := op[:strings.LastIndex(op, ".")+1]
	return slices.ContainsFunc(opNames(), func(known string) bool { return strings.HasPrefix(known, domain) })
}

// report keeps an error for failed.
func (im *importer) report(err error) { im.Report(err, diag.ConstantExpression, im.base) }

// defineInputs makes an input node of each graph input that is no initializer.
func (im *importer) defineInputs(fr *frame) error {
	var open []*valueInfo
	var names []string
	for i := range im.model.graph.inputs {
		if v := &im.model.graph.inputs[i]; fr.values[v.name] == nil {
			open, names = append(open, v), append(names, v.name)
		}
	}
	binding, err := build.Bind(im.opts.Bind, names)
	if err != nil {
		return err
	}
	im.b.Bound(binding)
	b := binder{opts: im.opts, dims: map[string]int{}, bound: binding}
	shapes, err := b.bind(open)
	if err != nil {
		return err
	}
	for i, v := range open {
		typ := storage(v.dtype)
		if typ == "" {
			if fr.used[v.name] {
				im.report(diag.New(diag.BadElementType, im.base, "input %s has elements of type %s, which is not supported",
					quote(v.name), dtypeName(v.dtype)))
			}
			fr.values[v.name] = &value{name: v.name, bad: true}
			continue
		}
		n, err := im.b.Input(v.name, typ, shapes[i])
		if err != nil {
			return err
		}
		fr.values[v.name] = &value{name: v.name, dtype: v.dtype, node: n}
	}
	return nil
}

// findUsed collects the names that live nodes and outputs read.
func findUsed(g *graph, live []bool) map[string]bool {
	used := map[string]bool{}
	for i := range g.nodes {
		if !live[i] {
			continue
		}
		for _, in := range g.nodes[i].in {
			used[in] = true
		}
		for _, in := range g.nodes[i].captures {
			used[in] = true
		}
	}
	for _, o := range g.outputs {
		used[o.name] = true
	}
	return used
}

// output makes a value an output of the graph, of the shape that the file declares.
func (im *importer) output(fr *frame, declared *valueInfo) error {
	name := declared.name
	v := fr.find(name)
	if v == nil || v.bad {
		return diag.New(diag.UndefinedValue, "", "output %s is computed by no node", quote(name))
	}
	c := &call{importer: im, fr: fr, n: &node{op: "output"}, label: name, in: []*value{v}}
	n := c.arg(0)
	if c.err != nil {
		return c.err
	}
	if err := coding.Check(n); err != nil {
		return err
	}
	if n.Type.Elems() == 0 {
		return diag.New(diag.BadDimension, "", "output %s of shape %s has no elements", quote(name),
			ir.ShapeString(n.Type.Shape))
	}
	if !declared.allows(n.Type.Shape) && im.model.producer != careless {
		return diag.New(diag.OperandShapes, "", "output %s has shape %s, the file declares %s", quote(name),
			ir.ShapeString(n.Type.Shape), declared.shapeText()).WithHint("correct or remove the shape that the file declares")
	}
	im.b.OutputAs(name, n, storage(v.dtype))
	return nil
}

// allows says that a shape does not contradict the declared one. Exporters declare no axes where they know of none, and
// sizes below 1 for those that are open.
func (v *valueInfo) allows(shape []int) bool {
	if len(v.dims) == 0 {
		return true
	}
	if len(v.dims) != len(shape) {
		return false
	}
	for i, d := range v.dims {
		if d.fixed && d.value > 0 && d.value != int64(shape[i]) {
			return false
		}
	}
	return true
}

// shapeText prints the declared shape: names and ? for open dimensions.
func (v *valueInfo) shapeText() string {
	var parts []string
	for _, d := range v.dims {
		switch {
		case d.fixed && d.value > 0:
			parts = append(parts, strconv.FormatInt(d.value, 10))
		case d.name != "":
			parts = append(parts, clip(d.name))
		default:
			parts = append(parts, "?")
		}
	}
	return strings.Join(parts, "x")
}

// convert makes the graph nodes, or the constants, that n stands for.
func (im *importer) convert(fr *frame, n *node) {
	c := &call{importer: im, fr: fr, opset: fr.opset, n: n, label: im.label(fr, n)}
	for _, o := range n.out {
		if o != "" {
			fr.values[o] = &value{name: o, bad: true}
		}
	}
	if im.tooMany(fr) {
		return
	}
	if c.convert(); c.err != nil {
		im.report(c.err)
	}
}

// maxInlined bounds the nodes that functions and subgraphs grow to.
const maxInlined = 100_000

// tooMany counts a node of a function or a subgraph; beyond the limit it reports once.
func (im *importer) tooMany(fr *frame) bool {
	if fr.outer == nil && len(fr.calls) == 0 {
		return false
	}
	if im.nodes++; im.nodes == maxInlined+1 {
		im.report(diag.New(diag.ModelLimit, im.base, "functions and subgraphs grow to more than %d nodes", maxInlined))
	}
	return im.nodes > maxInlined
}

func (c *call) convert() {
	own := c.opts.Layers.ONNX(qualified(c.n))
	f := c.model.find(c.n)
	if own == nil && f == nil && c.refused(qualified(c.n)) {
		return
	}
	var spec *opSpec
	if f == nil && own == nil {
		if spec = c.spec(c.n); spec == nil {
			return
		}
	}
	for _, in := range c.n.in {
		if in == "" {
			c.in = append(c.in, nil)
			continue
		}
		v := c.fr.find(in)
		if v == nil || v.bad {
			return
		}
		c.in = append(c.in, v)
	}
	c.bindAttrs()
	switch {
	case own != nil:
		c.declared(own)
		return
	case f != nil:
		c.inline(f)
		return
	}
	done := c.onCodes()
	if c.check(spec); c.err == nil {
		c.apply(spec)
	}
	done()
}

// spec finds the row of an operation, or counts it as unsupported.
func (c *call) spec(n *node) *opSpec {
	name := qualified(n)
	if spec := c.specs[name]; spec != nil {
		return spec
	}
	c.Unknown(name, quote(c.label))
	if c.fr.outer == nil && len(c.fr.calls) == 0 {
		for _, in := range n.in {
			if v := c.fr.find(in); v != nil && v.node != nil && !v.bad && !v.constant() && !v.node.IsInput() {
				c.front = append(c.front, in)
			}
		}
	}
	return nil
}
