// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
)

// maxMade bounds the elements of ranges and masks.
const maxMade = 1 << 22

const made = " dtype layout device pin_memory memory_format"

// makers lists the operations that make constants, and those on sizes.
func makers() []row {
	zero, one := number{kind: 'i'}, number{kind: 'i', i: 1}
	return []row{
		{"arange.default", "end" + made, convertArange},
		{"arange.start", "start end" + made, convertArange},
		{"arange.start_step", "start end step" + made, convertArange},
		{"zeros.default", "size" + made, fill(&zero, "size", "")},
		{"ones.default", "size" + made, fill(&one, "size", "")},
		{"full.default", "size fill_value" + made, fill(nil, "size", "")},
		{"new_zeros.default", "self size" + made, fill(&zero, "size", "")},
		{"new_ones.default", "self size" + made, fill(&one, "size", "")},
		{"new_full.default", "self size fill_value" + made, fill(nil, "size", "")},
		{"zeros_like.default", "self" + made, fill(&zero, "", "self")},
		{"ones_like.default", "self" + made, fill(&one, "", "self")},
		{"full_like.default", "self fill_value" + made, fill(nil, "", "self")},
		{"scalar_tensor.default", "s" + made, func(c *call) {
			c.result(c.constantOf(c.scalar("s"), c.outType(nil), "number"))
		}},
		{"eye.default eye.m", "n m" + made, convertEye},
		{"tril.default", "self diagonal", triangle(false)},
		{"triu.default", "self diagonal", triangle(true)},

		{"sym_size.int", "self dim", func(c *call) {
			if x, _, size := c.axisOf("dim", 0); x != nil {
				c.size(int64(size))
			}
		}},
		{"sym_numel.default", "self", func(c *call) { c.size(int64(elems(c.shape(c.tensor("self"))))) }},
		{"_operator.add", "a b", onTwo("add")},
		{"_operator.sub", "a b", onTwo("sub")},
		{"_operator.mul", "a b", onTwo("mul")},
		{"_operator.floordiv", "a b", onTwo("floordiv")},
		{"_operator.mod", "a b", onTwo("mod")},
		{"_operator.pow", "a b", onTwo("pow")},
		{"_operator.neg", "a", func(c *call) { c.size(-c.int("a", 0)) }},
		{"torch.sym_max", "a b", onTwo("max")},
		{"torch.sym_min", "a b", onTwo("min")},
	}
}

// size makes a number the result.
func (c *call) size(n int64) {
	if c.err != nil {
		return
	}
	for _, o := range c.n.out {
		name, err := o.v.Get("as_name").Str()
		if o.kind != "as_sym_int" || err != nil {
			c.fail(diag.ProgramSchema, "gives a size to %s", o.kind)
			return
		}
		c.dims.names[name] = n
	}
}

// onTwo computes a function of two sizes.
func onTwo(f string) func(*call) {
	return func(c *call) {
		a, b := c.int("a", 0), c.int("b", 0)
		n, ok := onSizes(f, a, b)
		if c.err == nil && !ok {
			c.fail(diag.ModelLimit, "%s of the sizes %d and %d has no value within 2^40", f, a, b)
		}
		c.size(n)
	}
}

// fill makes a tensor of one value, fill_value if v is nil: one number that is repeated.
func fill(v *number, size, like string) func(*call) {
	return func(c *call) {
		s := number{}
		if v != nil {
			s = *v
		} else {
			s = c.scalar("fill_value")
		}
		shape := c.ints(size)
		if like != "" {
			shape = c.shape(c.tensor(like))
		}
		c.result(c.broadcast("", c.constantOf(s, c.outType(nil), "number"), shape))
	}
}

// convertArange is start, start + step, ... below end. Whole numbers stay exact.
func convertArange(c *call) {
	start, step := number{kind: 'i'}, number{kind: 'i', i: 1}
	if c.has("start") {
		start = c.scalar("start")
	}
	if c.has("step") {
		step = c.scalar("step")
	}
	end := c.scalar("end")
	n := math.Ceil((end.float() - start.float()) / step.float())
	if c.err == nil && !(n >= 0 && n <= maxMade) {
		c.fail(diag.ModelLimit, "makes a range from %s to %s in steps of %s", diag.Number(start.float(), -1),
			diag.Number(end.float(), -1), diag.Number(step.float(), -1))
	}
	if c.err != nil {
		return
	}
	typ, shape := c.outType(nil), []int{int(n)}
	b := &ir.Blob{}
	if ir.FormatOf(typ) == ir.Float().Format {
		values := make([]float32, int(n))
		for i := range values {
			values[i] = float32(start.float() + float64(i)*step.float())
		}
		b = ir.FloatBlob(values)
	} else {
		values := make([]int64, int(n))
		for i := range values {
			if values[i] = start.i + int64(i)*step.i; start.kind == 'f' || step.kind == 'f' {
				values[i] = int64(start.float() + float64(i)*step.float())
			}
		}
		b = build.IntBlob(typ, values)
	}
	node, err := c.b.Const(c.place.Name, b, shape)
	c.wrap(err)
	c.result(node)
}

func ints(typ ir.DType, values ...int64) *ir.Blob { return build.IntBlob(typ, values) }

// mask is a constant of truth values [rows, cols].
func (c *call) mask(rows, cols int, keep func(i, j int) bool) *ir.Node {
	if c.err == nil && (rows < 0 || cols < 0 || cols > 0 && rows > maxMade/cols) {
		c.fail(diag.ModelLimit, "makes a mask of %d by %d; the limit is %d elements", rows, cols, maxMade)
	}
	if c.err != nil {
		return nil
	}
	values := make([]int64, rows*cols)
	for i := range values {
		if keep(i/cols, i%cols) {
			values[i] = 1
		}
	}
	n, err := c.b.Const(c.place.Name+".mask", build.IntBlob(ir.B1, values), []int{rows, cols})
	c.wrap(err)
	return n
}

func convertEye(c *call) {
	n := c.int("n", 0)
	m := c.int("m", n)
	eye := c.mask(clampInt(n), clampInt(m), func(i, j int) bool { return i == j })
	c.result(c.cast(eye, c.outType(nil)))
}

// triangle keeps what stands on and below a diagonal of the last two axes, or on and above.
func triangle(upper bool) func(*call) {
	return func(c *call) {
		x, d := c.tensor("self"), clampInt(c.int("diagonal", 0))
		if shape := c.shape(x); len(shape) > 1 && elems(shape[len(shape)-2:]) > maxMade {
			c.fail(diag.ModelLimit, "makes a mask of %s; the limit is %d elements", ir.ShapeString(shape[len(shape)-2:]),
				maxMade)
		}
		c.composed(func(at build.Place) (*ir.Node, error) { return c.b.Trilu(at, x, d, upper) }, x)
	}
}
