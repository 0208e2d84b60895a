// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math/big"
	"math/bits"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/arith"
	"lathe/ir/op/geometry"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

func maxPoolRTL(n *ir.Node) (*rtl.Unit, error) {
	w := n.Attrs.(*geometry.Window)
	g, err := poolGeometry(n, w)
	if err != nil {
		return nil, err
	}
	fx, err := hardware.CodesIn(n, n.Type)
	if err != nil {
		return nil, err
	}
	u := rtl.NewUnit("op_maxpool", geometry.Params(g)...)
	return u.With("LANES", n.HW.InLanes, "E_W", fx.W, "SIGNED", rtl.Flag(fx.Signed)), nil
}

func avgPoolRTL(n *ir.Node) (*rtl.Unit, error) {
	a := n.Attrs.(*AvgAttrs)
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	if factorMean(n) {
		return factorMeanUnit(n, "op_avgpool", g, geometry.Params(g), a)
	}
	common, factors, err := a.factors(n.Args[0].Type.Shape)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if uniform(factors) {
		return hardware.MeanUnit(n, "op_avgpool", append(geometry.Params(g), "DIV", common/factors[0]))
	}
	if common > maxDivisor {
		return nil, n.Errorf(diag.NoHardwareForm, "the divisors of the windows have the common multiple %d, which has no "+
			"hardware in this version", common).WithHint("set count_include_pad = 1, or use no padding")
	}
	return edgeUnit(n, g, common, factors)
}

// uniform says that all numbers are equal.
func uniform(x []int64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// maxDivisor bounds the common divisor of windows of different counts: 24 bits are multiplied to every sum at most.
const maxDivisor = 1 << 24

// factors are the least common multiple of the counts of all windows, and its quotient by the count of each.
func (a *AvgAttrs) factors(shape []int) (common int64, factors []int64, err error) {
	g, err := geometry.New(shape, &a.Window) // without the padding that hardware adds
	if err != nil {
		return 0, nil, err
	}
	g.N, g.C, common = 1, 1, 1
	poolLoop(g, true, func(_ int, in []int, covered int) {
		count := int64(a.divisor(len(in), covered))
		factors = append(factors, count)
		if common <= maxDivisor { // else it is refused
			common *= count / new(big.Int).GCD(nil, nil, big.NewInt(common), big.NewInt(count)).Int64()
		}
	})
	for i, count := range factors {
		factors[i] = common / count
	}
	return common, factors, nil
}

// edgeUnit is a mean over windows of different counts.
func edgeUnit(n *ir.Node, g *geometry.Grid, common int64, factors []int64) (*rtl.Unit, error) {
	u, err := hardware.MeanUnit(n, "op_avgpool_edges", append(geometry.Params(g), "DIV", common))
	if err != nil {
		return nil, err
	}
	width := 1
	for _, f := range factors {
		width = max(width, bits.Len64(uint64(f)))
	}
	in := n.Args[0].Type.Format.Width()
	sum := in + bits.Len(uint(g.KH*g.KW-1)) + width + 1 // as wide as the product
	u.With("F_W", width, "S_W", min(sum, in+bits.Len64(uint64(common))))
	u.Images = []rtl.Image{{Param: "FACTORS", Width: width, Words: arith.Words(factors)}}
	return u, nil
}

func globalAvgRTL(n *ir.Node) (*rtl.Unit, error) {
	a, err := globalWindow(n)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	if factorMean(n) {
		return factorMeanUnit(n, "op_global_avgpool", g, []any{"H", g.H, "W", g.W, "C", g.C}, a)
	}
	return hardware.MeanUnit(n, "op_global_avgpool", []any{"H", g.H, "W", g.W, "C", g.C, "DIV", g.H * g.W})
}

// poolGeometry checks what the pool modules take.
func poolGeometry(n *ir.Node, w *geometry.Window) (*geometry.Grid, error) {
	g, err := geometry.OfNode(n, w)
	if err != nil {
		return nil, err
	}
	// Windows that ceil_mode lets run beyond the padding see more padding.
	g.PB = max(g.PB, (g.OH-1)*g.SH+(g.KH-1)*g.DH+1-g.H-g.PT)
	g.PR = max(g.PR, (g.OW-1)*g.SW+(g.KW-1)*g.DW+1-g.W-g.PL)
	if e := lane.CheckDivisor(n, "lanes", n.HW.InLanes, g.C, "channels"); e != nil {
		return nil, e
	}
	return g, nil
}
