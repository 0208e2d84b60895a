// SPDX-License-Identifier: Apache-2.0

package hlo

import "slices"

// Integer sums of products travel in the fastest element type in which they are exact. Measured on four cores for 1,024
// rows by 1,024 columns over 1,024 terms: i8 operands into i32 4 ms, f32 11, f64 130, i32 170, i64 500 to 16,000; for a
// 3x3 convolution of 64 into 64 channels: f32 26 ms, i32, f64 and i64 about 450. Sums in f32 and f64 are exact in any
// order as long as the absolute values add up to no more than 2^24 or 2^53.

const (
	// shortSum is the number of terms of a convolution below which i32 is faster than f32.
	shortSum = 96
	// maxTaps is the largest depthwise kernel that is written out tap by tap, 10 to 40 times faster than one
	// convolution.
	maxTaps = 64
)

// DotInt is DotGeneral on integers, exact, given that sum |x|*|y| < 2^bits with bits up to 63. The result is I32 up to
// 31 bits, else I64. Operands that both fit I8 should come as I8.
func (b *Builder) DotInt(x, y Value, d Dot, bits int) Value {
	carrier, ok := b.exactCarrier("dot", x, y, bits)
	if !ok {
		return Value{}
	}
	if bits <= 31 && x.typ.DType == I8 && y.typ.DType == I8 {
		return b.DotGeneral(x, y, d, I32).exact()
	}
	v := b.DotGeneral(b.Convert(x, carrier), b.Convert(y, carrier), d, carrier).exact()
	return b.Convert(v, resultOf(bits))
}

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

// exactCarrier picks an element type in which sums below 2^bits are exact. Integers may wrap on the way, as the final
// sum is right modulo the word; a float operand too large for its type can only meet zeros.
func (b *Builder) exactCarrier(op string, x, y Value, bits int) (DType, bool) {
	if !b.sound(op, x, y) {
		return "", false
	}
	switch {
	case !x.typ.DType.IsInt() || !y.typ.DType.IsInt():
		b.failf("%s: %s by %s are not integers", op, x.typ, y.typ)
	case bits <= 24:
		return F32, true
	case bits <= 31:
		return I32, true
	case bits <= 53:
		return F64, true
	case bits <= 63:
		return I64, true
	default:
		b.failf("%s: sums of %d bits do not fit 63", op, bits)
	}
	return "", false
}

// resultOf is the element type of an exact sum below 2^bits.
func resultOf(bits int) DType {
	if bits <= 31 {
		return I32
	}
	return I64
}
