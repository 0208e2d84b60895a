// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"fmt"
	"slices"
	"strings"
)

// Conv describes a convolution over n spatial axes. Nil lists stand for 1 (strides, dilations) or 0 (padding)
// everywhere.
type Conv struct {
	// Input, Kernel, Output name the axes: b batch, f feature, o and i output and input feature of the kernel, digits
	// the spatial axes. Empty means channels last: "b01f", "o01i", "b01f" for two spatial axes.
	Input, Kernel, Output string
	Stride                []int
	Low, High             []int // zero padding before and after each spatial axis, may be negative
	InDilation            []int // distance between input elements (transposed convolution)
	KernelDilation        []int
	Groups                int // feature groups, 0 means 1
}

// Convolution slides the kernel over the input without flipping it; products and sums are taken in type out.
func (b *Builder) Convolution(x, kernel Value, c Conv, out DType) Value {
	if !b.sound("convolution", x, kernel) {
		return Value{}
	}
	n := x.typ.Rank() - 2
	c = c.filled(n)
	t, msg := c.infer(x.typ, kernel.typ, out)
	if msg != "" {
		return b.failf("convolution: %s by %s: %s", x.typ, kernel.typ, msg)
	}
	return b.emit(KindConvolution, t, Attrs{Conv: c}, x, kernel)
}

// ConvLast is Convolution of a channels-last input with any leading axes, [..., spatial, C] by [O, spatial, C/groups].
func (b *Builder) ConvLast(x, kernel Value, c Conv) Value {
	return b.overImages(x, kernel, func(x Value) Value { return b.Convolution(x, kernel, c, x.typ.DType) })
}

// overImages joins the leading axes of x [..., spatial, C] into one, and splits them again in the result of f.
func (b *Builder) overImages(x, kernel Value, f func(x Value) Value) Value {
	if !b.sound("convolution", x, kernel) {
		return Value{}
	}
	n := kernel.typ.Rank() - 2
	lead := x.typ.Rank() - n - 1
	if n < 0 || lead < 0 {
		return b.failf("convolution: %s by %s", x.typ, kernel.typ)
	}
	before, after := x.typ.Dims[:lead], x.typ.Dims[lead:]
	v := f(b.Reshape(x, append([]int{Type{Dims: before}.Len()}, after...)...))
	if b.err != nil {
		return Value{}
	}
	return b.Reshape(v, append(slices.Clone(before), v.typ.Dims[1:]...)...)
}

// filled replaces what is left out by its default for n spatial axes.
func (c Conv) filled(n int) Conv {
	n = max(n, 0)
	spatial := "0123456789"[:min(n, 10)]
	defaultText := func(s *string, text string) {
		if *s == "" {
			*s = text
		}
	}
	defaultText(&c.Input, "b"+spatial+"f")
	defaultText(&c.Kernel, "o"+spatial+"i")
	defaultText(&c.Output, "b"+spatial+"f")
	for _, s := range []*[]int{&c.Stride, &c.InDilation, &c.KernelDilation} {
		if *s == nil {
			*s = fill(1, n)
		}
	}
	for _, s := range []*[]int{&c.Low, &c.High} {
		if *s == nil {
			*s = fill(0, n)
		}
	}
	c.Groups = max(c.Groups, 1)
	return c
}

// infer computes the result type, or says what is wrong.
func (c Conv) infer(x, k Type, out DType) (Type, string) {
	n := x.Rank() - 2
	if x.DType != k.DType {
		return Type{}, "element types differ"
	}
	if n < 0 || n > 10 || k.Rank() != n+2 {
		return Type{}, "ranks differ or are below 2"
	}
	for _, s := range [][]int{c.Stride, c.Low, c.High, c.InDilation, c.KernelDilation} {
		if len(s) != n {
			return Type{}, fmt.Sprintf("an attribute has %d entries for %d spatial axes", len(s), n)
		}
	}
	for _, p := range [][2]string{{c.Input, "bf"}, {c.Kernel, "oi"}, {c.Output, "bf"}} {
		if !names(p[0], p[1], n) {
			return Type{}, fmt.Sprintf("axes %q", p[0])
		}
	}
	size := func(t Type, axes string, axis byte) int { return t.Dims[strings.IndexByte(axes, axis)] }
	features := size(k, c.Kernel, 'o')
	if size(x, c.Input, 'f') != c.Groups*size(k, c.Kernel, 'i') || features%c.Groups != 0 {
		return Type{}, fmt.Sprintf("channels do not fit %d groups", c.Groups)
	}
	t := Type{out, make([]int, n+2)}
	t.Dims[strings.IndexByte(c.Output, 'b')] = size(x, c.Input, 'b')
	t.Dims[strings.IndexByte(c.Output, 'f')] = features
	for i := range n {
		axis := byte('0' + i)
		w := Window{Size: []int{size(k, c.Kernel, axis)}, Stride: c.Stride[i : i+1],
			Dilation: c.KernelDilation[i : i+1], Low: c.Low[i : i+1], High: c.High[i : i+1]}
		if c.InDilation[i] < 1 {
			return Type{}, fmt.Sprintf("input dilation %d", c.InDilation[i])
		}
		dims, ok := w.slide([]int{stretch(size(x, c.Input, axis), c.InDilation[i])})
		if !ok {
			return Type{}, fmt.Sprintf("window on spatial axis %d", i)
		}
		t.Dims[strings.IndexByte(c.Output, axis)] = dims[0]
	}
	return t, ""
}

