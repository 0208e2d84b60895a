// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"iter"
	"math/big"
	"math/bits"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/hardware"
	"lathe/ir/target"
	"lathe/rtl"
)

// PackWidths says why no two products share a DSP of n, by the widths of data and weights.
func PackWidths(n *ir.Node, x int, signed bool, w int) string {
	d := n.HW.Part.Technology().DSP
	factor := x + rtl.Flag(!signed)
	switch {
	case min(factor, w) < 2 || x+w < d.Least:
		return fmt.Sprintf("products of %d bits by weights of %d take LUTs, not DSPs", x, w)
	case factor > d.B || x+2*w+1 > d.A:
		return fmt.Sprintf("two products of %d bits by weights of %d do not fit into one DSP", x, w)
	}
	return ""
}

// fourBits are those of the widest products that num_mul_four takes, four to a DSP; two of them share a bit where the
// DSPs for which it is written, those of target.Usual, have too few.
const fourBits = 8

// Shared is how many products share a DSP of n where plans pack, and why none do: four of few bits, or two.
func Shared(n *ir.Node, x int, signed bool, w int) (lanes int, cause string) {
	wide := n.HW.Part.Technology().DSP.A
	bit := rtl.Flag(3*x+4*w > target.Usual().DSP.A)
	switch {
	case x+w > fourBits:
		return 2, PackWidths(n, x, signed, w)
	case min(x+rtl.Flag(!signed), w) < 2:
		return 4, fmt.Sprintf("products of %d bits by weights of %d take LUTs, not DSPs", x, w)
	case 3*(x+w)-bit+w > wide:
		return 4, fmt.Sprintf("four products of %d bits by weights of %d do not fit into one DSP", x, w)
	}
	return 4, ""
}

// Multipliers asks for products in LUTs, two in a DSP, or DSPs that sum them.
func Multipliers(n *ir.Node) []any {
	switch n.HW.DSP {
	case "pack", "chain":
		return []any{"MULT", n.HW.DSP}
	case "pack_chain":
		return []any{"MULT", "pack"}
	}
	return hardware.NoDSP(n)
}

// widths are the widths of the constants of an exact sum in hardware.
type widths struct {
	weight, bias, psh int

	// coded is the shortest float that has all weights, where it is shorter than their integers; or their signs.
	coded format.Minifloat
	low   bool // products of integers take LUTs, by their few bits

	most     [len(runs)]int // weights of a run that are not 0, at most
	keep, of int            // weights that the memory has, of each run; 0: all

	factor  int        // 0: no factors
	factors []*big.Int // at one common shift
}

// bits is the width of a weight, as an integer or a code.
func (w widths) bits() int { return factor{bits: w.weight, code: w.coded}.width() }

// konst is the width of the constants of one output channel.
func (w widths) konst() int { return w.factor + w.psh + w.bias }

func (m *exactSum) widths() widths {
	w := widths{weight: 1, bias: 1}
	w.factors, w.factor = m.round.factors()
	var any int64 // a bit is set where some weight differs from its sign there
	signs := true
	for v := range m.each() {
		any |= v ^ v>>63
		signs = signs && (v == 1 || v == -1)
	}
	w.weight, w.most = bits.Len64(uint64(any))+1, m.mostKept()
	switch {
	case signs:
		w.coded = format.Signs
	case w.weight > codedBits:
		w.coded = format.ShortestMinifloat(m.each())
	}
	for c, b := range m.bias {
		w.bias = max(w.bias, arith.SignedBits(b))
		w.psh = max(w.psh, bits.Len(m.up[c]))
	}
	return w
}

// numeric are the parameters of the sum itself and of its rounding.
func (m *exactSum) numeric(n *ir.Node, w widths) ([]any, error) {
	var p []any
	switch coded := m.data.coded; {
	case m.data.ints.W > 0:
		p = []any{"IN_W", m.data.ints.W, "IN_SIGNED", rtl.Flag(m.data.ints.Signed)}
	case coded.Bits > 0:
		p = []any{"IN_W", coded.Bits, "IN_E", coded.Field, "IN_NAN", rtl.Flag(coded.NaN)}
	default:
		_, err := arith.FixedOf(n, n.Args[0].Type)
		return nil, err
	}
	p = append(p, "W_W", w.bits())
	if w.coded.Bits > 0 {
		p = append(p, "W_E", w.coded.Field)
	}
	p = append(p, "DOT_W", m.dotBits, "BIAS_W", w.bias, "PSH_W", w.psh, "T_W", m.tBits)
	out, err := m.round.params(n)
	return append(p, out...), err
}

