// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/big"
	"math/bits"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// unrollLimit is the longest parameter that Verilator 5.006 reads, in bits.
const unrollLimit = 1 << 16

// widths are the numeric parameters of a mac in hardware.
type widths struct {
	weight, bias, psh int

	factor  int        // 0: no factors
	factors []*big.Int // at one common shift
}

// konst is the width of the constants of one output channel.
func (w widths) konst() int { return w.factor + w.psh + w.bias }

func (m *mac) widths() widths {
	w := widths{weight: 1, bias: 1}
	if m.res != nil {
		w.factors, w.factor, _ = m.res.common()
	}
	var any int64 // a bit is set where some weight differs from its sign there
	var buf []int64
	for c := range m.out {
		for _, v := range m.row(c, &buf) {
			any |= v ^ v>>63
		}
	}
	w.weight = bits.Len64(uint64(any)) + 1
	for c, b := range m.bias {
		w.bias = max(w.bias, signedBits(b))
		w.psh = max(w.psh, bits.Len(m.psh[c]))
	}
	return w
}

// numeric are the parameters that linear, conv and scale share.
func (m *mac) numeric(n *ir.Node, w widths) ([]any, error) {
	if m.res != nil {
		return m.realNumeric(n, w)
	}
	in, _, err := operandParams(n)
	if err != nil {
		return nil, err
	}
	out, err := resultParams(n, m.exp)
	return append(append(in, "W_W", w.weight, "DOT_W", m.dotBits, "BIAS_W", w.bias, "PSH_W", w.psh, "T_W", m.tBits),
		out...), err
}

// realNumeric is numeric with factors and zero points.
func (m *mac) realNumeric(n *ir.Node, w widths) ([]any, error) {
	if err := m.res.hardware(n); err != nil {
		return nil, err
	}
	_, factor, shift := m.res.common()
	p := []any{"IN_W", m.codes.ints.W, "IN_SIGNED", flag(m.codes.ints.Signed), "W_W", w.weight, "DOT_W", m.dotBits,
		"BIAS_W", w.bias, "PSH_W", w.psh, "T_W", m.tBits}
	if factor > 0 {
		p = append(p, "M_W", factor)
	}
	p = append(p, "SHIFT", shift)
	if m.res.zero != 0 {
		p = append(p, "ZERO", m.res.zero)
	}
	return append(p, "OUT_W", m.res.out.W, "OUT_SIGNED", flag(m.res.out.Signed), "ROUND", int(m.res.out.Round),
		"OVER", int(m.res.out.Over)), nil
}

// padding is the code of padding, which is the value zero, as a parameter; none where it is 0.
func (m *mac) padding(n *ir.Node, g *Geometry) ([]any, error) {
	if m.codes == nil || m.codes.zero == 0 || g.PT+g.PL+g.PB+g.PR == 0 {
		return nil, nil
	}
	all := format.Fixed{W: m.codes.ints.W, Signed: m.codes.ints.Signed}
	if m.codes.zero < all.Min() || m.codes.zero > all.Max() {
		return nil, n.Errorf("L0311", "padding has no code: the zero point %d lies outside of the %d bits of %s",
			m.codes.zero, all.W, n.Args[0].Type.Format)
	}
	return []any{"PAD", m.codes.zero}, nil
}

// weightImage packs word nf*SF+sf: lane (p, s) holds w[nf*outLanes+p][sf*inLanes+s] at bit (p*inLanes+s)*width.
func (m *mac) weightImage(inLanes, outLanes, width int) []*big.Int {
	words := make([]*big.Int, 0, m.in/inLanes*(m.out/outLanes))
	m = m.held()
	for nf := 0; nf < m.out; nf += outLanes {
		for sf := 0; sf < m.in; sf += inLanes {
			word := new(big.Int)
			for p := outLanes - 1; p >= 0; p-- {
				for s := inLanes - 1; s >= 0; s-- {
					appendField(word, big.NewInt(m.weights[(nf+p)*m.in+sf+s]), width)
				}
			}
			words = append(words, word)
		}
	}
	return words
}

// packed is weightImage as limbs; those of weights that are not held are not held either.
func (m *mac) packed(inLanes, outLanes, width int) *rtl.Packed {
	folds, words := m.in/inLanes, m.in/inLanes*(m.out/outLanes)
	fill := func(from int, p *rtl.Packed) { // from begins a row of folds
		var buf []int64
		first := from / folds * outLanes
		for c := range p.Len() / folds * outLanes {
			row := m.row(first+c, &buf)
			for sf := range folds {
				p.SetRow(c/outLanes*folds+sf, c%outLanes*inLanes*width, width, row[sf*inLanes:(sf+1)*inLanes])
			}
		}
	}
	if m.codesAt != nil {
		return rtl.NewRuns(inLanes*outLanes*width, words, folds, fill)
	}
	p := rtl.NewPacked(inLanes*outLanes*width, words)
	fill(0, p)
	return p
}

