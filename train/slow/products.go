// SPDX-License-Identifier: Apache-2.0

package slow

import (
	"math"
	"slices"
	"strings"

	"lathe/internal/workers"
	"lathe/ir/hlo"
)

// dot brings both operands into rows of what is summed, batch by batch.
func dot(o *hlo.Operation, x, y value) value {
	d := o.Attrs.Dot
	v := blank(o.Type)
	batches, inner := 1, 1
	for _, a := range d.LhsBatch {
		batches *= x.t.Dims[a]
	}
	for _, a := range d.LhsContract {
		inner *= x.t.Dims[a]
	}
	if len(v.x) == 0 {
		return v
	}
	left := transpose(x, around(x.t.Rank(), d.LhsBatch, d.LhsContract)).x
	right := transpose(y, around(y.t.Rank(), d.RhsBatch, d.RhsContract)).x
	rows, columns := 1, len(v.x)/batches
	if inner > 0 {
		rows, columns = len(left)/batches/inner, len(right)/batches/inner
	}
	for i := range batches {
		product(v.x[i*rows*columns:(i+1)*rows*columns], left[i*rows*inner:(i+1)*rows*inner],
			right[i*columns*inner:(i+1)*columns*inner], columns, inner, x.t.DType.IsFloat())
	}
	return fit(v, x.t.DType)
}

// around is the order of axes with some in front and some behind.
func around(rank int, first, last []int) []int {
	out := slices.Clone(first)
	for i := range rank {
		if !slices.Contains(first, i) && !slices.Contains(last, i) {
			out = append(out, i)
		}
	}
	return append(out, last...)
}

// product multiplies rows of n elements with rows of n elements.
func product(out, left, right []uint64, columns, n int, floats bool) {
	if len(out) == 0 || n == 0 {
		return
	}
	workers.Ranges(len(out)/columns, grain/(columns*n)+1, func(from, to int) {
		for i := from; i < to; i++ {
			row := left[i*n : (i+1)*n]
			for k := range columns {
				if other := right[k*n : (k+1)*n]; floats {
					out[i*columns+k] = math.Float64bits(sumFloats(row, other))
				} else {
					out[i*columns+k] = uint64(sumWhole(row, other))
				}
			}
		}
	})
}

// sumFloats has two sums, that do not wait for each other.
func sumFloats(x, y []uint64) float64 {
	var even, odd float64
	y = y[:len(x)]
	i := 0
	for ; i+1 < len(x); i += 2 {
		even += float64(math.Float64frombits(x[i]) * math.Float64frombits(y[i]))
		odd += float64(math.Float64frombits(x[i+1]) * math.Float64frombits(y[i+1]))
	}
	if i < len(x) {
		even += float64(math.Float64frombits(x[i]) * math.Float64frombits(y[i]))
	}
	return even + odd
}

func sumWhole(x, y []uint64) int64 {
	var sum int64
	for i, a := range x {
		sum += int64(a) * int64(y[i])
	}
	return sum
}

// fit brings sums of elements of a type into the type of the result.
func fit(v value, from hlo.DType) value {
	w := wordOf(v.t.DType)
	for i, x := range v.x {
		switch {
		case v.t.DType.IsFloat() && from.IsFloat():
			v.x[i] = rounded(v.t.DType, math.Float64frombits(x))
		case v.t.DType.IsFloat():
			v.x[i] = rounded(v.t.DType, float64(int64(x)))
		case from.IsFloat():
			v.x[i] = uint64(truncated(v.t.DType, math.Float64frombits(x)))
		default:
			v.x[i] = uint64(w.wrap(int64(x)))
		}
	}
	return v
}

// convolution writes the elements under each position of the kernel into a row, and multiplies.
func convolution(o *hlo.Operation, x, kernel value) value {
	c := &o.Attrs.Conv
	n := len(c.Stride)
	x = transpose(x, axes(c.Input, "b", "f"))
	kernel = transpose(kernel, axes(c.Kernel, "o", "i"))
	var low, high, inner = []int{0}, []int{0}, []int{0}
	for i := range n {
		low, high, inner = append(low, c.Low[i]), append(high, c.High[i]), append(inner, c.InDilation[i]-1)
	}
	// Dilated before it is padded: a negative padding cuts off what lies between elements, too.
	x = pad(x, 0, append(low, 0), append(high, 0), append(inner, 0))
	order := axes(c.Output, "b", "f")
	dims := make([]int, n+2)
	for i, a := range order {
		dims[i] = o.Type.Dims[a]
	}
	features, terms := dims[n+1]/c.Groups, len(kernel.x)/max(dims[n+1], 1)
	rows := hlo.Type{Dims: dims[:n+1]}.Len()
	v := blank(hlo.Type{DType: o.Type.DType, Dims: dims})
	for g := range c.Groups {
		left := patches(x, kernel.t.Dims, dims, c, g)
		part := make([]uint64, rows*features)
		product(part, left, kernel.x[g*features*terms:(g+1)*features*terms], features, terms, x.t.DType.IsFloat())
		write(v.x, part, []int{rows, features}, []int{dims[n+1], 1}, g*features)
	}
	back := make([]int, n+2)
	for i, a := range order {
		back[a] = i
	}
	return fit(value{o.Type, transpose(v, back).x}, x.t.DType)
}

// axes is where the axes lie that a text names: first, those in space, last.
func axes(text, first, last string) []int {
	out := []int{strings.Index(text, first)}
	for i := range len(text) - 2 {
		out = append(out, strings.IndexByte(text, byte('0'+i)))
	}
	return append(out, strings.Index(text, last))
}

// patches are rows of the elements of x [batch, space, features] that each position of a kernel [out, space, in] meets
// in a group.
func patches(x value, kernel, dims []int, c *hlo.Conv, group int) []uint64 {
	n := len(c.Stride)
	each := strides(x.t.Dims)
	var size, steps []int
	size, steps = append(size, dims[0]), append(steps, each[0])
	for i := range n {
		size, steps = append(size, dims[i+1]), append(steps, each[i+1]*c.Stride[i])
	}
	for i := range n {
		size, steps = append(size, kernel[i+1]), append(steps, each[i+1]*c.KernelDilation[i])
	}
	size, steps = append(size, kernel[n+1]), append(steps, 1)
	return read(x.x, size, steps, group*kernel[n+1])
}
