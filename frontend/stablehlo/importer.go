// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"errors"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
)

// importer turns the functions of a module into a graph.
type importer struct {
	*syntax.File
	b     *build.Builder
	opts  source.Options
	funcs map[string]*function
	specs map[string]*spec
	// stack are the functions that are being inlined, outermost first.
	stack []string
	depth int // of regions and calls
	work  int // operations converted, those of every call and iteration
	sums  map[*ir.Node]partialSum
	source.Failures
}

// sum says that a node is count times a mean.
type partialSum struct {
	mean  *ir.Node
	count int
}

// value is what a name stands for: a node whose shape broadcasts to dims, which it has in full once an operation needs
// all elements. node is nil where the operation that should give it failed, which is reported already, and for tokens.
type value struct {
	node *ir.Node
	dims []int
}

func wholeValue(n *ir.Node) value {
	if n == nil {
		return value{}
	}
	return value{n, n.Type.Shape}
}

// Limits on regions within each other, and on operations after inlining and unrolling.
const (
	maxDepth = 128
	maxWork  = 1 << 19
)

// scope is the values of a function, or of a region, which sees those around it.
type scope struct {
	values map[string]value
	outer  *scope
	// path is what the names of nodes begin with: where the function was called.
	path string
}

func (s *scope) find(name string) (value, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return value{}, false
}

// inner is a scope for a region of s.
func (s *scope) inner() *scope { return &scope{map[string]value{}, s, s.path} }

func (im *importer) run() (*ir.Graph, error) {
	for _, s := range table() { // not a variable: conversions of regions look operations up
		im.specs[s.name] = &s
	}
	entry, err := im.collect()
	if err != nil {
		return nil, err
	}
	args, err := im.inputs(entry)
	if err != nil {
		return nil, err
	}
	if im.opts.Outputs != nil {
		err = im.endAt(entry, args)
	} else {
		err = im.results(entry, args)
	}
	if err != nil {
		return nil, err
	}
	im.b.Origin().Format = "StableHLO"
	g, err := im.b.Finish()
	if err == nil {
		build.GuessBuffers(g)
	}
	return g, err
}

// results converts the entry and makes outputs of what it returns.
func (im *importer) results(entry *function, args []value) error {
	results, err := im.body(entry, args, "")
	if err := im.failed(err); err != nil {
		return err
	}
	names := im.outputNames(entry, len(results))
	for i, v := range results {
		n, err := im.expand(v, names[i])
		if err != nil {
			return err
		}
		im.b.OutputAs(names[i], n, im.resultStorage(entry, i))
	}
	return nil
}

// block converts the operations of a block and returns what its last one returns.
func (im *importer) block(sc *scope, ops []syntax.Op) ([]value, error) {
	im.depth++
	defer func() { im.depth-- }()
	if im.depth > maxDepth {
		return nil, diag.New(diag.ModelLimit, im.Name, "regions and calls are nested more than %d deep", maxDepth)
	}
	for i := range ops {
		op := &ops[i]
		if im.Reported() > 2*source.MaxErrors { // the first ones are told
			return nil, im.failed(nil)
		}
		if im.work++; im.work > maxWork {
			return nil, im.Errorf(diag.ModelLimit, op.At, "more than %d operations after calls and loops are written out",
				maxWork)
		}
		switch op.Name {
		case "return", "func.return", "stablehlo.return", "mhlo.return":
			if i < len(ops)-1 {
				return nil, im.Errorf(diag.MLIRSyntax, ops[i+1].At, "%s stands behind the return", ops[i+1].Name)
			}
			return im.returned(sc, op)
		}
		im.convert(sc, op)
	}
	return nil, diag.New(diag.NoOutputs, im.Name, "a function or region returns nothing")
}

// returned are the values that a block returns, of the types that the text states.
func (im *importer) returned(sc *scope, op *syntax.Op) ([]value, error) {
	c := &call{importer: im, in: im.Instr(op), sc: sc}
	var out []value
	for _, name := range c.in.Operands {
		v, ok := sc.find(name)
		if !ok {
			return nil, im.Errorf(diag.UndefinedValue, op.At, "%%%s is not defined", name)
		}
		out = append(out, v)
	}
	if types := c.in.Types.In; len(types) != len(out) {
		c.fail(diag.OperandTypes, "%d values have %d types", len(out), len(types))
	} else {
		for i, t := range types {
			c.sameType(t, out[i], "value")
		}
	}
	return out, c.err
}

// convert makes the nodes, or constants, that an operation stands for, and defines its results.
func (im *importer) convert(sc *scope, op *syntax.Op) {
	c := &call{importer: im, in: im.Instr(op), sc: sc}
	define := func() {
		for i, name := range op.Results {
			v := value{}
			if i < len(c.outs) && c.err == nil {
				v = c.outs[i]
			}
			if _, twice := sc.values[name]; twice {
				im.report(im.Errorf(diag.DuplicateName, op.At, "%%%s is defined twice", name))
			}
			sc.values[name] = v
		}
	}
	defer define()
	s := im.specs[op.Name]
	if s == nil {
		im.count(sc, c, op)
		return
	}
	if !c.operands() {
		return
	}
	if c.check(s); c.err == nil {
		im.b.Unsigned(func() {
			c.markUnsigned()
			s.convert(c)
		})
	}
	c.checkResults()
	if c.err != nil {
		im.report(c.err)
	}
}

// count counts an operation that no table knows.
func (im *importer) count(sc *scope, c *call, op *syntax.Op) {
	at := im.Position(op.At)
	if place := c.place(""); place != "" {
		at += " (" + place + ")"
	}
	im.Unknown(op.Name, at)
}

// report keeps an error for failed.
func (im *importer) report(err error) { im.Report(err, diag.UnsupportedForm, im.Name) }

// failed reports all failures at once, or last where there is none.
func (im *importer) failed(last error) error {
	err := im.Err(im.Name, func(op string) string { return diag.Nearest(op, opNames()) }, "")
	if err == nil {
		return last
	}
	return err
}

// positioned gives an error without a place in the text that of an operation.
func (im *importer) positioned(err error, code diag.Code, at int) error {
	var d *diag.Error
	if !errors.As(err, &d) {
		return im.Errorf(code, at, "%v", err)
	}
	moved := *d
	if moved.Pos != "" && moved.Pos != im.Name {
		moved.Notes = append(moved.Notes[:len(moved.Notes):len(moved.Notes)], "at "+moved.Pos)
	}
	moved.Pos = im.Position(at)
	return &moved
}
