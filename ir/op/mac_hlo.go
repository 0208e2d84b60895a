// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// macHLO prints everything behind the raw dot products: v has the output channels on its last axis.
func (m *mac) macHLO(b *hlo.Builder, n *ir.Node, v hlo.Value) (hlo.Value, error) {
	if m.tBits > 63 {
		return hlo.Value{}, n.Errorf("L0317", "sums need %d bits, StableHLO integers have 64", m.tBits)
	}
	if m.tBits > 31 {
		v = wide(b, v)
	}
	d, dims := v.Type().DType, v.Type().Dims
	psh, any := make([]int64, m.out), false
	for c, s := range m.psh {
		psh[c], any = int64(s), any || s != 0
	}
	if any {
		shifts := b.Const(hlo.FromInt64s(d, []int{m.out}, psh))
		v = b.ShiftLeft(v, b.Along(shifts, dims, len(dims)-1))
	}
	bias := b.Weight(hlo.FromInt64s(d, []int{m.out}, m.bias64()))
	v = b.Add(v, b.Along(bias, dims, len(dims)-1))
	if m.res != nil {
		return m.res.print(b, n, v, m.tBits-1)
	}
	return requant(b, n, v, m.exp, m.tBits-1)
}

// checkedMAC plans a mac whose operand and result are fixed.
func checkedMAC(n *ir.Node) (*mac, error) {
	if !realMAC(n) {
		if _, err := fixedOf(n, n.Args[0].Type); err != nil {
			return nil, err
		}
	}
	return planMAC(n)
}

// centered is x without its zero point.
func (m *mac) centered(b *hlo.Builder, x hlo.Value) hlo.Value {
	if m.codes == nil || m.codes.zero == 0 {
		return x
	}
	lo, hi := m.codes.span()
	if lo != int64(int32(lo)) || hi != int64(int32(hi)) {
		x = wide(b, x)
	}
	return b.Sub(x, b.Splat(x, m.codes.zero))
}

// weightValue prints the weights as an argument in the narrowest carrier.
func (m *mac) weightValue(b *hlo.Builder, dims []int) hlo.Value {
	d := hlo.I8
	for _, w := range m.weights {
		if w != int64(int8(w)) && d == hlo.I8 {
			d = hlo.I32
		}
		if w != int64(int32(w)) {
			d = hlo.I64
		}
	}
	return b.Weight(hlo.FromInt64s(d, dims, m.weights))
}

func linearHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x := args[0]
	last := len(x.Type().Dims) - 1
	contract := hlo.Dot{LhsContract: []int{last}, RhsContract: []int{1}}
	if n.Type.IsFloat() {
		w, err := constHLO(b, n.Args[1])
		if err != nil {
			return hlo.Value{}, err
		}
		return addBias(b, n, b.DotGeneral(x, w, contract, hlo.F32), last)
	}
	if usesWindow(n) {
		return windowLinearHLO(b, n, x)
	}
	m, err := checkedMAC(n)
	if err != nil {
		return hlo.Value{}, err
	}
	if fx, ok := format.AsFixed(n.Args[0].Type.Format); ok && fx.Signed && fx.W <= 8 {
		x = b.Convert(x, hlo.I8) // XLA multiplies i8 by i8 many times faster than i32
	}
	w := m.weightValue(b, []int{m.out, m.in})
	return m.macHLO(b, n, b.DotInt(m.centered(b, x), w, contract, m.lowBits-1))
}

// addBias adds a float bias along an axis, if the node has one.
func addBias(b *hlo.Builder, n *ir.Node, v hlo.Value, axis int) (hlo.Value, error) {
	if len(n.Args) < 3 {
		return v, b.Err()
	}
	bias, err := constHLO(b, n.Args[2])
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Add(v, b.Along(bias, v.Type().Dims, axis)), b.Err()
}

// convOf translates window attributes.
func convOf(w *Window, groups int) hlo.Conv {
	rank := len(w.Kernel)
	return hlo.Conv{Stride: w.Strides, Low: w.Pads[:rank], High: w.Pads[rank:], KernelDilation: w.Dilations,
		Groups: groups}
}

func convHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*ConvAttrs)
	c := convOf(&a.Window, a.Groups)
	if n.Type.IsFloat() {
		return convFloatHLO(b, n, args[0], c)
	}
	if usesWindow(n) {
		return windowConvHLO(b, n, args[0])
	}
	m, err := checkedMAC(n)
	if err != nil {
		return hlo.Value{}, err
	}
	w := m.weightValue(b, n.Args[1].Type.Shape)
	return m.macHLO(b, n, b.ConvInt(m.centered(b, args[0]), w, c, m.lowBits-1))
}

