// SPDX-License-Identifier: Apache-2.0

package grad

import (
	"slices"
	"strings"

	"lathe/ir/hlo"
)

// dot contracts the gradient with the other operand over the axes that only that has.
func dot(s *sweep, o *step) []hlo.Value {
	x, y, d := s.arg(o, 0), s.arg(o, 1), o.Attrs.Dot
	out := make([]hlo.Value, 2)
	freeX, freeY := free(x, d.LhsBatch, d.LhsContract), free(y, d.RhsBatch, d.RhsContract)
	batch := len(d.LhsBatch)
	if s.wants(o, 0) {
		out[0] = s.side(o.grad, y, x.Type(), sided{batch, batch + len(freeX), len(freeY), d.RhsBatch, freeY,
			d.LhsBatch, freeX, d.LhsContract, d.RhsContract})
	}
	if s.wants(o, 1) {
		out[1] = s.side(o.grad, x, y.Type(), sided{batch, batch, len(freeX), d.LhsBatch, freeX,
			d.RhsBatch, freeY, d.RhsContract, d.LhsContract})
	}
	return out
}

// sided says how the gradient of one operand of a product comes about.
type sided struct {
	batch       int // axes of the gradient that lead it
	at, count   int // its axes that only the other operand has
	otherBatch  []int
	otherFree   []int
	ownBatch    []int
	ownFree     []int
	ownContract []int
	contract    []int // axes of the other operand, in the order of ownContract
}

// side is the gradient of the operand of type own.
func (s *sweep) side(g, other hlo.Value, own hlo.Type, d sided) hlo.Value {
	lead, over := seq(0, d.batch), seq(d.at, d.count)
	v := s.DotGeneral(s.Convert(g, other.Type().DType), other, hlo.Dot{LhsContract: over, RhsContract: d.otherFree,
		LhsBatch: lead, RhsBatch: d.otherBatch}, g.Type().DType)
	// The axes of v: those of the batch, those that own alone has, those of other that were contracted, in its order.
	order := slices.Concat(d.ownBatch, d.ownFree)
	for _, a := range slices.Sorted(slices.Values(d.contract)) {
		order = append(order, d.ownContract[slices.Index(d.contract, a)])
	}
	perm := make([]int, len(order))
	for i, a := range order {
		perm[a] = i
	}
	return s.Convert(s.Transpose(v, perm...), own.DType)
}

// free are the axes of v that are in neither list.
func free(v hlo.Value, batch, contract []int) []int {
	return slices.DeleteFunc(seq(0, v.Type().Rank()), func(a int) bool {
		return slices.Contains(batch, a) || slices.Contains(contract, a)
	})
}

func seq(from, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = from + i
	}
	return out
}

// convolution is computed group by group, but for kernels of one channel each, whose taps are few.
func convolution(s *sweep, o *step) []hlo.Value {
	c := o.Attrs.Conv
	x, w := s.arg(o, 0), s.arg(o, 1)
	f, k := strings.IndexByte(c.Input, 'f'), strings.IndexByte(c.Kernel, 'o')
	out := make([]hlo.Value, 2)
	each := w.Type().Dims[strings.IndexByte(c.Kernel, 'i')] == 1 && w.Type().Dims[k] == c.Groups && c.Groups > 1
	switch {
	case c.Groups == 1 || each:
		if s.wants(o, 0) {
			out[0] = s.toInput(o.grad, w, x.Type(), c)
		}
		if s.wants(o, 1) && each {
			out[1] = s.toTaps(o.grad, x, w.Type(), c)
		} else if s.wants(o, 1) {
			out[1] = s.toKernel(o.grad, x, w.Type(), c)
		}
		return out
	}
	groups := c.Groups
	c.Groups = 1
	var dx, dw []hlo.Value
	for i := range groups {
		part := func(v hlo.Value, axis int) hlo.Value {
			n := v.Type().Dims[axis] / groups
			return s.SliceAxis(v, axis, i*n, (i+1)*n)
		}
		g, xi, wi := part(o.grad, strings.IndexByte(c.Output, 'f')), part(x, f), part(w, k)
		if s.wants(o, 0) {
			dx = append(dx, s.toInput(g, wi, xi.Type(), c))
		}
		if s.wants(o, 1) {
			dw = append(dw, s.toKernel(g, xi, wi.Type(), c))
		}
	}
	if dx != nil {
		out[0] = s.Concat(f, dx...)
	}
	if dw != nil {
		out[1] = s.Concat(k, dw...)
	}
	return out
}