// DSPCause says why two products do not share a DSP, or are not summed in DSPs; they are where num_mul_pair and
// num_chain take their widths.
func (m *exactSum) DSPCause(n *ir.Node, how string) (lanes int, cause string, err error) {
	if m.data.ints.W == 0 {
		return 0, fmt.Sprintf("products of codes of %s are no products of integers", n.Args[0].Type.Format), nil
	}
	_, w := m.inHardware()
	if w.coded == format.Signs {
		return 0, "products by signs take LUTs, not DSPs", nil
	}
	switch how {
	case "pack":
		lanes, cause := Shared(n, m.data.ints.W, m.data.ints.Signed, w.weight)
		return lanes, cause, nil
	case "pack_chain":
		return 2, m.pairedCause(n, w), nil
	}
	return 1, m.chainCause(n, w), nil
}

// chainCause says why products are not summed in DSPs.
func (m *exactSum) chainCause(n *ir.Node, w widths) string {
	d := n.HW.Part.Technology().DSP
	x, sum := m.data.ints.W+rtl.Flag(!m.data.ints.Signed), m.tBits
	if w.psh > 0 {
		sum = max(m.dotBits, w.bias)
	}
	switch {
	case w.weight <= lowBits || m.data.ints.W < 2:
		return fmt.Sprintf("products of %d bits by weights of %d take LUTs", m.data.ints.W, w.weight)
	case max(x, w.weight) > d.A || min(x, w.weight) > d.B:
		return fmt.Sprintf("products of %d bits by weights of %d do not fit into one DSP", m.data.ints.W, w.weight)
	case max(sum, w.bias) > d.P:
		return fmt.Sprintf("the sums have %d bits, those of a DSP %d", max(sum, w.bias), d.P)
	}
	return ""
}

// padding is the code of padding, which is the value zero, as a parameter; none where it is 0.
func (m *exactSum) padding(n *ir.Node) ([]any, error) {
	zero, codes := m.data.zero, m.data.ints
	if zero == 0 {
		return nil, nil
	}
	if zero < codes.Min() || zero > codes.Max() {
		return nil, n.Errorf(diag.NoHardwareForm, "padding has no code: the zero point %d does not fit the %d bits of %s",
			zero,
			codes.W, n.Args[0].Type.Format)
	}
	return []any{"PAD", zero}, nil
}

// weightImage packs word nf*SF+sf: lane (p, s) holds w[nf*outLanes+p][sf*inLanes+s] at bit (p*inLanes+s)*width.
func (s *terms) weightImage(inLanes, outLanes int, form factor) []*big.Int {
	words := make([]*big.Int, 0, s.in/inLanes*(s.out/outLanes))
	weights, width := form.codes(s.ints()), form.width()
	for nf := 0; nf < s.out; nf += outLanes {
		for sf := 0; sf < s.in; sf += inLanes {
			word := new(big.Int)
			for p := outLanes - 1; p >= 0; p-- {
				for i := inLanes - 1; i >= 0; i-- {
					hardware.AppendField(word, big.NewInt(weights[(nf+p)*s.in+sf+i]), width)
				}
			}
			words = append(words, word)
		}
	}
	return words
}

// packed is weightImage as limbs; those of weights that are not held are not held either.
func (m *exactSum) packed(inLanes, outLanes int, w widths) *rtl.Packed {
	width := w.word(inLanes)
	folds, words := m.in/inLanes, m.in/inLanes*(m.out/outLanes)
	fill := func(from int, p *rtl.Packed) { // from begins a row of folds
		var buf []int64
		first := from / folds * outLanes
		for c := range p.Len() / folds * outLanes {
			row := w.fields(m.row(first+c, &buf))
			each := len(row) / folds
			for sf := range folds {
				p.SetRow(c/outLanes*folds+sf, c%outLanes*width, w.bits()+w.places(), row[sf*each:(sf+1)*each])
			}
		}
	}
	if m.codesAt != nil {
		return rtl.NewRuns(outLanes*width, words, folds, fill)
	}
	p := rtl.NewPacked(outLanes*width, words)
	fill(0, p)
	return p
}

