// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
)

// Samples draws n samples for the inputs of g. The first are all least, all greatest, alternating, one-hot and zero
// codes; then come the inputs that drive each row of constant weights to its least and its greatest sum, then random
// ones.
func Samples(r *rand.Rand, g *ir.Graph, n int) []ref.Sample {
	samples := make([]ref.Sample, n)
	for _, in := range g.In {
		rows := weightRows(g, in)
		for i := range samples {
			t := ir.NewTensor(in.Type)
			if t.Codes == nil {
				FillFloats(r, t.Floats, i)
			} else {
				fillCodes(r, in.Type.Format, t.Codes, rows, i)
				keepInside(g, in, t.Codes)
				if t.BlockScales != nil {
					fillScales(r, t, i%5)
				}
			}
			samples[i] = append(samples[i], t)
		}
	}
	return samples
}

// keepInside moves codes into the axis whose positions they are, and of those with a sign half counts from the end.
func keepInside(g *ir.Graph, in *ir.Node, codes []int64) {
	for _, n := range g.Nodes {
		for i, a := range n.Args {
			if a != in || n.Op.Traits.Index == nil || n.Op.Traits.Index(n, i) == 0 {
				continue
			}
			size := int64(n.Op.Traits.Index(n, i))
			for k := range codes {
				codes[k] %= size // of negative ones negative, too
			}
		}
	}
}

// weightRows lists the rows of the constant weights that a linear operation multiplies input in by.
func weightRows(g *ir.Graph, in *ir.Node) [][]int64 {
	for _, n := range g.Nodes {
		if len(n.Args) < 2 || n.Args[0] != in || !n.Args[1].IsConst() || n.Op != sum.Linear && n.Op != sum.Scale {
			continue
		}
		w, err := n.Args[1].Value()
		if err != nil || w.Codes == nil {
			continue
		}
		width := in.Type.Shape[len(in.Type.Shape)-1]
		if n.Op == sum.Scale {
			return [][]int64{w.Codes}
		}
		var rows [][]int64
		for i := 0; i+width <= len(w.Codes); i += width {
			rows = append(rows, w.Codes[i:i+width])
		}
		return rows
	}
	return nil
}

// fillCodes makes value i of an input.
func fillCodes(r *rand.Rand, f format.Format, codes []int64, rows [][]int64, i int) {
	bare := codeRange(f)
	lo, hi := bare.Min(), bare.Max()
	hot := r.IntN(len(codes))
	for k := range codes {
		switch {
		case i == 0:
			codes[k] = lo
		case i == 1:
			codes[k] = hi
		case i == 2:
			codes[k] = []int64{lo, hi}[k%2]
		case i == 3:
			codes[k] = 0
		case i == 4:
			if codes[k] = 0; k == hot {
				codes[k] = hi
			}
		case i-5 < 2*len(rows):
			row := rows[(i-5)/2]
			if (row[k%len(row)] > 0) == (i%2 == 0) {
				codes[k] = lo
			} else {
				codes[k] = hi
			}
		default:
			codes[k] = draw.Code(r, bare)
		}
		if e, ok := f.(enumerated); ok {
			codes[k] = e.finite(codes[k])
		}
	}
}

// codeRange is the range of the codes of f, those included that encoding never returns.
func codeRange(f format.Format) format.Fixed {
	switch f := f.(type) {
	case format.Fixed:
		return format.Fixed{W: f.W, Signed: f.Signed}
	case format.Affine:
		return format.Fixed{W: f.W, Signed: f.Signed}
	case format.MXInt:
		return format.Fixed{W: f.W, Signed: true}
	}
	return format.Fixed{W: f.Width()}
}

// FillFloats makes value i of a float input: zeros, equal values, large and small ones, then normal ones.
func FillFloats(r *rand.Rand, x []float32, i int) {
	scale := []float64{0, 1, 100, 1e-3, 1}[min(i, 4)]
	for k := range x {
		x[k] = float32(r.NormFloat64() * scale)
		if i == 1 {
			x[k] = 1.5
		}
		if i > 4 && r.IntN(8) == 0 {
			x[k] = float32(math.Round(float64(x[k]))) // ties and zeros
		}
	}
}
