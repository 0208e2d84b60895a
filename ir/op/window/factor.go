// SPDX-License-Identifier: Apache-2.0

// Package window holds the pools: one result for each window of an image.
package window

import (
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/geometry"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// factorMean says that a mean is planned with factors: it reads or makes codes with a zero point or a scale that is no
// power of two.
func factorMean(n *ir.Node) bool {
	if n.Type.IsFloat() || arith.IsFixed(n.Type.Format) && arith.IsFixed(n.Args[0].Type.Format) {
		return false
	}
	_, in := format.IntegersOf(n.Args[0].Type.Format)
	_, out := format.IntegersOf(n.Type.Format)
	return in && out
}

// meanPlan is the integer plan of means of affine codes: y = over(zero + RS(sum(q - zero of x)*mul, shift)) with
// mul/2^shift the ratio of the steps divided by the number of elements.
type meanPlan struct {
	in, out format.Integers
	tBits   int
	of      []*arith.Rescale // by divisor; nil where no window has it
}

func planMean(n *ir.Node, g *geometry.Grid, a *AvgAttrs) (*meanPlan, error) {
	p := &meanPlan{}
	p.in, _ = format.IntegersOf(n.Args[0].Type.Format)
	p.out, _ = format.IntegersOf(n.Type.Format)
	lo, hi := p.in.Span()
	size := big.NewInt(int64(g.KH * g.KW))
	p.tBits = format.SignedBits(new(big.Int).Mul(size, big.NewInt(lo)), new(big.Int).Mul(size, big.NewInt(hi)))
	p.of = make([]*arith.Rescale, g.KH*g.KW+1)
	var err error
	poolLoop(g, a.ChannelsLast, func(_ int, in []int, covered int) {
		d := a.divisor(len(in), covered)
		if err != nil || p.of[d] != nil {
			return
		}
		r := new(big.Rat).Mul(p.in.Step.Rat(), new(big.Rat).SetFrac64(1, int64(d)))
		p.of[d], err = arith.NewRescale(p.out, []*big.Rat{r.Quo(r, p.out.Step.Rat())}, p.tBits)
	})
	if err != nil {
		return nil, n.Errorf(diag.FactorRange, "%s (node %q) cannot be rescaled: %v", n.Op.Name, n.Name, err)
	}
	return p, nil
}

func factorMeanEval(n *ir.Node, g *geometry.Grid, a *AvgAttrs) (ir.Kernel, error) {
	p, err := planMean(n, g, a)
	if err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		poolLoop(g, a.ChannelsLast, func(at int, in []int, covered int) {
			t := -int64(len(in)) * p.in.Zero
			for _, i := range in {
				t += args[0].Codes[i]
			}
			out.Codes[at] = p.of[a.divisor(len(in), covered)].Code(0, t)
		})
		return out, nil
	}, nil
}

// factorMeanHLO brings the factors of all divisors to one shift, so that every element of the result has a factor.
func factorMeanHLO(b *hlo.Builder, n *ir.Node, x hlo.Value, g *geometry.Grid, a *AvgAttrs) (hlo.Value, error) {
	p, err := planMean(n, g, a)
	if err != nil {
		return hlo.Value{}, err
	}
	shift, bits := 0, 0
	for _, r := range p.of {
		if r != nil {
			shift = max(shift, r.Shift[0])
		}
	}
	factors := make([]int64, n.Type.Elems())
	poolLoop(g, a.ChannelsLast, func(at int, in []int, covered int) {
		r := p.of[a.divisor(len(in), covered)]
		m := new(big.Int).Lsh(big.NewInt(r.Mul[0]), uint(shift-r.Shift[0]))
		factors[at], bits = m.Int64(), max(bits, m.BitLen())
	})
	if bits+p.tBits > arith.ProductBits+1 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "the mean needs %d bits, StableHLO integers have 63", bits+p.tBits-1)
	}
	x = carrier.Wide(b, x)
	if p.in.Zero != 0 {
		x = b.Sub(x, b.Splat(x, p.in.Zero))
	}
	sum := b.ReduceWindow(hlo.ReduceAdd, x, poolWindow(b, g, &a.Window))
	m := b.Weight(hlo.FromInt64s(hlo.I64, n.Type.Shape, factors))
	v := b.Mul(sum, b.BroadcastTo(m, sum.Type().Dims...))
	r := &arith.Rescale{Out: p.out.Codes, Zero: p.out.Zero, Shift: []int{shift}}
	return carrier.Rescale(r, b, n, v, arith.ProductBits)
}

// factorMeanUnit completes a mean over windows that all have the same number of elements. g has the padding that
// hardware adds where the last windows reach beyond the image: no divisor counts it.
func factorMeanUnit(n *ir.Node, module string, g *geometry.Grid, params []any, a *AvgAttrs) (*rtl.Unit, error) {
	windows, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	p, err := planMean(n, windows, a)
	if err != nil {
		return nil, err
	}
	r := p.of[g.KH*g.KW]
	for d, other := range p.of {
		if r == nil || other != nil && d != g.KH*g.KW {
			return nil, n.Errorf(diag.NoHardwareForm,
				"a mean of affine codes over windows that divide by different counts has no hardware "+
					"in this version").WithHint("set count_include_pad = 1, or use no padding")
		}
	}
	if g.PT+g.PL+g.PB+g.PR > 0 && p.in.Zero != 0 {
		return nil, n.Errorf(diag.NoHardwareForm,
			"a mean over padding, which has the code %d of zero, has no hardware in this version",
			p.in.Zero).WithHint("use no padding, or data without a zero point")
	}
	if err := r.CheckHardware(n); err != nil {
		return nil, err
	}
	less := int64(g.KH*g.KW) * p.in.Zero
	if less != int64(int32(less)) {
		return nil, n.Errorf(diag.NoHardwareForm, "the zero points of a window add up to %d, more than 32 bits", less)
	}
	u := rtl.NewUnit(module, params...)
	u.With("LANES", n.HW.InLanes, "E_W", p.in.Codes.W, "SIGNED", rtl.Flag(p.in.Codes.Signed), "OUT_W",
		r.Out.W,
		"OUT_SIGNED", rtl.Flag(r.Out.Signed), "ROUND", int(r.Out.Round), "OVER", int(r.Out.Over), "M_W", factorWidth(r))
	u.Params = append(u.Params, rtl.Param{Name: "M", Value: hardware.Hex(big.NewInt(r.Mul[0]), 64)})
	return u.With("SUB", less, "SHIFT", r.Shift[0], "ZERO", r.Zero), nil
}

func factorWidth(r *arith.Rescale) int {
	_, width, _ := r.Common()
	return width
}
