// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/sequence"
)

// Precision is how a float graph keeps its values; the zero Precision is fp32.
type Precision struct {
	// Act is for inputs and computed values, format.FP32, BF16 or F16: an operation computes in fp32 and rounds its result
	// once.
	Act format.Format
	// Weight is for the weights of linear operations and convolutions, and for tables of which rows are picked: as Act, or
	// MXINT8 for matrices. Biases, gains and other constants stay fp32.
	Weight format.Format
	// Cache is for keys and values that are written where earlier ones lie: nil for Act, or MXINT8.
	Cache format.Format
}

// ParsePrecision reads the names of two formats: fp32, bf16 or f16, for weights also mxint8. Error L0101 for others,
// and for weights whose values act does not hold.
func ParsePrecision(act, weight string) (p Precision, err error) {
	if p.Act, err = format.Parse(act); err != nil || !format.IsFloat(p.Act) {
		return p, diag.New(diag.Usage, "", "--act %s: not among fp32, bf16 and f16", act)
	}
	if p.Weight, err = format.Parse(weight); err != nil || !format.IsFloat(p.Weight) && p.Weight != format.MXInt8 {
		return p, diag.New(diag.Usage, "", "--weight %s: not among fp32, bf16, f16 and mxint8", weight)
	}
	if p.Weight == format.MXInt8 && p.Act == format.F16 {
		return p, diag.New(diag.Usage, "", "--weight mxint8 --act f16: f16 does not hold all values of mxint8").
			WithHint("--act bf16 does")
	}
	return p, nil
}

// WithCache is p with caches in a format of that name: that of computed values, or mxint8 beside bf16, which holds all
// its values. Error L0101 for others.
func (p Precision) WithCache(name string) (Precision, error) {
	f, err := format.Parse(name)
	switch {
	case err != nil || f != format.MXInt8 && !format.IsFloat(f):
		return p, diag.New(diag.Usage, "", "--kv %s: not among fp32, bf16, f16 and mxint8", name)
	case f == p.Act:
		p.Cache = nil
	case f != format.MXInt8:
		return p, diag.New(diag.Usage, "", "--kv %s: floats are kept as computed values, in %s", f, p.Act).
			WithHint("--act %s --kv %s, or --kv mxint8", f, f)
	case p.Act != format.BF16:
		return p, diag.New(diag.Usage, "", "--kv mxint8 --act %s: attention over mxint8 computes in bf16", p.Act).
			WithHint("--act bf16")
	default:
		p.Cache = f
	}
	return p, nil
}

// Halved says that some value is not kept in fp32.
func (p Precision) Halved() bool {
	return p != Precision{} && p != Precision{Act: format.FP32, Weight: format.FP32}
}

// set gives the values of a float graph precision p; formats of other graphs stand.
func (p Precision) set(g *ir.Graph) error {
	if g.Stage != ir.StageFloat || !p.Halved() {
		return nil
	}
	weights := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		for i, a := range n.Args {
			weighted := n.Op.Traits.Weighted && !n.Op.Traits.PerChannel // whose factors are gains
			table := n.Op.Traits.Index != nil && i == 0 && n.Op.Traits.Index(n, 0) == 0
			if weighted && i == 1 || table {
				weights[a] = true
			}
		}
	}
	for _, n := range g.Nodes {
		if sequence.Updates(n.Op) && p.Cache != nil {
			n.Args[0].Type.Format, n.Type.Format = p.Cache, p.Cache
		}
	}
	for _, n := range g.Nodes {
		switch {
		case !n.Type.IsFloat():
		case n.Op.Traits.Positions != nil: // of which 16 bits do not hold all
		case n.Op.Traits.KeepsCodes && len(n.Args) == 1:
			n.Type.Format = n.Args[0].Type.Format
		case !n.IsConst():
			n.Type.Format = p.Act
		case weights[n]:
			if err := p.narrow(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// narrow rounds the constant n to the values of p.Weight. Weights in blocks keep the type of computed values, which
// holds them, and remember the blocks as their own format; what is no matrix becomes such a value without.
func (p Precision) narrow(n *ir.Node) error {
	c, to := *n.Attrs.(*ir.Const), p.Weight
	if to == format.MXInt8 {
		to = p.Act
		if t := (ir.Type{Shape: n.Type.Shape, Format: format.MXInt8}); len(t.Shape) == 2 {
			values, err := ir.EncodeFloats(t, c.Data.Floats()).Decode()
			if err != nil {
				return n.Errorf(diag.ConstantData, "%v", err)
			}
			rounded := make([]float32, len(values))
			for i, v := range values {
				rounded[i] = float32(v)
			}
			c.Data, c.Own = ir.FloatBlob(rounded), ir.Type{Format: format.MXInt8}
		}
	}
	if h, half := format.AsHalf(to); half {
		c.Data, n.Type.Format = c.Data.Halves(h), to
	}
	n.Attrs = &c
	return nil
}
