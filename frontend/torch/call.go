// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"errors"
	"math"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// row is an operation of the table: its overloads, the names of its arguments in the order of the schema, and what
// makes nodes of it. Arguments that stand at their defaults are absent in archives, so that the converters hold those.
type row struct {
	targets, args string
	convert       func(c *call)
}

// call is one operation on its way into the graph. The first error sticks: later steps do nothing and return zero
// values, so that converters read without error handling.
type call struct {
	*importer
	n       *node
	args    []string
	place   build.Place
	inplace bool
	views   bool   // the results share memory with the first argument
	write   writer // of views, see value
	done    int    // results that are defined
	err     *diag.Error
}

// fail sets the error if there is none yet.
func (c *call) fail(code diag.Code, msg string, args ...any) *diag.Error {
	if c.err == nil {
		c.err = diag.New(code, "", msg, args...)
		return c.err
	}
	return diag.New(code, "", "")
}

// wrap sets the error to one from elsewhere. Errors of the IR about shapes and formats are this importer's own.
func (c *call) wrap(err error) {
	if err == nil || c.err != nil {
		return
	}
	var d *diag.Error
	if !errors.As(err, &d) {
		c.fail(diag.UnsupportedForm, "%v", err)
		return
	}
	e := *d
	switch {
	case e.Code == diag.FloatValueType:
		e.Code, e.Pos = diag.BadElementType, ""
	case e.Code.Graph():
		e.Code, e.Pos = diag.OperandShapes, ""
	}
	c.err = &e
}

// check refuses arguments that the operation does not have.
func (c *call) check() {
	for _, in := range c.n.in {
		if in.name != "" && !slices.Contains(c.args, in.name) {
			e := c.fail(diag.BadAttribute, "has an argument %s, which is not known", source.Quote(in.name))
			if near := diag.Nearest(in.name, c.args); near != "" {
				e.Hint = "did the archive mean " + near + "?"
			}
		}
	}
}

// readsBad says that an argument failed already.
func (c *call) readsBad() bool {
	for _, in := range c.n.in {
		for _, name := range tensorNames(in.arg) {
			if v := c.values[name]; v != nil && v.bad {
				return true
			}
		}
	}
	return false
}

// tensorNames lists the names of the tensors of an argument; absent ones are "".
func tensorNames(a arg) []string {
	switch a.kind {
	case "as_tensor":
		name, _ := a.v.Get("name").Str()
		return []string{name}
	case "as_optional_tensor":
		return tensorNames(inner(a.v))
	case "as_tensors":
		items, _ := a.v.List()
		names := make([]string, len(items))
		for i := range items {
			names[i], _ = items[i].Get("name").Str()
		}
		return names
	case "as_optional_tensors":
		items, _ := a.v.List()
		names := make([]string, len(items))
		for i := range items {
			if one := tensorNames(inner(&items[i])); len(one) == 1 {
				names[i] = one[0]
			}
		}
		return names
	}
	return nil
}

// inner is a union inside of an argument.
func inner(v *source.JSON) arg {
	r := reader{}
	return r.arg(v)
}

// outs lists the names of the results; "" for those that are no tensors.
func (c *call) outs() []string {
	var names []string
	for _, o := range c.n.out {
		names = append(names, tensorNames(o)...)
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// arg returns the argument called name; false if it is absent or none.
func (c *call) arg(name string) (arg, bool) {
	at := slices.Index(c.args, name)
	for i, in := range c.n.in {
		if (in.name == name || in.name == "" && i == at) && in.arg.kind != "as_none" {
			return in.arg, true
		}
	}
	return arg{}, false
}

// has says that an argument is present.
func (c *call) has(name string) bool {
	_, ok := c.arg(name)
	return ok
}

// need is arg of one that must be there.
func (c *call) need(name string) arg {
	a, ok := c.arg(name)
	if !ok {
		c.fail(diag.OperandCount, "lacks the argument %s", name)
	}
	return a
}

func (c *call) odd(name, want string, a arg) {
	c.fail(diag.BadAttribute, "the argument %s is %s, where %s is needed", name, strings.TrimPrefix(a.kind, "as_"), want)
}

// tensor returns the node of an argument.
func (c *call) tensor(name string) *ir.Node {
	a := c.need(name)
	if c.err != nil {
		return nil
	}
	names := tensorNames(a)
	if len(names) != 1 || names[0] == "" || a.kind == "as_tensors" {
		c.odd(name, "a tensor", a)
		return nil
	}
	n, err := c.nodeOf(names[0])
	c.wrap(err)
	return n
}

// maybe is tensor of an argument that may be absent: nil then.
func (c *call) maybe(name string) *ir.Node {
	a, ok := c.arg(name)
	if !ok || a.kind == "as_optional_tensor" && tensorNames(a) == nil {
		return nil
	}
	return c.tensor(name)
}

// weight is maybe of what must be constant.
func (c *call) weight(name string) *ir.Node {
	n := c.maybe(name)
	if n != nil && !c.constant(n) {
		c.wrap(build.NotConstant(n, "the "+name))
	}
	return n
}

// constant says that a node does not depend on the inputs of the graph. It looks at each node once: graphs have more
// ways than nodes.
func (im *importer) constant(n *ir.Node) bool {
	known, found := im.fixed[n]
	if found {
		return known
	}
	known = !n.IsInput() && !slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !im.constant(a) })
	im.fixed[n] = known
	return known
}

