// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"fmt"
	"slices"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
)

// importer turns the records of a model into a graph.
type importer struct {
	base   string
	opset  int
	model  *model
	opts   source.Options
	g      *ir.Graph
	values map[string]*value
	live   []bool          // nodes that the outputs need
	used   map[string]bool // names that live nodes and outputs read
	ext    externals
	names  namer
	budget int // elements that may still be computed or copied
	errs   diag.List
	specs  map[string]*opSpec
	// containers are modules that hold other modules.
	containers map[string]bool

	// unknown counts unsupported operations, by name and in order.
	unknown  map[string]*unknownOp
	unknowns []*unknownOp
}

// value is what an ONNX name stands for. Of node, tensor, and known, at least one is set, unless its producer failed.
type value struct {
	name   string
	shape  []int
	typ    ir.DType
	node   *ir.Node // an activation; or a constant, once a node reads it
	tensor *tensor  // a constant stored in the file
	known  *konst   // a constant whose elements were computed or decoded
	flip   *ir.Node // the transpose of a constant matrix, once a node reads it
	bad    bool     // the producer failed, and that is reported already
	quant  *scheme  // of codes that are computed: node then gives the numbers that they stand for
}

// constant says that the value does not depend on the inputs of the graph.
func (v *value) constant() bool { return v.tensor != nil || v.known != nil }

// unknownOp counts the nodes of one unsupported operation.
type unknownOp struct {
	op    string
	count int
	first string
}

// Limits on constant expressions: elements of one result, and of all results together.
const (
	maxResult = 1 << 18
	maxFolded = 1 << 20
)

// maxErrors bounds how many errors are listed.
const maxErrors = 20

func (im *importer) run() (*ir.Graph, error) {
	im.names, im.specs, im.unknown = namer{}, map[string]*opSpec{}, map[string]*unknownOp{}
	for _, s := range slices.Concat(opTable(), quantTable()) {
		im.specs[s.name] = &s
	}
	im.findContainers()
	if err := im.order(); err != nil {
		return nil, err
	}
	im.findUsed()
	if err := im.defineInits(); err != nil {
		return nil, err
	}
	if err := im.defineInputs(); err != nil {
		return nil, err
	}
	for i := range im.model.graph.nodes {
		if im.live[i] {
			im.convert(&im.model.graph.nodes[i])
		}
	}
	if err := im.failed(); err != nil {
		return nil, err
	}
	for _, o := range im.model.graph.outputs {
		if err := im.output(o.name); err != nil {
			return nil, err
		}
	}
	im.nameConstants()
	im.g.Origin = im.origin()
	return im.g, im.g.Check()
}

// failed reports all failures at once, unsupported operations first and in one error.
func (im *importer) failed() error {
	var all diag.List
	if len(im.unknowns) > 0 {
		nodes := 0
		for _, u := range im.unknowns {
			nodes += u.count
		}
		e := diag.New(source.CodeOp, im.base, "%d operations in %d nodes are not supported", len(im.unknowns), nodes)
		if len(im.unknowns) == 1 {
			e.Msg = fmt.Sprintf("operation %s is not supported", im.unknowns[0].op)
		}
		for _, u := range im.unknowns[:min(len(im.unknowns), maxErrors)] {
			note := fmt.Sprintf("%s: %d nodes, the first is %s", u.op, u.count, quote(u.first))
			if u.count == 1 {
				note = fmt.Sprintf("%s: node %s", u.op, quote(u.first))
			}
			if near := nearest(u.op, opNames()); near != "" {
				note += "; nearest supported operation: " + near
			}
			e.Notes = append(e.Notes, note)
		}
		all = append(all, e.WithHint("lathe list ops shows what is supported"))
	}
	more := len(im.errs) - maxErrors
	all = append(all, im.errs[:min(len(im.errs), maxErrors)]...)
	if more > 0 {
		all[len(all)-1] = all[len(all)-1].WithNote("and %d more errors", more)
	}
	return all.Err()
}

// report keeps an error for failed.
func (im *importer) report(err error) {
	var d *diag.Error
	if !errors.As(err, &d) {
		d = diag.New(source.CodeFold, im.base, "%v", err)
	}
	im.errs = append(im.errs, d)
}

// defineInits makes values of the initializers; their data stay unread.
func (im *importer) defineInits() error {
	for i := range im.model.graph.inits {
		t := &im.model.graph.inits[i]
		if t.name == "" {
			return t.fail(source.CodeUndefined, "is an initializer")
		}
		im.values[t.name] = &value{name: t.name, shape: t.dims, typ: storage(t.dtype), tensor: t}
	}
	return nil
}

// defineInputs makes an input node of each graph input that is no initializer.
func (im *importer) defineInputs() error {
	b := binder{opts: im.opts, dims: map[string]int{}}
	var open []*valueInfo
	for i := range im.model.graph.inputs {
		if v := &im.model.graph.inputs[i]; im.values[v.name] == nil {
			open = append(open, v)
		}
	}
	shapes, err := b.bind(open)
	if err != nil {
		return err
	}
	for i, v := range open {
		typ := storage(v.dtype)
		if !isFloat(typ) {
			if !im.used[v.name] {
				continue
			}
			im.report(diag.New(source.CodeDType, im.base, "input %s has elements of type %s; only real numbers are supported",
				quote(v.name), dtypeName(v.dtype)))
			im.values[v.name] = &value{name: v.name, bad: true}
			continue
		}
		n, err := op.New(op.Input, im.names.take(v.name, "input"), im.base+": "+v.name+" (input)", &ir.Input{})
		if err != nil {
			return err
		}
		n.Type = ir.Float(shapes[i]...)
		im.g.Nodes, im.g.In = append(im.g.Nodes, n), append(im.g.In, n)
		im.values[v.name] = &value{name: v.name, shape: shapes[i], typ: ir.F32, node: n}
	}
	return nil
}

