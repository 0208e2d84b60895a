// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math/bits"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/rtl"
)

// Codes of floats can be multiplied as they are, instead of the integers that they stand for: significands are short,
// and what is long is shifted. Signs need no product: adders subtract. Weights of few bits can select multiples of the
// data. Which form a unit has, the schedule decides.

// codedBits is how many bits integers have at most that are multiplied as such even where they are codes of floats.
const codedBits = 8

// lowBits is how many bits weights have at most that take no multipliers.
const lowBits = 4

// What products multiply, in the words of ir.Products.
const (
	Integers     = "integers"
	multiples    = "multiples"
	codedWeights = "weights"
	codedData    = "data"
	codedBoth    = "codes"
)

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

// Products lists the forms of an exact sum: weights as integers, as selectors of multiples where they are short, as
// codes; and all that once more with shifted weights. Codes of data are refused (L0308) where the unit takes none.
func (m *exactSum) Products(n *ir.Node, f Front) ([]ir.ProductForm, error) {
	if m.wired(n, f) {
		return nil, nil
	}
	raw, w := m.inHardware()
	list, err := raw.keptForms(n, w, f)
	if err != nil || !raw.canShift(n, w) {
		return list, err
	}
	raw, w = m.shifted()
	if n.HW.DSP == "chain" && raw.chainCause(n, w) != "" || n.HW.DSP == "pack_chain" && raw.pairedCause(n, w) != "" {
		return list, nil
	}
	more, err := raw.keptForms(n, w, f)
	for i := range more {
		more[i].Shifted = true
	}
	return append(list, more...), err
}

// keptForms are the forms with all weights, and with those alone that are not 0 where few of each run are not.
func (m *exactSum) keptForms(n *ir.Node, w widths, f Front) ([]ir.ProductForm, error) {
	list, err := m.factorForms(n, w, f)
	keep, of := w.kept(f.In)
	if err != nil || of == 0 || !f.Kept || n.HW.Outside() || paired(n) {
		return list, err
	}
	f.In = f.In / of * keep
	few, err := m.factorForms(n, w, f)
	for i := range few {
		few[i].Keep, few[i].Of = keep, of
	}
	return append(list, few...), err
}

// runs are the lengths of the runs of which few weights may be kept: powers of two, whose places waste no codes.
var runs = [...]int{2, 4, 8, 16}

// mostKept is the largest number of weights that are not 0 in any run of a row, for each length that divides the rows.
func (m *exactSum) mostKept() (most [len(runs)]int) {
	var buf []int64
	for i, of := range runs {
		for c := 0; c < m.out && most[i] < of && m.in%of == 0; c++ {
			count := 0
			for j, v := range m.row(c, &buf) {
				if j%of == 0 {
					count = 0
				}
				if v != 0 {
					count++
				}
				most[i] = max(most[i], count)
			}
		}
	}
	return most
}

// kept is the least share of the weights that lanes must hold, as so many of each run; 0 where that is all.
func (w widths) kept(lanes int) (keep, of int) {
	for i, n := range runs {
		most := w.most[i]
		if most > 0 && most < n && lanes%n == 0 && (of == 0 || most*of < keep*n) {
			keep, of = most, n
		}
	}
	return keep, of
}

// places is the bits of the place of a weight that is kept.
func (w widths) places() int { return bits.Len(uint(max(w.of-1, 0))) }

// word is the bits of the weights that so many lanes meet in a beat.
func (w widths) word(lanes int) int {
	if w.of > 0 {
		lanes = lanes / w.of * w.keep
	}
	return lanes * (w.bits() + w.places())
}

// fields are the weights of a row as the memory has them: those that are kept, each with its place above it.
func (w widths) fields(row []int64) []int64 {
	codes := factor{code: w.coded}.codes(row)
	if w.of == 0 {
		return codes
	}
	out := make([]int64, 0, len(row)/w.of*w.keep)
	for from := 0; from < len(row); from += w.of {
		end := len(out) + w.keep
		for at := range w.of {
			if row[from+at] != 0 {
				out = append(out, int64(at)<<w.bits()|codes[from+at]&(1<<w.bits()-1))
			}
		}
		out = out[:end] // the rest of a run is 0
	}
	return out
}

// factorForms are the forms of products by weights that are not shifted further. Where data are codes, those of the
// integers that they stand for come first, as a measure.
func (m *exactSum) factorForms(n *ir.Node, w widths, f Front) (list []ir.ProductForm, err error) {
	coded := m.data.coded.Bits > 0
	words := []string{Integers}
	switch takes := f.Coded; {
	case coded && (!takes || f.Padded && m.data.coded == format.Signs): // zero is no sign
		_, err := arith.FixedOf(n, n.Args[0].Type)
		return nil, err
	case takes && (coded || !paired(n) && n.HW.DSP != "chain"):
		if w.weight <= lowBits && n.HW.DSP != "none" {
			words = append(words, multiples)
		}
		if w.coded.Bits > 0 {
			words = append(words, codedWeights)
		}
	}
	for i, x := range m.dataForms(n) {
		for _, word := range words {
			form := w.as(ir.Products{Factors: word})
			if weight := (factor{w.weight, true, form.coded}); weight.meets(x) {
				list = append(list, ir.ProductForm{Products: ir.Products{Factors: word},
					Sum: rowUnit(n, f.In, x, weight, form.low), Decoded: coded && i == 0})
			}
		}
	}
	return list, nil
}