func convFloatHLO(b *hlo.Builder, n *ir.Node, x hlo.Value, c hlo.Conv) (hlo.Value, error) {
	a := n.Attrs.(*ConvAttrs)
	w, err := constHLO(b, n.Args[1])
	if err != nil {
		return hlo.Value{}, err
	}
	if a.ChannelsLast {
		v := b.ConvLast(x, w, c)
		return addBias(b, n, v, len(v.Type().Dims)-1)
	}
	spatial := "01"[:len(a.Kernel)]
	c.Input, c.Kernel, c.Output = "bf"+spatial, "oi"+spatial, "bf"+spatial
	dims := x.Type().Dims
	flat := b.Reshape(x, append([]int{dims[0] * dims[1]}, dims[2:]...)...)
	v := b.Convolution(flat, w, c, hlo.F32)
	v = b.Reshape(v, append([]int{dims[0]}, n.Type.Shape...)...)
	return addBias(b, n, v, 2)
}

func scaleHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	axis := n.Attrs.(*ScaleAttrs).Axis + 1
	x := args[0]
	if n.Type.IsFloat() {
		mul, err := constHLO(b, n.Args[1])
		if err != nil {
			return hlo.Value{}, err
		}
		return addBias(b, n, b.Mul(x, b.Along(mul, x.Type().Dims, axis)), axis)
	}
	m, err := checkedMAC(n)
	if err != nil {
		return hlo.Value{}, err
	}
	if m.lowBits > 63 {
		return hlo.Value{}, n.Errorf("L0317", "products need %d bits, StableHLO integers have 64", m.lowBits)
	}
	w := b.Weight(hlo.FromInt64s(hlo.I64, []int{m.out}, m.weights))
	return m.macHLO(b, n, b.Mul(wide(b, m.centered(b, x)), b.Along(w, x.Type().Dims, axis)))
}

func batchNormHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	mul, add, err := batchNormFactors(n)
	if err != nil {
		return hlo.Value{}, err
	}
	axis := n.Attrs.(*BatchNormAttrs).Axis + 1
	dims := args[0].Type().Dims
	scale := b.Weight(hlo.FromFloat32s([]int{len(mul)}, narrow(mul)))
	shift := b.Weight(hlo.FromFloat32s([]int{len(add)}, narrow(add)))
	return b.Add(b.Mul(args[0], b.Along(scale, dims, axis)), b.Along(shift, dims, axis)), b.Err()
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// poolWindow is the window over all axes of an activation; extra end padding comes from ceil mode.
func poolWindow(g *Geometry, w *Window) hlo.Window {
	lead, tail := 3, 0 // sample, batch, channels
	if w.ChannelsLast {
		lead, tail = 2, 1
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
	return b.ReduceWindow(hlo.FoldMax, args[0], poolWindow(g, w)), b.Err()
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
	dims := append([]int{x.Type().Dims[0]}, n.Type.Shape...)
	counts := make([]int64, n.Type.Elems())
	poolLoop(g, a.ChannelsLast, func(at int, in []int, covered int) { counts[at] = int64(a.divisor(len(in), covered)) })
	axes := make([]int, len(n.Type.Shape))
	for i := range axes {
		axes[i] = i + 1
	}
	if n.Type.IsFloat() {
		floats := make([]float32, len(counts))
		for i, c := range counts {
			floats[i] = float32(c)
		}
		sum := b.ReduceWindow(hlo.FoldAdd, x, poolWindow(g, &a.Window))
		div := b.Weight(hlo.FromFloat32s(n.Type.Shape, floats))
		return b.Div(sum, b.BroadcastInDim(div, dims, axes)), b.Err()
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
	sum := b.ReduceWindow(hlo.FoldAdd, wide(b, x), poolWindow(g, &a.Window))
	sum = b.ShiftLeft(sum, b.Int(hlo.I64, int64(up)))
	div := b.Weight(hlo.FromInt64s(hlo.I64, n.Type.Shape, counts))
	q := b.DivRound(sum, b.BroadcastInDim(div, dims, axes), uint8(out.Round))
	return b.Saturate(q, uint8(out.Over), out.W, out.Signed, carry(n.Type)), b.Err()
}
