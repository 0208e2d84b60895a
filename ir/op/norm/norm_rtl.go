// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// mostElements bounds the rows of the unit, whose parameters are integers of 32 bits, and mostEps its term of eps.
const (
	mostElements = 46340
	mostEps      = 1 << 62
)

// normLanes are divisors of a row.
func normLanes(n *ir.Node) (*ir.Lanes, error) {
	shape := n.Args[0].Type.Shape
	axis, err := walk.Axis(n.Attrs.(*Attrs).Axis, len(shape))
	if err != nil {
		return nil, err
	}
	return &ir.Lanes{In: lane.Counts(walk.Size(shape[axis:]), "elements of a row"), Mem: len(n.Args) > 1}, nil
}

// normRTL is rows of the innermost axes of the stream.
func normRTL(n *ir.Node, rms bool) (*rtl.Unit, error) {
	e, err := exactOf(n, rms)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	in, err := readIn(n, rms)
	if err != nil {
		return nil, err
	}
	out, err := hardware.Result(n)
	if err != nil {
		return nil, err
	}
	if e.n > mostElements || e.eps >= mostEps {
		return nil, n.Errorf(diag.NoHardwareForm, "%s over %d elements with eps %g has no hardware in this version, which "+
			"takes rows of up to %d and an eps below those of 62 bits", n.Op.Name, e.n, n.Attrs.(*Attrs).Eps, mostElements)
	}
	if e := lane.CheckDivisor(n, "lanes", n.HW.InLanes, e.n, "elements of a row"); e != nil {
		return nil, e
	}
	u := rtl.NewUnit("op_norm", "ROWS", e.rows/n.TurnFrames(), "N", e.n, "LANES", n.HW.InLanes, "IN_W", in.W, "SIGNED",
		rtl.Flag(in.Signed), "RMS", rtl.Flag(rms), "H", e.h)
	u.Frames = n.TurnFrames()
	u.Params = append(u.Params, rtl.Param{Name: "EPS", Value: hardware.Hex(big.NewInt(e.eps), 63)})
	var width, frac [2]int
	for i, a := range n.Args[1:] {
		f, _ := format.AsFixed(a.Type.Format)
		width[i], frac[i] = arith.Magnitude(f), f.F
	}
	u.With("GAIN_W", width[0], "GAIN_F", frac[0], "BIAS_W", width[1], "BIAS_F", frac[1], "ROM_STYLE",
		hardware.MemStyle(n), "FO", out.F, "OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round),
		"OVER", int(out.Over))
	turns := n.InTurns()
	for _, t := range turns[1:] {
		for i, a := range t.Args[1:] {
			if !a.Type.SameFormat(n.Args[i+1].Type) {
				return nil, n.Errorf(diag.NothingToShare, "%s has a gain or a bias in %s, %s one in %s", n.Name,
					n.Args[i+1].Type.Format, a.Name, a.Type.Format)
			}
		}
	}
	if len(turns) > 1 {
		u.With("SETS", len(turns), "SWEEPS", n.HW.InRow())
	}
	if e.gamma != nil {
		u.Images = []rtl.Image{{Param: "IMAGE", Width: n.HW.InLanes * (width[0] + width[1]),
			Make: func(im *rtl.Image) error {
				for _, t := range turns {
					e, err := exactOf(t, rms)
					if err != nil {
						return err
					}
					im.Words = append(im.Words, e.words(n.HW.InLanes, width, e.frac-frac[1])...)
				}
				return nil
			}}}
	}
	return u, nil
}

// readIn is the codes of x as integers. The mean of a layer_norm takes off a zero point.
func readIn(n *ir.Node, rms bool) (format.Fixed, error) {
	x, _ := format.IntegersOf(n.Args[0].Type.Format)
	if rms && x.Zero != 0 {
		return x.Codes, n.Errorf(diag.NoHardwareForm, "%s takes no zero point in hardware, as %s has", n.Op.Name,
			n.Args[0].Type.Format).WithHint("give data_in a format without one, such as int(8)*0.05")
	}
	return x.Codes, nil
}

// words are beta and gamma of the elements of each beat, gamma in the low bits; left is how far beta is shifted up.
func (e *exactNorm) words(lanes int, width [2]int, left int) []*big.Int {
	var words []*big.Int
	for from := 0; from < e.n; from += lanes {
		word := new(big.Int)
		for i := from + lanes - 1; i >= from; i-- {
			if e.beta != nil {
				hardware.AppendField(word, big.NewInt(e.beta[i]>>left), width[1])
			}
			hardware.AppendField(word, big.NewInt(e.gamma[i]), width[0])
		}
		words = append(words, word)
	}
	return words
}
