// SPDX-License-Identifier: Apache-2.0

package window

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/geometry"
)

// poolWindow is the window over all axes of an activation; extra end padding comes from ceil mode.
func poolWindow(b *hlo.Builder, g *geometry.Grid, w *geometry.Window) hlo.Window {
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
	w := n.Attrs.(*geometry.Window)
	g, err := geometry.New(n.Args[0].Type.Shape, w)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	return b.ReduceWindow(hlo.ReduceMax, args[0], poolWindow(b, g, w)), b.Err()
}

func avgPoolHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	return avgHLO(b, n, args[0], n.Attrs.(*AvgAttrs))
}

func globalAvgHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a, err := globalWindow(n)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	return avgHLO(b, n, args[0], a)
}

// avgHLO sums windows and divides by the count of each position: one exact division with one rounding.
func avgHLO(b *hlo.Builder, n *ir.Node, x hlo.Value, a *AvgAttrs) (hlo.Value, error) {
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if factorMean(n) {
		return factorMeanHLO(b, n, x, g, a)
	}
	counts := make([]int64, n.Type.Elems())
	poolLoop(g, a.ChannelsLast, func(at int, in []int, covered int) { counts[at] = int64(a.divisor(len(in), covered)) })
	if n.Type.IsFloat() {
		floats := make([]float32, len(counts))
		for i, c := range counts {
			floats[i] = float32(c)
		}
		sum := b.ReduceWindow(hlo.ReduceAdd, x, poolWindow(b, g, &a.Window))
		div := b.Weight(hlo.FromFloat32s(n.Type.Shape, floats))
		return b.Div(sum, b.BroadcastTo(div, sum.Type().Dims...)), b.Err()
	}
	in, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return hlo.Value{}, err
	}
	out, err := arith.FixedOf(n, n.Type)
	if err != nil {
		return hlo.Value{}, err
	}
	up, down := max(0, out.F-in.F), max(0, in.F-out.F) // y = sum*2^(Fout-Fin)/count
	bits := in.W + arith.BitLen(g.KH*g.KW) + up
	if bits > 62 || down > 40 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "the mean needs %d bits, StableHLO integers have 63", max(bits,
			down+22))
	}
	for i := range counts {
		counts[i] <<= down
	}
	sum := b.ReduceWindow(hlo.ReduceAdd, carrier.Wide(b, x), poolWindow(b, g, &a.Window))
	sum = b.ShiftLeft(sum, b.Int(hlo.I64, int64(up)))
	div := b.Weight(hlo.FromInt64s(hlo.I64, n.Type.Shape, counts))
	q := b.DivRound(sum, b.BroadcastTo(div, sum.Type().Dims...), uint8(out.Round))
	return b.Saturate(q, int32(out.Over), out.W, out.Signed, carrier.DType(n.Type)), b.Err()
}