// as are the widths of the constants in a form.
func (w widths) as(form ir.Products) widths {
	w.low, w.keep, w.of = form.Factors == multiples, form.Keep, form.Of
	if form.Factors != codedWeights {
		w.coded = format.Minifloat{}
	}
	return w
}

// formOf is the form of the products of n, which must be one of a list; the first that its unit can have where n has
// none yet.
func formOf(n *ir.Node, list []ir.ProductForm) (ir.Products, error) {
	at := slices.IndexFunc(list, func(f ir.ProductForm) bool {
		return !f.Decoded && (n.HW.Products == ir.Products{} || n.HW.Products == f.Products)
	})
	if at < 0 {
		return ir.Products{}, n.Errorf(diag.NoHardwareForm, "its unit cannot multiply as its hardware says: %q, shifted: %v",
			n.HW.Factors, n.HW.Shifted)
	}
	return list[at].Products, nil
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

// rowUnit is the sum of so many products of two factors, without multipliers where low is set and weights are integers
// of few bits.
func rowUnit(n *ir.Node, lanes int, x, w factor, low bool) *rtl.Unit {
	u := rtl.NewUnit("num_dot", "N", lanes, "A_W", x.width(), "A_SIGNED", rtl.Flag(x.signed), "B_W", w.width(), "A_E",
		x.code.Field, "A_NAN", rtl.Flag(x.code.NaN), "B_E", w.code.Field)
	switch {
	case n.HW.DSP == "none":
		u.With("MULT", "lut")
	case low:
		u.With("MULT", "low")
	}
	return u
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
// two products in a DSP leave no room, unless its sums have some.
func (m *exactSum) canShift(n *ir.Node, w widths) bool {
	for _, up := range m.up {
		if up > mostShift {
			return false
		}
	}
	return w.psh > 0 && m.codesAt == nil && m.data.ints.W > 0 && n.HW.Style != ir.StyleUnroll && !n.HW.Outside() &&
		n.HW.DSP != "pack"
}

// num_chain_pair adds two products in each DSP of a cascade: (a * 2^s + b) * x, where s leaves room for a in the 27
// bits of the sum before the multiplier. The sums of the products with b must fit the s bits below those with a.

const (
	// mostCascade is the most DSPs of a cascade of num_chain_pair: operands wait in up to three registers, and two DSPs
	// share one of the cascade.
	mostCascade = 6
	// pairBits are those of a sum over beats, two of which a DSP adds.
	pairBits = 24
)

// below is the bits of a sum of products with b, for weights of so many bits.
func below(weight int) int { return 26 - weight }

// paired says that two products of n share a DSP.
func paired(n *ir.Node) bool { return n.HW.DSP == "pack" || n.HW.DSP == "pack_chain" }

// pairedCause says why products do not share DSPs that also sum.
func (m *exactSum) pairedCause(n *ir.Node, w widths) string {
	x, sum := m.data.ints.W+rtl.Flag(!m.data.ints.Signed), m.tBits
	if w.psh > 0 {
		sum = m.dotBits
	}
	most := x + w.weight - 2 // bits of the largest product, one more where it is -2^i times -2^j
	switch {
	case w.weight <= lowBits || m.data.ints.W < 2:
		return fmt.Sprintf("products of %d bits by weights of %d take LUTs", m.data.ints.W, w.weight)
	case x > n.HW.Part.Technology().DSP.B || most+rtl.Flag(m.data.ints.Signed) >= below(w.weight):
		return fmt.Sprintf("two products of %d bits by weights of %d do not fit into one DSP", m.data.ints.W, w.weight)
	case max(sum, w.bias) > pairBits:
		return fmt.Sprintf("the sums have %d bits, those of two in a DSP %d", max(sum, w.bias), pairBits)
	}
	return ""
}

// cascade is how many DSPs of the unit of n add in a row, at most: so many that sums fit for all data, at least one.
// Weights in a memory outside, and those too many to be read for each folding, may be any of their width.
func (m *exactSum) cascade(n *ir.Node, f Front, w widths) int {
	least, most := m.data.ints.Min(), m.data.ints.Max()
	limit := int64(1) << (below(w.weight) - 1)
	long := mostCascade
	if n.HW.Outside() || m.codesAt != nil {
		product := max(most, -least) << (w.weight - 1)
		return int(min(int64(long), max(1, (limit-1)/product)))
	}
	for long > 1 && !m.fits(f.In, long, least, most, limit) {
		long--
	}
	return long
}

// fits says that sums of products with b of so many lanes, in cascades of up to so many, lie in -limit to limit - 1.
func (m *exactSum) fits(lanes, long int, least, most, limit int64) bool {
	cascades := (lanes + long - 1) / long
	per := (lanes + cascades - 1) / cascades
	var buf []int64
	for c := 0; c < m.out; c += 2 { // those with b have even lanes
		var low, high int64
		for j, v := range m.row(c, &buf) {
			if j%lanes%per == 0 {
				low, high = 0, 0
			}
			low, high = low+min(v*least, v*most), high+max(v*least, v*most)
			if low < -limit || high >= limit {
				return false
			}
		}
	}
	return true
}
