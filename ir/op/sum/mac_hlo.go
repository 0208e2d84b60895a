// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/composite"
	"lathe/ir/op/geometry"
)

// addBias adds a float bias along an axis of v, if the node has one.
func addBias(b *hlo.Builder, n *ir.Node, args []hlo.Value, v hlo.Value, axis int) (hlo.Value, error) {
	if len(n.Args) < 3 {
		return v, b.Err()
	}
	bias, err := channels(b, n, args, 2, axis)
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Add(v, bias), b.Err()
}

// channels is argument i, one number a channel, repeated over the result of n; axis is that of the channels here.
func channels(b *hlo.Builder, n *ir.Node, args []hlo.Value, i, axis int) (hlo.Value, error) {
	v, err := carrier.Value(b, n, args, i)
	if err != nil {
		return hlo.Value{}, err
	}
	axes := []int{axis}
	if carrier.PerSample(n, i, v) {
		axes = []int{0, axis}
	}
	return b.BroadcastInDim(v, b.Dims(n.Type.Shape...), axes), b.Err()
}

// convOf translates window attributes.
func convOf(w *geometry.Window, groups int) hlo.Conv {
	rank := len(w.Kernel)
	return hlo.Conv{Stride: w.Strides, Low: w.Pads[:rank], High: w.Pads[rank:], KernelDilation: w.Dilations,
		Groups: groups}
}

func convFloatHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value, c hlo.Conv) (hlo.Value, error) {
	a := n.Attrs.(*ConvAttrs)
	x, err := carrier.EachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	w, err := carrier.Value(b, n, args, 1)
	if err != nil {
		return hlo.Value{}, err
	}
	axis := 1
	if a.ChannelsLast {
		axis = len(n.Type.Shape) - 1
	} else {
		spatial := "01"[:len(a.Kernel)]
		c.Input, c.Kernel, c.Output = "bf"+spatial, "oi"+spatial, "bf"+spatial
	}
	switch in := n.Args[0].Type.Shape; {
	case carrier.PerSample(n, 1, w):
		x = convEachHLO(b, n, x, w, c, axis)
	case a.ChannelsLast:
		x = b.ConvLast(x, w, c)
	default:
		flat := b.Reshape(x, append([]int{max(b.Samples, 1) * in[0]}, in[1:]...)...)
		x = b.Reshape(b.Convolution(flat, w, c, hlo.F32), b.Dims(n.Type.Shape...)...)
	}
	return addBias(b, n, args, x, b.Axis(axis))
}

// convEachHLO is a convolution in which each sample has weights of its own: the samples are groups of channels. axis is
// that of the channels of n.
func convEachHLO(b *hlo.Builder, n *ir.Node, x, w hlo.Value, c hlo.Conv, axis int) hlo.Value {
	rank, samples := len(n.Type.Shape), b.Samples
	there, back := []int{}, make([]int, 0, rank+1) // samples before the channels, and in front again
	for i := range rank {
		if i == axis {
			there = append(there, 0)
		}
		there = append(there, i+1)
	}
	back = append(back, axis)
	for i := range rank + 1 {
		if i != axis {
			back = append(back, i)
		}
	}
	merged := func(v hlo.Value, axis int) hlo.Value { // axis and the next one as one
		d := v.Type().Dims
		dims := append(append([]int{}, d[:axis]...), d[axis]*d[axis+1])
		return b.Reshape(v, append(dims, d[axis+2:]...)...)
	}
	c.Groups = max(c.Groups, 1) * samples
	if c.Input == "" {
		spatial := "01"[:rank-2]
		c.Input, c.Kernel, c.Output = "b"+spatial+"f", "o"+spatial+"i", "b"+spatial+"f"
	}
	v := b.Convolution(merged(b.Transpose(x, there...), axis), merged(w, 0), c, hlo.F32)
	dims := append([]int{}, n.Type.Shape[:axis]...)
	dims = append(append(dims, samples), n.Type.Shape[axis:]...)
	return b.Transpose(b.Reshape(v, dims...), back...)
}

func batchNormHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !constParams(n) {
		return composite.PartsHLO(b, n, args)
	}
	mul, add, err := batchNormFactors(n, nil)
	if err != nil {
		return hlo.Value{}, err
	}
	axis := b.Axis(n.Attrs.(*BatchNormAttrs).Axis)
	x, err := carrier.EachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	dims := x.Type().Dims
	scale := b.Weight(hlo.FromFloat32s([]int{len(mul)}, narrow(mul)))
	shift := b.Weight(hlo.FromFloat32s([]int{len(add)}, narrow(add)))
	return b.Add(b.Mul(x, b.Along(scale, dims, axis)), b.Along(shift, dims, axis)), b.Err()
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
