// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	"lathe/frontend/layers"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// chain makes the nodes of one operation of the source, of which the result has its name. The first error stays, and
// the nodes behind it are nil.
type chain struct {
	b    *Builder
	at   Place
	err  error
	made []*ir.Node
}

func (b *Builder) chain(at Place) *chain { return &chain{b: b, at: at} }

// do emits a node; part tells it from the others, and may be empty for the one that is the result.
func (c *chain) do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	at := c.at
	if part != "" {
		at = Place{Name: c.at.Name + "." + part, Source: c.at.Source}
	}
	var n *ir.Node
	if n, c.err = c.b.Emit(at, o, attrs, args...); part != "" {
		c.made = append(c.made, n)
	}
	return n
}

// Do and Like make a chain the maker of package unsigned.
func (c *chain) Do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return c.do(part, o, attrs, args...)
}

// Like is a scalar constant in the format of n.
func (c *chain) Like(n *ir.Node, v int64) *ir.Node {
	if c.err != nil {
		return nil
	}
	var k *ir.Node
	k, c.err = c.b.Const(c.at.Name+".const", IntBlob(ir.StoredAs(n.Type.Format), []int64{v}), nil)
	return k
}

// fail ends the chain with an error at the place of the operation.
func (c *chain) fail(code diag.Code, msg string, args ...any) {
	if c.err == nil {
		c.err = diag.New(code, c.b.File+": "+c.at.Name+" ("+c.at.Source+")", msg, args...)
	}
}

// done is the result, or the error. A node that the chain made takes the name of the operation.
func (c *chain) done(n *ir.Node) (*ir.Node, error) {
	if c.err != nil {
		return nil, c.err
	}
	if slices.Contains(c.made, n) {
		c.b.name(n, c.at)
	}
	return n, nil
}

// shape is that of a node, nil behind an error.
func (c *chain) shape(n *ir.Node) []int {
	if c.err != nil {
		return nil
	}
	return n.Type.Shape
}

func (c *chain) reshape(part string, x *ir.Node, shape ...int) *ir.Node {
	if part != "" && c.err == nil && slices.Equal(x.Type.Shape, shape) {
		return x
	}
	return c.do(part, move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(shape)}, x)
}

// transpose permutes axes, if that changes anything.
func (c *chain) transpose(part string, x *ir.Node, perm ...int) *ir.Node {
	if part != "" && slices.IsSorted(perm) {
		return x
	}
	return c.do(part, move.Transpose, &move.TransposeAttrs{Perm: perm}, x)
}

// number is a constant of one element, which broadcasts.
func (c *chain) number(part string, v float64) *ir.Node {
	return c.floats(part, []float32{float32(v)})
}

// floats is a constant.
func (c *chain) floats(part string, values []float32, shape ...int) *ir.Node {
	if c.err != nil {
		return nil
	}
	var n *ir.Node
	n, c.err = c.b.Const(c.at.Name+"."+part, ir.FloatBlob(values), shape)
	return n
}

// axis is an axis of rank axes, negative ones counted from the end.
func (c *chain) axis(axis, rank int) int {
	if axis < -rank || axis >= rank {
		c.fail(diag.BadAttribute, "axis %d is outside the %d axes", axis, rank)
		return 0
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

// Emit and Const make a chain the maker of declared operations.
func (c *chain) Emit(suffix string, o *ir.Op, attrs any, args ...*ir.Node) (*ir.Node, error) {
	n := c.do(suffix, o, attrs, args...)
	return n, c.err
}

// Const is a constant.
func (c *chain) Const(suffix string, data *ir.Blob, shape []int) (*ir.Node, error) {
	return c.b.Const(c.at.Name+"."+suffix, data, shape)
}

// Declared writes a use of an operation that the user has declared, with the attributes that the model gives. The model
// reads so many of its results, at least.
func (b *Builder) Declared(at Place, o *layers.Op, given map[string]string, args []*ir.Node, results int) ([]*ir.Node,
	error) {
	nodes, err := o.Make(b.chain(at), given, args)
	if err == nil && len(nodes) < results {
		return nil, diag.New(diag.OpsUse, "", "%d results; its declaration gives %d", results, len(nodes)).
			WithNote("declared in %s", o.At)
	}
	return nodes, err
}