// findUsed collects the names that live nodes and outputs read.
func (im *importer) findUsed() {
	im.used = make(map[string]bool, len(im.values))
	for i, n := range im.model.graph.nodes {
		if im.live[i] {
			for _, in := range n.in {
				im.used[in] = true
			}
		}
	}
	for _, o := range im.model.graph.outputs {
		im.used[o.name] = true
	}
}

func (im *importer) output(name string) error {
	v := im.values[name]
	if v == nil || v.bad {
		return diag.New(source.CodeUndefined, "", "output %s is computed by no node", quote(name))
	}
	if v.quant != nil {
		return diag.New(source.CodeQuantForm, "", "output %s is integer codes", quote(name)).
			WithHint("end the model with a DequantizeLinear; --codes writes the codes of outputs")
	}
	n, err := im.materialize(v, "")
	if err != nil {
		return err
	}
	im.g.Out = append(im.g.Out, ir.Output{Name: name, Node: n})
	return nil
}

// convert makes the graph nodes, or the constants, that n stands for.
func (im *importer) convert(n *node) {
	c := &call{importer: im, n: n, label: im.label(n)}
	for _, o := range n.out {
		if o != "" {
			im.values[o] = &value{name: o, bad: true}
		}
	}
	if c.refused(qualified(n)) {
		im.report(c.err)
		return
	}
	spec := im.spec(n)
	if spec == nil {
		return
	}
	for _, in := range n.in {
		if in == "" {
			c.in = append(c.in, nil)
			continue
		}
		v := im.values[in]
		if v == nil || v.bad {
			return
		}
		c.in = append(c.in, v)
	}
	done := c.onCodes()
	if c.check(spec); c.err == nil && !c.fold(spec) {
		c.apply(spec)
	}
	done()
	if c.err != nil {
		im.report(c.err)
	}
}

// spec finds the row of an operation, or counts it as unsupported.
func (im *importer) spec(n *node) *opSpec {
	name := qualified(n)
	if spec := im.specs[name]; spec != nil {
		return spec
	}
	u := im.unknown[name]
	if u == nil {
		u = &unknownOp{op: name, first: im.label(n)}
		im.unknown[name] = u
		im.unknowns = append(im.unknowns, u)
	}
	u.count++
	return nil
}

// charge takes n elements from the budget of constant expressions.
func (im *importer) charge(n int) bool {
	if n > maxResult || n > im.budget {
		return false
	}
	im.budget -= n
	return true
}

// constantOf returns the elements of a small constant; ok is false if v is none, or too large to be worth reading.
func (im *importer) constantOf(v *value) (k *konst, ok bool, err error) {
	switch {
	case v.known != nil:
		return v.known, true, nil
	case v.tensor == nil:
		return nil, false, nil
	}
	if v.typ == "" {
		_, err := v.tensor.blob(&im.ext)
		return nil, false, err
	}
	if !im.charge((ir.Type{Shape: v.shape}).Elems()) {
		return nil, false, nil
	}
	b, err := v.tensor.blob(&im.ext)
	if err != nil {
		return nil, false, err
	}
	k, err = readKonst(b, v.shape)
	v.known = k
	return k, err == nil, err
}

// materialize returns the node that computes v; a constant gets one when it is first read. Name is for constants that
// have none in the file.
func (im *importer) materialize(v *value, name string) (*ir.Node, error) {
	if v.node != nil {
		return v.node, nil
	}
	if v.tensor == nil && v.known == nil {
		return nil, diag.New(source.CodeUndefined, "", "value %s has no producer", quote(v.name))
	}
	if v.typ != "" && !isFloat(v.typ) {
		return nil, diag.New(source.CodeDType, "", "%s holds %s values where real numbers are needed", quote(v.name), v.typ)
	}
	if slices.Contains(v.shape, 0) {
		return nil, diag.New(source.CodeDims, "", "constant %s has the shape %s: no elements", quote(v.name),
			ir.ShapeString(v.shape))
	}
	var b *ir.Blob
	var err error
	if v.tensor != nil {
		b, err = v.tensor.blob(&im.ext)
	} else {
		b, err = v.known.blob()
	}
	if err != nil {
		return nil, err
	}
	if v.name != "" {
		name = v.name
	}
	v.node = im.constant(b, v.shape, name)
	return v.node, v.known.mark(v.node)
}

// constant appends a constant node; its final name is given at the end.
func (im *importer) constant(b *ir.Blob, shape []int, name string) *ir.Node {
	n := &ir.Node{
		Name: name, Op: op.Const, Attrs: &ir.Const{Data: b}, Type: ir.Float(shape...),
		Pos: im.base + ": " + name + " (initializer)",
	}
	im.g.Nodes = append(im.g.Nodes, n)
	return n
}

// nameConstants names the constants last, so that they never take the name of another node.
func (im *importer) nameConstants() {
	for _, n := range im.g.Nodes {
		if n.IsConst() {
			n.Name = im.names.take(n.Name, "const")
		}
	}
}
