// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/hlo"
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
	v, err := value(b, n, args, i)
	if err != nil {
		return hlo.Value{}, err
	}
	axes := []int{axis}
	if perSample(n, i, v) {
		axes = []int{0, axis}
	}
	return b.BroadcastInDim(v, b.Dims(n.Type.Shape...), axes), b.Err()
}

// convOf translates window attributes.
func convOf(w *Window, groups int) hlo.Conv {
	rank := len(w.Kernel)
	return hlo.Conv{Stride: w.Strides, Low: w.Pads[:rank], High: w.Pads[rank:], KernelDilation: w.Dilations,
		Groups: groups}
}

func convFloatHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value, c hlo.Conv) (hlo.Value, error) {
	a := n.Attrs.(*ConvAttrs)
	x, err := eachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	w, err := value(b, n, args, 1)
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
	case perSample(n, 1, w):
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
		return partsHLO(b, n, args)
	}
	mul, add, err := batchNormFactors(n, nil)
	if err != nil {
		return hlo.Value{}, err
	}
	axis := b.Axis(n.Attrs.(*BatchNormAttrs).Axis)
	x, err := eachSample(b, n, args, 0)
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

// poolWindow is the window over all axes of an activation; extra end padding comes from ceil mode.
func poolWindow(b *hlo.Builder, g *Geometry, w *Window) hlo.Window {
	lead, tail := b.Axis(2), 0 // behind batch and channels
	if w.ChannelsLast {
		lead, tail = b.Axis(1), 1
	}
	one := func(n, v int) []int {
		s := make([]int, n)
		for i := range s {
			s[i] = v
		}
		return s
	}
	axes := func(y, x, with int) []int {
		spatial := []int{y, x}
		if len(w.Kernel) == 1 {
			spatial = []int{x}
		}
		return append(append(one(lead, with), spatial...), one(tail, with)...)
	}
	endY := max(0, (g.OH-1)*g.SH+(g.KH-1)*g.DH+1-g.H-g.PT)
	endX := max(0, (g.OW-1)*g.SW+(g.KW-1)*g.DW+1-g.W-g.PL)
	return hlo.Window{Size: axes(g.KH, g.KW, 1), Stride: axes(g.SH, g.SW, 1), Dilation: axes(g.DH, g.DW, 1),
		Low: axes(g.PT, g.PL, 0), High: axes(max(endY, g.PB), max(endX, g.PR), 0)}
}

func maxPoolHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	w := n.Attrs.(*Window)
	g, err := NewGeometry(n.Args[0].Type.Shape, w)
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	return b.ReduceWindow(hlo.FoldMax, args[0], poolWindow(b, g, w)), b.Err()
}

func avgPoolHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	return avgHLO(b, n, args[0], n.Attrs.(*AvgAttrs))
}

func globalAvgHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a, err := globalWindow(n)
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	return avgHLO(b, n, args[0], a)
}

// avgHLO sums windows and divides by the count of each position: one exact division with one rounding.
func avgHLO(b *hlo.Builder, n *ir.Node, x hlo.Value, a *AvgAttrs) (hlo.Value, error) {
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	if realMean(n) {
		return realMeanHLO(b, n, x, g, a)
	}
	counts := make([]int64, n.Type.Elems())
	poolLoop(g, a.ChannelsLast, func(at int, in []int, covered int) { counts[at] = int64(a.divisor(len(in), covered)) })
	if n.Type.IsFloat() {
		floats := make([]float32, len(counts))
		for i, c := range counts {
			floats[i] = float32(c)
		}
		sum := b.ReduceWindow(hlo.FoldAdd, x, poolWindow(b, g, &a.Window))
		div := b.Weight(hlo.FromFloat32s(n.Type.Shape, floats))
		return b.Div(sum, b.BroadcastTo(div, sum.Type().Dims...)), b.Err()
	}
	in, err := fixedOf(n, n.Args[0].Type)
	if err != nil {
		return hlo.Value{}, err
	}
	out, err := fixedOf(n, n.Type)
	if err != nil {
		return hlo.Value{}, err
	}
	up, down := max(0, out.F-in.F), max(0, in.F-out.F) // y = sum*2^(Fout-Fin)/count
	bits := in.W + bitLen(g.KH*g.KW) + up
	if bits > 62 || down > 40 {
		return hlo.Value{}, n.Errorf("L0317", "the mean needs %d bits, StableHLO integers have 63", max(bits, down+22))
	}
	for i := range counts {
		counts[i] <<= down
	}
	sum := b.ReduceWindow(hlo.FoldAdd, wide(b, x), poolWindow(b, g, &a.Window))
	sum = b.ShiftLeft(sum, b.Int(hlo.I64, int64(up)))
	div := b.Weight(hlo.FromInt64s(hlo.I64, n.Type.Shape, counts))
	q := b.DivRound(sum, b.BroadcastTo(div, sum.Type().Dims...), uint8(out.Round))
	return b.Saturate(q, uint8(out.Over), out.W, out.Signed, carry(n.Type)), b.Err()
}
