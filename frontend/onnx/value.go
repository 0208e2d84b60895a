// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// value is what an ONNX name stands for: a node, or a constant of the file that no node has read yet.
type value struct {
	name   string
	dtype  int64          // the ONNX element type
	node   *ir.Node       // nil before a constant is read, and where the producer failed
	tensor *tensor        // a constant stored in the file
	flip   *ir.Node       // the transpose of a constant matrix, once a node reads it
	bad    bool           // the producer failed, and that is reported already
	quant  *coding.Scheme // of codes that are computed: node then gives the numbers that they stand for
	clip   *coding.Scheme // of constant codes: the range that a Clip leaves of their type
}

func (v *value) shape() []int {
	if v.node == nil && v.tensor != nil {
		return v.tensor.dims
	}
	if v.node == nil {
		return nil
	}
	return v.node.Type.Shape
}

// constant says that the value does not depend on the inputs of the graph.
func (v *value) constant() bool {
	return v.node == nil && v.tensor != nil || v.node != nil && v.node.IsConst()
}

// load returns the node that computes v; a constant of the file becomes one when it is first read.
func (im *importer) load(v *value) (*ir.Node, error) {
	if v.node != nil {
		return v.node, nil
	}
	if v.tensor == nil {
		return nil, diag.New(diag.UndefinedValue, "", "value %s has no producer", quote(v.name))
	}
	data, err := v.tensor.blob(&im.ext)
	if err != nil {
		return nil, err
	}
	n, err := im.b.Stored(v.name, data, v.tensor.dims, build.Unsaid(v.tensor.dims))
	if err != nil {
		return nil, err
	}
	n.Pos = im.base + ": " + v.name + " (initializer)"
	v.node = n
	return n, nil
}

// dtypeOf is the ONNX type of elements of a format in float graphs; similar is that of an operand, which tells float
// types and those apart that have one format.
func dtypeOf(f format.Format, similar int64) int64 {
	if t := storage(similar); t != "" && ir.FormatOf(t) == f {
		return similar
	}
	stored := ir.StoredAs(f)
	for d, t := range dtypes {
		if t.typ == stored && stored != "" {
			return int64(d)
		}
	}
	return 0
}

// maxSmall bounds the elements of constants that are read as parameters: shapes, indices, scales.
const maxSmall = 1 << 20

// fixed returns input i, which must be a constant of some elements, not too many.
func (c *call) fixed(i int, what string) *ir.Node {
	if c.err != nil {
		return nil
	}
	v := c.in[i]
	if !v.constant() {
		if c.known(v.node) {
			c.fail(diag.ModelLimit, "%s (%s) is too large", what, quote(v.name))
		} else {
			c.fail(diag.DataDependent, "%s (%s) is computed at run time, it must be constant", what, quote(v.name)).
				Hint = "--bind F.npz makes constants of inputs; else export the model for inputs of fixed sizes"
		}
		return nil
	}
	n := c.arg(i)
	if c.err == nil && n.Type.Elems() > maxSmall {
		c.fail(diag.ModelLimit, "%s (%s) is too large", what, quote(v.name))
	}
	if c.err != nil {
		return nil
	}
	return n
}

// known says that n depends on no input: constants that were too large to be evaluated.
func (c *call) known(n *ir.Node) bool {
	seen := map[*ir.Node]bool{}
	for stack := []*ir.Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == nil || n.IsInput() {
			return false
		}
		if !seen[n] {
			seen[n] = true
			stack = append(stack, n.Args...)
		}
	}
	return true
}

// list reads input i as a list of integers.
func (c *call) list(i int, what string) []int64 {
	n := c.fixed(i, what)
	if n == nil {
		return nil
	}
	v, ok := build.Ints(n)
	if !ok || len(n.Type.Shape) > 1 {
		c.fail(diag.BadElementType, "%s must be a list of integers, not %s of %s", what, ir.ShapeString(n.Type.Shape),
			dtypeName(c.in[i].dtype))
		return nil
	}
	return v
}

// numbers reads input i as real numbers, whatever its type.
func (c *call) numbers(i int, what string) []float64 {
	n := c.fixed(i, what)
	if n == nil {
		return nil
	}
	v, ok := build.Floats(n)
	if !ok {
		c.fail(diag.DataDependent, "%s cannot be read", what)
	}
	return v
}

// scalar reads input i as one number.
func (c *call) scalar(i int, what string) float64 {
	v := c.numbers(i, what)
	if c.err != nil {
		return 0
	}
	if len(v) != 1 {
		c.fail(diag.OperandShapes, "%s has shape %s, it must be one number", what, ir.ShapeString(c.shape(i)))
		return 0
	}
	return v[0]
}

// size reads input i as a shape: up to 16 sizes that are not negative and not too large together.
func (c *call) size(i int, what string) []int {
	list := c.list(i, what)
	if len(list) > maxRank {
		c.fail(diag.ModelLimit, "%s has %d dimensions, the limit is %d", what, len(list), maxRank)
		return nil
	}
	shape := make([]int, len(list))
	for k, v := range list {
		shape[k] = int(v)
	}
	if err := ir.CheckShape(shape); err != nil && c.err == nil {
		c.fail(diag.BadDimension, "%v", err)
	}
	return shape
}

// uniform is the number that all elements of constant input i are; false if they differ or the input is no constant.
func (c *call) uniform(i int) (float32, bool) {
	if c.err != nil || !c.in[i].constant() || c.in[i].quant != nil {
		return 0, false
	}
	n := c.arg(i)
	if c.err != nil || n.Type.Elems() == 0 || n.Type.Elems() > maxSmall {
		return 0, false
	}
	v, ok := n.Uniform()
	return float32(v), ok
}