// tensors returns the nodes of a list; nil stands for an absent one.
func (c *call) tensors(name string) []*ir.Node {
	a := c.need(name)
	if c.err != nil {
		return nil
	}
	if a.kind != "as_tensors" && a.kind != "as_optional_tensors" {
		c.odd(name, "a list of tensors", a)
		return nil
	}
	var nodes []*ir.Node
	for _, t := range tensorNames(a) {
		if t == "" {
			nodes = append(nodes, nil)
			continue
		}
		n, err := c.nodeOf(t)
		c.wrap(err)
		nodes = append(nodes, n)
	}
	return nodes
}

// int reads a whole number.
func (c *call) int(name string, def int64) int64 {
	a, ok := c.arg(name)
	if !ok || c.err != nil {
		return def
	}
	n, err := c.whole(a)
	if err != nil {
		c.wrap(err)
		return def
	}
	return n
}

// whole reads a whole number out of an argument.
func (c *call) whole(a arg) (int64, error) {
	switch a.kind {
	case "as_int":
		return a.v.Int()
	case "as_sym_int":
		return c.dims.size(a.v)
	}
	return 0, a.v.Errorf(diag.BadAttribute, "is %s, where a whole number is needed", strings.TrimPrefix(a.kind, "as_"))
}

// ints reads a list of whole numbers; a single one stands for a list of one. Absent, it is nil.
func (c *call) ints(name string) []int {
	a, ok := c.arg(name)
	if !ok || c.err != nil {
		return nil
	}
	items, err := a.v.List()
	if err != nil {
		n, err := c.whole(a)
		c.wrap(err)
		return []int{clampInt(n)}
	}
	out := make([]int, 0, len(items))
	for i := range items {
		var n int64
		switch a.kind {
		case "as_ints":
			n, err = items[i].Int()
		case "as_sym_ints":
			n, err = c.dims.size(&items[i])
		default:
			c.odd(name, "a list of whole numbers", a)
		}
		c.wrap(err)
		out = append(out, clampInt(n))
	}
	return out
}

// clampInt keeps numbers in a range in which sums do not overflow; the ends stand for no bound.
func clampInt(n int64) int { return int(min(max(n, -maxSize), maxSize)) }

// bool reads a truth value.
func (c *call) bool(name string, def bool) bool {
	a, ok := c.arg(name)
	if !ok || c.err != nil {
		return def
	}
	if a.kind != "as_bool" {
		c.odd(name, "a truth value", a)
		return def
	}
	v, err := a.v.Bool()
	c.wrap(err)
	return v
}

// str reads a string.
func (c *call) str(name, def string) string {
	a, ok := c.arg(name)
	if !ok || c.err != nil {
		return def
	}
	v, err := a.v.Str()
	c.wrap(err)
	return v
}

// float reads a number.
func (c *call) float(name string, def float64) float64 {
	if !c.has(name) || c.err != nil {
		return def
	}
	s := c.scalar(name)
	return s.float()
}

// number is a scalar of an operation: a truth value, a whole number or a float.
type number struct {
	kind byte // 'b', 'i', 'f'
	i    int64
	f    float64
}

func (s number) float() float64 {
	if s.kind == 'f' {
		return s.f
	}
	return float64(s.i)
}

// scalar reads a number of any kind. Floats may be the texts Infinity, -Infinity and NaN.
func (c *call) scalar(name string) number {
	a := c.need(name)
	if c.err != nil {
		return number{}
	}
	switch a.kind {
	case "as_bool":
		v, err := a.v.Bool()
		if c.wrap(err); v {
			return number{kind: 'b', i: 1}
		}
		return number{kind: 'b'}
	case "as_float":
		if text, err := a.v.Str(); err == nil {
			for want, f := range map[string]float64{"Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "NaN": math.NaN()} {
				if text == want {
					return number{kind: 'f', f: f}
				}
			}
		}
		f, err := a.v.Float()
		c.wrap(err)
		return number{kind: 'f', f: f}
	case "as_int", "as_sym_int":
		n, err := c.whole(a)
		c.wrap(err)
		return number{kind: 'i', i: n}
	}
	c.odd(name, "a number", a)
	return number{}
}
