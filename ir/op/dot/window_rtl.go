// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"math/bits"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// WindowLanes are the foldings of sums over blocks: inputs a beat, and rows, the outputs computed at once.
func WindowLanes(n *ir.Node) (*ir.Lanes, error) {
	w := &windowSum{}
	if err := w.readTypes(n); err != nil {
		return nil, err
	}
	in := lane.Counts(block.CommonLength(w.lengths), "elements of every block")
	drain := func(in, rows int) int { return block.Drain(rows, in, w.lengths) }
	return &ir.Lanes{In: in, Out: lane.Counts(w.out, "outputs"), Drain: drain, Styles: []ir.Style{ir.StyleFold},
		Mem: true}, nil
}

// blockUnit are the numbers of a sum over blocks in hardware.
type blockUnit struct {
	*windowSum
	shifter
	lanes, rows, drain int
	biasW              int
	x, w               factor // of products
	wsW, wsBase        int    // bits of the scales of weights, exponent that 0 stands for
}

// lanesLegal says why the unit of n cannot have its lanes.
func (w *windowSum) lanesLegal(n *ir.Node) error {
	lanes, rows, drain := n.HW.InLanes, n.HW.Rows, n.HW.OutLanes
	if e := lane.Check(n, "in_lanes", lanes, lane.Divisors(block.CommonLength(w.lengths)), slices.Min(w.lengths),
		"elements of the shortest block"); e != nil {
		e.Code = diag.BlockLanes
		return e
	}
	if e := lane.CheckDivisor(n, "out_lanes", rows, w.out, "outputs"); e != nil {
		return e
	}
	if drain < 1 || rows%drain != 0 || rows/drain > slices.Min(w.lengths)/lanes {
		return n.Errorf(diag.BlockUnitRows, "%d sums that leave %d a beat take longer than a block of %d beats",
			rows, drain, slices.Min(w.lengths)/lanes).
			WithHint("schedule the quantized graph again, or use fewer lanes")
	}
	return nil
}

// hardware chooses the parameters of mx_linear.
func (w *windowSum) hardware(n *ir.Node, f Front) (*blockUnit, error) {
	list, err := w.Products(n, f)
	if err != nil {
		return nil, err
	}
	form, err := formOf(n, list)
	if err != nil {
		return nil, err
	}
	xs, ws := w.factors()
	u := &blockUnit{windowSum: w, lanes: n.HW.InLanes, rows: n.HW.Rows, drain: n.HW.OutLanes, biasW: 1, x: xs[0], w: ws[0]}
	if form.Factors == codedData || form.Factors == codedBoth {
		u.x = xs[1]
	}
	if form.Factors == codedWeights || form.Factors == codedBoth {
		u.w = ws[1]
	}
	for _, v := range w.bias {
		u.biasW = max(u.biasW, arith.SignedBits(big.NewInt(v)))
	}
	u.shifts(n)
	return u, nil
}

// Products lists the forms of a sum over blocks: elements and weights as integers or as codes; the integers of elements
// are made for each beat.
func (w *windowSum) Products(n *ir.Node, _ Front) (list []ir.ProductForm, err error) {
	if err := w.lanesLegal(n); err != nil {
		return nil, err
	}
	xs, ws := w.factors()
	for i, word := range [][]string{{Integers, codedWeights}, {codedData, codedBoth}}[:len(xs)] {
		for k := range ws {
			list = append(list, ir.ProductForm{Products: ir.Products{Factors: word[k]},
				Sum: rowUnit(n, n.HW.InLanes, xs[i], ws[k], false)})
		}
	}
	return list, nil
}

// factors are what can be multiplied of elements and of weights: integers, and codes where there are any.
func (w *windowSum) factors() (xs, ws []factor) {
	xs, ws = []factor{{bits: w.data.ints.W, signed: true}}, []factor{{bits: 1, signed: true}}
	for _, v := range w.weights {
		ws[0].bits = max(ws[0].bits, arith.SignedBits(big.NewInt(v)))
	}
	if b := w.data.block; w.data.fields && b.ElementRTL() > 0 {
		coded := xs[0]
		coded.code = format.Minifloat{Bits: b.Width(), Field: b.ElementRTL()}
		xs = append(xs, coded)
	}
	if ws[0].bits > codedBits {
		coded := ws[0]
		coded.code = format.ShortestMinifloat(slices.Values(w.weights))
		ws = append(ws, coded)
	}
	return xs, ws
}