// constImage packs word nf: lane p holds {m, psh, bias} of channel nf*outLanes+p.
func (m *mac) constImage(outLanes int, w widths) []*big.Int {
	words := make([]*big.Int, 0, m.out/outLanes)
	for nf := 0; nf < m.out; nf += outLanes {
		word := new(big.Int)
		for p := outLanes - 1; p >= 0; p-- {
			if w.factor > 0 {
				appendField(word, w.factors[at(len(w.factors), nf+p)], w.factor)
			}
			appendField(word, new(big.Int).SetUint64(uint64(m.psh[nf+p])), w.psh)
			appendField(word, m.bias[nf+p], w.bias)
		}
		words = append(words, word)
	}
	return words
}

// appendField shifts word up and puts v, modulo 2^width, below.
func appendField(word, v *big.Int, width int) {
	word.Lsh(word, uint(width))
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1))
	word.Or(word, mask.And(mask, v)) // And of a negative number is two's complement
}

// images adds the memory images of a folded unit.
func (m *mac) images(u *rtl.Unit, inLanes, outLanes int, w widths) {
	u.Images = []rtl.Image{
		{Param: "WEIGHTS", Width: inLanes * outLanes * w.weight, Packed: m.packed(inLanes, outLanes, w.weight)},
		{Param: "CONSTS", Width: outLanes * w.konst(), Words: m.constImage(outLanes, w)},
	}
}

func linearRTL(n *ir.Node) (*rtl.Unit, error) {
	if usesWindow(n) {
		return windowLinearRTL(n)
	}
	m, err := planRows(n)
	if err != nil {
		return nil, err
	}
	m = m.raw()
	if n.HW.Style == ir.StyleUnroll {
		return m.unrolled(n)
	}
	if e := checkLanes(n, "in_lanes", n.HW.InLanes, m.in, "inputs"); e != nil {
		return nil, e
	}
	if e := checkLanes(n, "out_lanes", n.HW.OutLanes, m.out, "outputs"); e != nil {
		return nil, e
	}
	w := m.widths()
	num, err := m.numeric(n, w)
	if err != nil {
		return nil, err
	}
	u := unit("op_linear", "IN", m.in, "OUT", m.out, "IN_LANES", n.HW.InLanes, "OUT_LANES", n.HW.OutLanes)
	with(u, num...)
	with(u, "ROM_STYLE", memStyle(n))
	multipliers(u, n)
	m.images(u, n.HW.InLanes, n.HW.OutLanes, w)
	return u, nil
}

func memStyle(n *ir.Node) string {
	if n.HW.Mem == "" {
		return "auto"
	}
	return n.HW.Mem
}

// unrolled is one vector a cycle with weights as constants.
func (m *mac) unrolled(n *ir.Node) (*rtl.Unit, error) {
	w := m.widths()
	num, err := m.numeric(n, w)
	if err != nil {
		return nil, err
	}
	total := m.in * m.out * w.weight
	if total > unrollLimit {
		return nil, n.Errorf("L0620", "unrolled weights are %d bits, one constant holds %d", total, unrollLimit).
			WithHint("fold this layer: [[fold.rule]] name = %q with lanes", n.Name)
	}
	u := unit("op_linear_unrolled", "IN", m.in, "OUT", m.out)
	with(u, num...)
	weights := m.weightImage(m.in, m.out, w.weight)[0]
	consts := m.constImage(m.out, w)[0]
	u.Params = append(u.Params,
		rtl.Param{Name: "WEIGHTS", Value: hexLiteral(weights, total)},
		rtl.Param{Name: "CONSTS", Value: hexLiteral(consts, m.out*w.konst())})
	return u, nil
}

func scaleRTL(n *ir.Node) (*rtl.Unit, error) {
	m, err := planScale(n)
	if err != nil {
		return nil, err
	}
	m = m.raw()
	lanes := n.HW.InLanes
	if e := checkLanes(n, "lanes", lanes, m.out, "channels"); e != nil {
		return nil, e
	}
	w := m.widths()
	num, err := m.numeric(n, w)
	if err != nil {
		return nil, err
	}
	u := unit("op_scale", "C", m.out, "LANES", lanes)
	with(u, num...)
	with(u, "BEATS", frameBeats(n.Type, lanes))
	multipliers(u, n)
	m.images(u, 1, lanes, w)
	return u, nil
}