// constImage packs word nf: lane p holds {m, psh, bias} of channel nf*outLanes+p.
func (m *exactSum) constImage(outLanes int, w widths) []*big.Int {
	words := make([]*big.Int, 0, m.out/outLanes)
	for nf := 0; nf < m.out; nf += outLanes {
		word := new(big.Int)
		for p := outLanes - 1; p >= 0; p-- {
			if w.factor > 0 {
				hardware.AppendField(word, w.factors[arith.At(len(w.factors), nf+p)], w.factor)
			}
			hardware.AppendField(word, new(big.Int).SetUint64(uint64(m.up[nf+p])), w.psh)
			hardware.AppendField(word, m.bias[nf+p], w.bias)
		}
		words = append(words, word)
	}
	return words
}

// Front is what an op puts before the multipliers of a sum: the module, and the parameters that are its own.
type Front struct {
	Name    string  // of the modules: op_<name> for exact sums, mx_<name> for those over blocks
	Vector  *Vector // what sums with weights as constants take; nil: there are none
	Size    []any   // sizes, which all modules have
	Padded  bool    // data are padded with zeros
	Exact   []any   // what op_<name> has besides
	Window  []any   // what mx_<name> has besides
	Tail    []any   // what op_<name> has behind the parameters of the sum
	In, Out int     // products of a row, and rows, that op_<name> computes at once
	Sweeps  int     // how often a sample reads all rows, for units that layers may share; 0: they may not
	Coded   bool    // op_<name> multiplies codes of floats
	Kept    bool    // op_<name> takes weights that are few of each run, with their places
	Lanes   error   // why op_<name> cannot have the lanes of the node; those of mx_<name> follow from its blocks
}

// wired says that the unit of n has its weights wired into sums.
func (m *exactSum) wired(n *ir.Node, f Front) bool {
	return f.Vector != nil && n.HW.Style == ir.StyleUnroll && m.turns == 1
}

// Unit is op_<name>, which takes codes as they are.
func (m *exactSum) Unit(n *ir.Node, f Front) (*rtl.Unit, error) {
	if m.wired(n, f) {
		return m.constants(n, f.Vector)
	}
	list, err := m.Products(n, f)
	if err != nil {
		return nil, err
	}
	form, err := formOf(n, list)
	if err != nil {
		return nil, err
	}
	raw, w := m.inHardware()
	if form.Shifted {
		raw, w = m.shifted()
	}
	return raw.unit(n, f, w.as(form), form.Shifted)
}

// unit is that of a plan for codes as they are; shifted says that its weights are.
func (m *exactSum) unit(n *ir.Node, f Front, w widths, shifted bool) (*rtl.Unit, error) {
	num, err := m.numeric(n, w)
	if err != nil {
		return nil, err
	}
	u := rtl.NewUnit("op_"+f.Name, f.Size...)
	if f.Lanes != nil {
		return nil, f.Lanes
	}
	if f.Padded {
		pad, err := m.padding(n)
		if err != nil {
			return nil, err
		}
		u.With(pad...)
	}
	u.With(f.Exact...)
	u.With(num...)
	u.With(f.Tail...)
	if w.low {
		u.With("MULT", "low")
	}
	if w.of > 0 {
		u.With("KEEP", w.keep, "OF", w.of)
	}
	if n.HW.DSP == "pack_chain" {
		u.With("LONG", m.cascade(n, f, w))
	}
	if m.turns > 1 && f.Sweeps > 0 {
		u.With("SETS", m.turns, "SWEEPS", f.Sweeps*n.HW.InRow()/n.TurnFrames())
	}
	u.Images = exactImages(n, f, w, shifted)
	return u, nil
}

// exactImages are made of a new plan, so that none of the many units that are only weighed holds all weights.
func exactImages(n *ir.Node, f Front, w widths, shifted bool) []rtl.Image {
	plan := func() (*exactSum, error) {
		m, err := planExact(n)
		if err != nil {
			return nil, err
		}
		if m = m.raw(); shifted {
			m = m.shiftWeights()
		}
		return m, nil
	}
	return []rtl.Image{
		{Param: "WEIGHTS", Width: w.word(f.In) * f.Out, Make: func(im *rtl.Image) error {
			m, err := plan()
			if err == nil {
				im.Packed = m.packed(f.In, f.Out, w)
			}
			return err
		}},
		{Param: "CONSTS", Width: f.Out * w.konst(), Make: func(im *rtl.Image) error {
			m, err := plan()
			if err == nil {
				im.Words = m.constImage(f.Out, w)
			}
			return err
		}},
	}
}

// each goes through all weights.
func (m *exactSum) each() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		var buf []int64
		for c := range m.out {
			for _, v := range m.row(c, &buf) {
				if !yield(v) {
					return
				}
			}
		}
	}
}