// shifts finds the range of a = xs + ws + OFFSET over all blocks that are not zero, and with it LOW and SPAN.
func (u *blockUnit) shifts(n *ir.Node) {
	lo, hi := 0, 0
	if u.data.fields {
		lo, hi = fieldRange(n.Args[0])
	}
	u.wsBase = 1 << 20
	most := -1 << 20
	u.each(func(c, j, from, to int) {
		if slices.ContainsFunc(u.weights[from:to], func(v int64) bool { return v != 0 }) {
			e := u.wexp[c*len(u.lengths)+j]
			u.wsBase, most = min(u.wsBase, e), max(most, e)
		}
	})
	if most < u.wsBase {
		u.wsBase, most = 0, 0
	}
	u.wsW = bits.Len(uint(most - u.wsBase))
	base := u.data.exp + u.wsBase + u.acc.F // the shift where both fields are 0
	_, top := u.windowSum.span(n)
	u.shifter = newShifter(u.acc, base, lo+base, hi+base+most-u.wsBase, u.dBits, top, len(u.lengths))
}

// shifter are the parameters that move the sums of blocks into a window accumulator: see mx_linear.
type shifter struct {
	offset, span, low, sumW int
	clamp                   bool
}

// newShifter is that of sums of dBits, of so many blocks and below 2^top, shifted by base where all scale fields are 0,
// and by least to greatest where they are those of values.
func newShifter(acc format.Fixed, base, least, greatest, dBits, top, blocks int) (s shifter) {
	s.low = min(max(-least, 0), dBits-1)
	s.offset = base + s.low
	s.clamp = top > acc.W-1-acc.F || least < -s.low
	s.span = max(greatest+s.low, 0)
	s.sumW = acc.W
	if s.clamp {
		s.span = max(min(s.span, acc.W+s.low), 1)
		s.sumW += bits.Len(uint(blocks))
	}
	return s
}

// params are those of a module.
func (s shifter) params() []any {
	return []any{"OFFSET", s.offset, "SPAN", s.span, "LOW", s.low, "CLAMP", rtl.Flag(s.clamp), "SUM_W", s.sumW}
}

// scaleField is the field of block j of row c; blocks of zeros take the least.
func (u *blockUnit) scaleField(c, j int) int64 {
	return int64(min(max(u.wexp[c*len(u.lengths)+j]-u.wsBase, 0), 1<<u.wsW-1))
}

// Unit is mx_<name> with its images. It is always folded.
func (w *windowSum) Unit(n *ir.Node, f Front) (*rtl.Unit, error) {
	u, err := w.hardware(n, f)
	if err != nil {
		return nil, err
	}
	run := n.Args[1].Type.Shape[len(n.Args[1].Type.Shape)-1]
	xW, scale, e, falls := u.data.ints.W, 0, -1, false
	if b := u.data.block; u.data.fields {
		xW, scale, e, falls = b.Width(), b.ScaleWidth(), b.ElementRTL(), format.Falls(b)
	}
	r := rtl.NewUnit("mx_"+f.Name, append(f.Size, f.Window...)...)
	r.With("K", min(u.lengths[0], run), "IN_LANES", u.lanes, "ROWS", u.rows, "DRAIN", u.drain)
	r.With("X_W", xW, "XS_W", scale, "X_E", e, "XS_FALLS", rtl.Flag(falls))
	if u.x.code.Bits > 0 {
		r.With("CODED", 1)
	}
	r.With("W_W", u.w.width())
	if u.w.code.Bits > 0 {
		r.With("W_E", u.w.code.Field)
	}
	r.With("WS_W", u.wsW, "D_W", u.dBits)
	r.With(u.shifter.params()...)
	r.With("BIAS_W", u.biasW, "OUT_W", u.acc.W, "ROM_STYLE", hardware.MemStyle(n))
	scales := rtl.Image{Param: "SCALES", Width: u.drain * u.wsW}
	bias := rtl.Image{Param: "BIAS", Width: u.drain * u.biasW}
	for g := 0; g < u.out; g += u.rows {
		for j := range u.lengths {
			for d := g; d < g+u.rows; d += u.drain {
				word := new(big.Int)
				for c := d + u.drain - 1; c >= d; c-- {
					hardware.AppendField(word, big.NewInt(u.scaleField(c, j)), u.wsW)
				}
				scales.Words = append(scales.Words, word)
			}
		}
		for d := g; d < g+u.rows; d += u.drain {
			word := new(big.Int)
			for c := d + u.drain - 1; c >= d; c-- {
				hardware.AppendField(word, big.NewInt(u.bias[c]), u.biasW)
			}
			bias.Words = append(bias.Words, word)
		}
	}
	lanes, rows, form := u.lanes, u.rows, u.w
	r.Images = []rtl.Image{{Param: "WEIGHTS", Width: lanes * rows * form.width(), Make: func(im *rtl.Image) error {
		again, err := planWindow(n) // a unit that is only weighed holds no weights
		if err == nil {
			im.Words = again.weightImage(lanes, rows, form)
		}
		return err
	}}, bias}
	if u.wsW > 0 {
		r.Images = append(r.Images, scales)
	}
	return r, nil
}

// DSPCause: every product has a DSP of its own, and sums are aligned.
func (w *windowSum) DSPCause(*ir.Node, string) (lanes int, cause string, err error) {
	return 0, "sums over blocks take a DSP a product, and LUTs", nil
}
