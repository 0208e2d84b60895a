// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/dot"
	"lathe/ir/op/geometry"
)

func convHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*ConvAttrs)
	c, x := convOf(&a.Window, a.Groups), args[0]
	if n.Type.IsFloat() {
		return convFloatHLO(b, n, args, c)
	}
	p, err := dot.New(n)
	if err != nil {
		return hlo.Value{}, err
	}
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	return p.Dot(b, n, x, dot.Form{Shape: n.Args[1].Type.Shape,
		Products: func(x, w hlo.Value, bits int) (hlo.Value, error) { return b.ConvInt(x, w, c, bits), b.Err() },
		Tap:      func(v hlo.Value, i int) hlo.Value { return tapPixels(b, g, v, i/g.KW, i%g.KW) }})
}

// tapPixels picks the pixels [images, oh, ow, c] of v that one tap of the kernel meets, zeros outside of the image.
func tapPixels(b *hlo.Builder, g *geometry.Grid, v hlo.Value, ky, kx int) hlo.Value {
	dims := v.Type().Dims
	c := dims[len(dims)-1]
	images := max(b.Samples, 1) * g.N
	v = b.Reshape(v, images, g.H, g.W, c)
	fromY, fromX := ky*g.DH-g.PT, kx*g.DW-g.PL
	endY, endX := fromY+(g.OH-1)*g.SH+1, fromX+(g.OW-1)*g.SW+1
	v = b.Pad(v, b.Int(v.Type().DType, 0), []int{0, max(0, -fromY), max(0, -fromX), 0},
		[]int{0, max(0, endY-g.H), max(0, endX-g.W), 0}, nil)
	y, x := max(fromY, 0), max(fromX, 0)
	return b.Slice(v, []int{0, y, x, 0}, []int{images, y + endY - fromY, x + endX - fromX, c},
		[]int{1, g.SH, g.SW, 1})
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
		x = b.Reshape(b.Convolution(flat, w, c, x.Type().DType), b.Dims(n.Type.Shape...)...)
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
	v := b.Convolution(merged(b.Transpose(x, there...), axis), merged(w, 0), c, x.Type().DType)
	dims := append([]int{}, n.Type.Shape[:axis]...)
	dims = append(append(dims, samples), n.Type.Shape[axis:]...)
	return b.Transpose(b.Reshape(v, dims...), back...)
}

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
