// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// Precision is how a float graph keeps its values, each of them format.FP32, BF16 or F16.
type Precision struct {
	// Act is for inputs and computed values: an operation computes in fp32 and rounds its result once.
	Act format.Format
	// Weight is for the matrices of linear operations and for tables of which rows are picked. Biases, gains and other
	// constants stay fp32.
	Weight format.Format
}

// ParsePrecision reads the names of two formats: fp32, bf16 or f16. Error L0101 for others.
func ParsePrecision(act, weight string) (p Precision, err error) {
	for _, c := range []struct {
		flag, text string
		to         *format.Format
	}{{"--act", act, &p.Act}, {"--weight", weight, &p.Weight}} {
		f, err := format.Parse(c.text)
		if err != nil || !format.IsFloat(f) {
			return p, diag.New("L0101", "", "%s %s: not among fp32, bf16 and f16", c.flag, c.text)
		}
		*c.to = f
	}
	return p, nil
}

// Halved says that some value is kept in 16 bits.
func (p Precision) Halved() bool { return p.Act != format.FP32 || p.Weight != format.FP32 }

// Apply is a float graph with its values in precision p; operations that an exporter has decomposed are whole again, as
// they round once. Error L0411 for quantized graphs.
func (p Precision) Apply(ctx context.Context, g *ir.Graph) (*ir.Graph, error) {
	if g.Stage != ir.StageFloat {
		return nil, diag.New("L0411", g.Name, "the graph is %s already; only values of float graphs become %s", g.Stage,
			p.Act)
	}
	g, _, err := Recognize(ctx, g, Options{})
	if err != nil {
		return nil, err
	}
	g = g.Clone()
	weights := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		for i, a := range n.Args {
			if n.Op.Traits.Weighted && i == 1 || n.Op.Traits.Index != nil && n.Op.Traits.Index(n, i) == 0 {
				weights[a] = true
			}
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
			if err := narrow(n, p.Weight); err != nil {
				return nil, err
			}
		}
	}
	return g, g.Check()
}

// narrow rounds a constant to the values of f.
func narrow(n *ir.Node, f format.Format) error {
	h, half := format.AsHalf(f)
	if !half {
		return nil
	}
	c := *n.Attrs.(*ir.Const)
	c.Data = c.Data.Halves(h)
	n.Attrs, n.Type.Format = &c, f
	return nil
}