// names reports that axes holds each of the two letters and the first n digits once.
func names(axes, two string, n int) bool {
	want := two + "0123456789"[:n]
	if len(axes) != len(want) {
		return false
	}
	for i := range len(want) {
		if strings.Count(axes, want[i:i+1]) != 1 {
			return false
		}
	}
	return true
}

// stretch is the extent of n elements at the given distance.
func stretch(n, distance int) int {
	if n == 0 {
		return 0
	}
	return (n-1)*distance + 1
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

const (
	// shortSum is the number of terms of a convolution below which i32 is faster than f32.
	shortSum = 96
	// maxTaps is the largest depthwise kernel that is written out tap by tap, 10 to 40 times faster than one
	// convolution.
	maxTaps = 64
)

// ConvInt is a channels-last convolution on integers, exact, given that sum |x|*|kernel| < 2^bits (see DotInt). The
// input is [..., spatial, C] with any leading axes, the kernel [O, spatial, C/groups], the result [..., spatial, O].
// c names no axes here.
func (b *Builder) ConvInt(x, kernel Value, c Conv, bits int) Value {
	carrier, ok := b.exactCarrier("convolution", x, kernel, bits)
	if !ok {
		return Value{}
	}
	dims := kernel.typ.Dims
	if len(dims) < 2 {
		return b.failf("convolution: %s by %s", x.typ, kernel.typ)
	}
	terms := Type{Dims: dims[1:]}.Len()
	each := dims[0] == c.Groups && dims[len(dims)-1] == 1 && terms <= maxTaps
	if each || bits <= 31 && terms < shortSum {
		carrier = resultOf(bits)
	}
	x, kernel = b.Convert(x, carrier), b.Convert(kernel, carrier)
	if each {
		return b.overImages(x, kernel, func(x Value) Value { return b.depthwise(x, kernel, c) })
	}
	v := b.overImages(x, kernel, func(x Value) Value { return b.Convolution(x, kernel, c, carrier).exact() })
	return b.Convert(v, resultOf(bits))
}

// depthwise convolves each channel of x [N, spatial, C] with its own kernel [C, spatial, 1], one product a tap.
func (b *Builder) depthwise(x, kernel Value, c Conv) Value {
	n := kernel.typ.Rank() - 2
	c = c.filled(n)
	t, msg := c.infer(x.typ, kernel.typ, x.typ.DType)
	if msg != "" {
		return b.failf("convolution: %s by %s: %s", x.typ, kernel.typ, msg)
	}
	around := func(s []int) []int { return append(append([]int{0}, s...), 0) }
	inner := around(c.InDilation)
	for i := range n {
		inner[i+1]--
	}
	x = b.Pad(x, b.Int(x.typ.DType, 0), around(c.Low), around(c.High), inner)
	sum := b.BroadcastInDim(b.Int(x.typ.DType, 0), t.Dims, nil)
	for tap := range (Type{Dims: kernel.typ.Dims[1:]}).Len() {
		start, limit, stride := fill(0, n+2), slices.Clone(t.Dims), fill(1, n+2)
		at := slices.Clone(kernel.typ.Dims)
		at[0] = 0
		for rest, i := tap, n-1; i >= 0; i-- {
			size := kernel.typ.Dims[i+1]
			at[i+1], rest = rest%size, rest/size
			start[i+1], stride[i+1] = at[i+1]*c.KernelDilation[i], c.Stride[i]
			limit[i+1] = start[i+1] + max(0, (t.Dims[i+1]-1)*c.Stride[i]+1)
		}
		at[n+1] = 0
		to := slices.Clone(at)
		for i := range to {
			to[i]++
		}
		to[0] = kernel.typ.Dims[0]
		weight := b.Reshape(b.Slice(kernel, at, to, nil), kernel.typ.Dims[0])
		sum = b.Add(sum, b.Mul(b.Slice(x, start, limit, stride), b.Along(weight, t.Dims, n+1)))
	}
	return sum
}