// toInput is the gradient of the input: the gradient of the result, spread by the stride, convolved with the kernel
// turned round, whose inputs and outputs change places.
func (s *sweep) toInput(g, w hlo.Value, x hlo.Type, c hlo.Conv) hlo.Value {
	n := len(c.Stride)
	var turned []int
	back := hlo.Conv{Input: c.Output, Output: c.Input, Kernel: swapped(c.Kernel), Stride: c.InDilation,
		InDilation: c.Stride, KernelDilation: c.KernelDilation, Groups: c.Groups}
	if c.Groups > 1 {
		back.Kernel = c.Kernel // one channel each
	}
	for i := range n {
		axis := byte('0' + i)
		turned = append(turned, strings.IndexByte(c.Kernel, axis))
		size := w.Type().Dims[strings.IndexByte(c.Kernel, axis)]
		out := g.Type().Dims[strings.IndexByte(c.Output, axis)]
		in := x.Dims[strings.IndexByte(c.Input, axis)]
		reach := (size - 1) * c.KernelDilation[i]
		low := reach - c.Low[i]
		back.Low = append(back.Low, low)
		back.High = append(back.High, extent(in, c.InDilation[i])+reach-low-extent(out, c.Stride[i]))
	}
	return s.Convolution(g, s.Reverse(w, turned...), back, x.DType)
}

// swapped is the axes of a kernel with inputs for outputs.
func swapped(axes string) string {
	return strings.NewReplacer("i", "o", "o", "i").Replace(axes)
}

// toKernel is the gradient of the kernel: the input convolved with the gradient of the result, which are summed over
// the samples; what stands to be moved over are the taps.
func (s *sweep) toKernel(g, x hlo.Value, w hlo.Type, c hlo.Conv) hlo.Value {
	// Samples are contracted as features are; features of the input and of the result become samples and features.
	asKernel := strings.NewReplacer("b", "i", "f", "o").Replace(c.Output)
	v := hlo.Conv{Input: strings.NewReplacer("b", "f", "f", "b").Replace(c.Input), Kernel: asKernel,
		Output: strings.NewReplacer("i", "b", "o", "f").Replace(c.Kernel), Stride: c.KernelDilation,
		InDilation: c.InDilation, KernelDilation: c.Stride}
	for i := range len(c.Stride) {
		axis := byte('0' + i)
		size := w.Dims[strings.IndexByte(c.Kernel, axis)]
		out := g.Type().Dims[strings.IndexByte(c.Output, axis)]
		in := x.Type().Dims[strings.IndexByte(c.Input, axis)]
		v.Low = append(v.Low, c.Low[i])
		v.High = append(v.High,
			(size-1)*c.KernelDilation[i]+extent(out, c.Stride[i])-extent(in, c.InDilation[i])-c.Low[i])
	}
	return s.Convolution(x, g, v, w.DType)
}

// toTaps is toKernel of kernels of one channel each: a product and a sum a tap.
func (s *sweep) toTaps(g, x hlo.Value, w hlo.Type, c hlo.Conv) hlo.Value {
	n := len(c.Stride)
	rank := x.Type().Rank()
	at := func(axes string, i int) int { return strings.IndexByte(axes, byte('0'+i)) }
	low, high, inner := make([]int, rank), make([]int, rank), make([]int, rank)
	for i := range n {
		a := at(c.Input, i)
		low[a], high[a], inner[a] = c.Low[i], c.High[i], c.InDilation[i]-1
	}
	padded := s.Pad(x, s.num(x, 0), low, high, inner)
	toOutput := make([]int, rank) // of the axes of x, in the order of the result
	for i := range rank {
		toOutput[i] = strings.IndexByte(c.Input, c.Output[i])
	}
	feature := strings.IndexByte(c.Output, 'f')
	others := slices.DeleteFunc(seq(0, rank), func(a int) bool { return a == feature })
	var taps []hlo.Value
	sizes := make([]int, n)
	for i := range n {
		sizes[i] = w.Dims[at(c.Kernel, i)]
	}
	for tap := range (hlo.Type{Dims: sizes}).Len() {
		start, limit, stride := make([]int, rank), slices.Clone(padded.Type().Dims), slices.Repeat([]int{1}, rank)
		for rest, i := tap, n-1; i >= 0; i-- {
			a := at(c.Input, i)
			start[a], rest = rest%sizes[i]*c.KernelDilation[i], rest/sizes[i]
			stride[a] = c.Stride[i]
			limit[a] = start[a] + extent(g.Type().Dims[at(c.Output, i)], c.Stride[i])
		}
		v := s.Mul(s.Transpose(s.Slice(padded, start, limit, stride), toOutput...), g)
		taps = append(taps, s.Reshape(s.Reduce(hlo.ReduceAdd, v, others...), c.Groups, 1))
	}
	return s.kernelOf(taps, sizes, w, c)
}

// kernelOf puts taps, each a column of one number a channel, into the order of the axes of a kernel.
func (s *sweep) kernelOf(taps []hlo.Value, sizes []int, w hlo.Type, c hlo.Conv) hlo.Value {
	v := s.Reshape(s.Concat(1, taps...), append(append([]int{c.Groups}, sizes...), 1)...)
	perm := make([]int, len(c.Kernel))
	for a := range c.Kernel {
		switch axis := c.Kernel[a]; axis {
		case 'o':
			perm[a] = 0
		case 'i':
			perm[a] = len(sizes) + 1
		default:
			perm[a] = int(axis-'0') + 1
		}
	}
	return s.Convert(s.Transpose(v, perm...), w.DType)
}
