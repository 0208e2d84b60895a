// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/big"
	"math/bits"

	"lathe/ir"
	"lathe/rtl"
)

func maxPoolRTL(n *ir.Node) (*rtl.Unit, error) {
	w := n.Attrs.(*Window)
	g, err := poolGeometry(n, w)
	if err != nil {
		return nil, err
	}
	fx, err := codesIn(n, n.Type)
	if err != nil {
		return nil, err
	}
	if fx.W > 32 { // the least code is a parameter, and parameters of that kind have 32 bits
		return nil, n.Errorf("L0311", "maxima of %d bits have no hardware in this version", fx.W).WithHint("use 32 or less")
	}
	u := unit("op_maxpool", geometryParams(g)...)
	return with(u, "LANES", n.HW.InLanes, "E_W", fx.W, "SIGNED", flag(fx.Signed)), nil
}

func avgPoolRTL(n *ir.Node) (*rtl.Unit, error) {
	a := n.Attrs.(*AvgAttrs)
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	if realMean(n) {
		return realMeanUnit(n, "op_avgpool", g, geometryParams(g), a)
	}
	common, factors, err := a.factors(n.Args[0].Type.Shape)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	if uniform(factors) {
		return averageUnit(n, "op_avgpool", append(geometryParams(g), "DIV", common/factors[0]))
	}
	if common > maxDivisor {
		return nil, n.Errorf("L0311", "windows divide by so many different counts that their common multiple is %d: no "+
			"hardware in this version", common).WithHint("set count_include_pad = 1, or take pads of 0")
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
	g, err := NewGeometry(shape, &a.Window) // without the padding that hardware adds
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
func edgeUnit(n *ir.Node, g *Geometry, common int64, factors []int64) (*rtl.Unit, error) {
	u, err := averageUnit(n, "op_avgpool_edges", append(geometryParams(g), "DIV", common))
	if err != nil {
		return nil, err
	}
	width := 1
	for _, f := range factors {
		width = max(width, bits.Len64(uint64(f)))
	}
	in := n.Args[0].Type.Format.Width()
	sum := in + bits.Len(uint(g.KH*g.KW-1)) + width + 1 // as wide as the product
	with(u, "F_W", width, "S_W", min(sum, in+bits.Len64(uint64(common))))
	u.Images = []rtl.Image{{Param: "FACTORS", Width: width, Words: bigWords(factors)}}
	return u, nil
}

func globalAvgRTL(n *ir.Node) (*rtl.Unit, error) {
	a, err := globalWindow(n)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	g, err := poolGeometry(n, &a.Window)
	if err != nil {
		return nil, err
	}
	if realMean(n) {
		return realMeanUnit(n, "op_global_avgpool", g, []any{"H", g.H, "W", g.W, "C", g.C}, a)
	}
	return averageUnit(n, "op_global_avgpool", []any{"H", g.H, "W", g.W, "C", g.C, "DIV", g.H * g.W})
}

// averageUnit completes an exact mean: the sum times 2^LSHIFT, divided by DIV and rounded once.
func averageUnit(n *ir.Node, module string, params []any) (*rtl.Unit, error) {
	in, err := fixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := hardwareResult(n)
	if err != nil {
		return nil, err
	}
	u := unit(module, params...)
	return with(u, "LANES", n.HW.InLanes, "E_W", in.W, "SIGNED", flag(in.Signed), "LSHIFT", out.F-in.F,
		"OUT_W", out.W, "OUT_SIGNED", flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over)), nil
}

// poolGeometry checks what the pool modules take.
func poolGeometry(n *ir.Node, w *Window) (*Geometry, error) {
	g, err := imageGeometry(n, w)
	if err != nil {
		return nil, err
	}
	// Windows that ceil_mode lets run beyond the padding see more padding.
	g.PB = max(g.PB, (g.OH-1)*g.SH+(g.KH-1)*g.DH+1-g.H-g.PT)
	g.PR = max(g.PR, (g.OW-1)*g.SW+(g.KW-1)*g.DW+1-g.W-g.PL)
	if e := checkLanes(n, "lanes", n.HW.InLanes, g.C, "channels"); e != nil {
		return nil, e
	}
	return g, nil
}
