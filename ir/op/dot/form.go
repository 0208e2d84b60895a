// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/rtl"
)

// Codes of floats are multiplied as they are where that costs less than products of the integers that they stand for:
// significands are short, and what is long is shifted. Signs need no product: adders subtract. Weights of few bits
// select multiples of the data.

// codedBits is how many bits integers have at most that are multiplied as such even where they are codes of floats.
const codedBits = 8

// lowBits is how many bits weights have at most that take no multipliers.
const lowBits = 4

// LUTsPerBlock is what a block of 18 Kbit is worth in LUTs: mem_rom takes it where a ROM of LUTs would cost more.
const LUTsPerBlock = 129

// factor is an operand of a product: an integer, or the code of one.
type factor struct {
	bits   int // of the integer
	signed bool
	code   format.Minifloat // of no bits: none
}

// width is the bits of the operand.
func (f factor) width() int {
	if f.code.Bits > 0 {
		return f.code.Bits
	}
	return f.bits
}

// codes are weights as the memory has them.
func (f factor) codes(weights []int64) []int64 {
	if f.code.Bits == 0 {
		return weights
	}
	codes := make([]int64, len(weights))
	for i, v := range weights {
		codes[i] = f.code.Code(v)
	}
	return codes
}

// meets says that there is a multiplier for x and f: there is none for signs and floats.
func (f factor) meets(x factor) bool {
	return f.code.Field*x.code.Field >= 0
}

// factorForms decides, for data of n that are codes or integers, whether weights are codes, and whether products take
// no multipliers, by what the sums of a beat cost. Codes of data are refused (L0308) where the unit takes none, or
// where integers cost less.
func (m *exactSum) factorForms(n *ir.Node, w widths, f Front) (widths, error) {
	coded := m.data.coded.Bits > 0
	plain := w
	plain.coded = format.Minifloat{}
	switch takes := f.Coded; {
	case coded && (!takes || f.Padded && m.data.coded == format.Signs): // zero is no sign
		_, err := arith.FixedOf(n, n.Args[0].Type)
		return w, err
	case !takes, (n.HW.DSP == "pack" || n.HW.DSP == "chain") && !coded:
		return plain, nil
	}
	forms := []widths{plain}
	if low := plain; w.weight <= lowBits && n.HW.DSP != "none" {
		low.low = true
		forms = append(forms, low)
	}
	if w.coded.Bits > 0 {
		forms = append(forms, w)
	}
	best, least, ints := plain, 0, true
	for i, x := range m.dataForms(n) {
		for k, form := range forms {
			weight := factor{w.weight, true, form.coded}
			if !weight.meets(x) {
				continue
			}
			cost, err := productsCost(n, f.In, x, weight, form.low)
			if err != nil {
				return w, err
			}
			if i+k == 0 || cost < least {
				best, least, ints = form, cost, i == 0
			}
		}
	}
	if coded && ints {
		return w, n.Errorf(diag.OpFormats, "products of integers cost less here than those of codes of %s",
			n.Args[0].Type.Format)
	}
	return best, nil
}

// dataForms are the data as integers, and as codes where they are.
func (m *exactSum) dataForms(n *ir.Node) []factor {
	ints := m.data.ints
	if ints.W == 0 {
		ints, _ = format.ExactFixed(n.Args[0].Type.Format)
	}
	forms := []factor{{bits: ints.W, signed: ints.Signed}}
	if m.data.coded.Bits > 0 {
		forms = append(forms, factor{ints.W, ints.Signed, m.data.coded})
	}
	return forms
}

// productsCost is what the sum of so many products of two factors costs in LUTs, without multipliers where low is set
// and weights are integers of few bits.
func productsCost(n *ir.Node, lanes int, x, w factor, low bool) (int, error) {
	u := rtl.NewUnit("num_dot", "N", lanes, "A_W", x.width(), "A_SIGNED", rtl.Flag(x.signed), "B_W", w.width(), "A_E",
		x.code.Field, "A_NAN", rtl.Flag(x.code.NaN), "B_E", w.code.Field)
	switch {
	case n.HW.DSP == "none":
		u.With("MULT", "lut")
	case low:
		u.With("MULT", "low")
	}
	f, err := u.Facts(n.HW.Part.Technology())
	return f.Cost.LUT + n.HW.Part.LUTsPerDSP()*f.Cost.DSP, err
}

// shiftWeights is the plan whose weights are already shifted. Where channels have steps of their own, their sums are
// shifted to a common one before the bias: a shifter, two rows of registers and two cycles in every lane. Shifted
// weights give the same sums for some bits more in the memory and the multipliers, and sums begin with the bias.
func (m *exactSum) shiftWeights() *exactSum {
	r := *m
	r.up, r.weights = make([]uint, m.out), make([]int64, len(m.weights))
	for i, v := range m.weights {
		r.weights[i] = v << m.up[i/m.in]
	}
	r.bounds()
	return &r
}

// mostShift bounds the shifts that are weighed: a wider weight costs more than any shifter.
const mostShift = 15

// canShift says whether the unit of n may have its weights shifted. Those that come from outside keep their bits, and
// two products in a DSP leave no room.
func (m *exactSum) canShift(n *ir.Node, w widths) bool {
	for _, up := range m.up {
		if up > mostShift {
			return false
		}
	}
	return w.psh > 0 && m.codesAt == nil && m.data.ints.W > 0 && n.HW.Style != ir.StyleUnroll && n.HW.Weights == "" &&
		n.HW.DSP != "pack"
}

// cheaper is the unit of n with shifted weights, if that costs less than u.
func (m *exactSum) cheaper(n *ir.Node, f Front, u *rtl.Unit) (*rtl.Unit, error) {
	m, w := m.shifted()
	if n.HW.DSP == "chain" && m.chainCause(n, w) != "" {
		return u, nil
	}
	v, err := m.unit(n, f, w, true)
	if err != nil {
		return u, nil
	}
	before, err := unitCost(n, u)
	if err != nil {
		return nil, err
	}
	after, err := unitCost(n, v)
	if after < before {
		u = v
	}
	return u, err
}

// unitCost weighs the unit of n in LUTs; a device has two flip-flops for each, and LUTs of a block's bits are
// LUTsPerBlock.
func unitCost(n *ir.Node, u *rtl.Unit) (int, error) {
	f, err := u.Facts(n.HW.Part.Technology())
	c := f.Cost
	return c.LUT + c.FF/2 + n.HW.Part.LUTsPerDSP()*c.DSP + LUTsPerBlock*c.BRAM, err
}
