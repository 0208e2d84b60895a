// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/big"
	"math/bits"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// BlockLanes lists the lanes, ascending, that a beat of type t may have: those that divide the length of every block.
func BlockLanes(t ir.Type) []int { return Divisors(CommonLength(t.BlockLengths())) }

// CommonLength is the greatest number that divides all lengths.
func CommonLength(lengths []int) int {
	common := 0
	for _, n := range lengths {
		for n != 0 {
			common, n = n, common%n
		}
	}
	return max(common, 1)
}

// checkBlockLanes reports lanes of a stream of blocks that are not legal.
func checkBlockLanes(n *ir.Node, key string, lanes int, t ir.Type) *diag.Error {
	lengths := t.BlockLengths()
	e := CheckLanes(n, key, lanes, BlockLanes(t), slices.Min(lengths), "elements of the shortest block")
	if e != nil {
		e.Code = "L0651"
	}
	return e
}

// mxCastRTL is the unit that encodes or decodes blocks.
func mxCastRTL(n *ir.Node) (*rtl.Unit, error) {
	if err := mxCastLegal(n); err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	lanes := n.HW.InLanes
	if m, ok := mxOf(n.Type); ok {
		if e := checkBlockLanes(n, "lanes", lanes, n.Type); e != nil {
			return nil, e
		}
		in, fx, err := operandParams(n)
		if err != nil {
			return nil, err
		}
		row := n.Type.Shape[len(n.Type.Shape)-1]
		u := unit("mx_encode", "LANES", lanes)
		with(u, in...)
		return with(u, "EXP", -fx.F, "W", m.W, "K", m.K, "ROW", row, "ROWS", n.Type.Elems()/row, "ROUND", int(m.Round)), nil
	}
	if e := checkBlockLanes(n, "lanes", lanes, n.Args[0].Type); e != nil {
		return nil, e
	}
	m, _ := mxOf(n.Args[0].Type)
	fx, err := hardwareResult(n)
	if err != nil {
		return nil, err
	}
	lo, hi, _ := ScaleRange(n.Args[0])
	offset := m.ElementExp(0) + fx.F
	low := min(max(-(lo+127+offset), 0), m.W+1)
	high := min(max(hi+127+offset, 0), fx.W)
	return unit("mx_decode", "LANES", lanes, "W", m.W, "OFFSET", offset, "LOW", low, "HIGH", high, "OUT_W", fx.W,
		"OUT_SIGNED", flag(fx.Signed), "ROUND", int(fx.Round), "OVER", int(fx.Over), "BEATS", frameBeats(n.Type, lanes)), nil
}

// mxReluRTL is relu on blocks.
func mxReluRTL(n *ir.Node) (*rtl.Unit, error) {
	if e := checkBlockLanes(n, "lanes", n.HW.InLanes, n.Type); e != nil {
		return nil, e
	}
	m, _ := mxOf(n.Type)
	return unit("mx_relu", "LANES", n.HW.InLanes, "W", m.W, "BEATS", frameBeats(n.Type, n.HW.InLanes)), nil
}

// blockUnit are the numbers of a sum over blocks in hardware.
type blockUnit struct {
	*blockSum
	lanes, rows, drain int
	clamp              bool
	offset, span, low  int
	sumW, biasW, wW    int
	wsW, wsBase        int // bits of the scales of weights, exponent that 0 stands for
}

// hardware chooses the parameters of mx_linear.
func (w *blockSum) hardware(n *ir.Node) (*blockUnit, error) {
	u := &blockUnit{blockSum: w, lanes: n.HW.InLanes, rows: n.HW.Rows, drain: n.HW.OutLanes, biasW: 1, wW: 1}
	if e := CheckLanes(n, "in_lanes", u.lanes, Divisors(CommonLength(w.lengths)), slices.Min(w.lengths),
		"elements of the shortest block"); e != nil {
		e.Code = "L0651"
		return nil, e
	}
	if e := checkLanes(n, "out_lanes", u.rows, w.out, "outputs"); e != nil {
		return nil, e
	}
	if u.drain < 1 || u.rows%u.drain != 0 || u.rows/u.drain > slices.Min(w.lengths)/u.lanes {
		return nil, n.Errorf("L0650", "%d sums that leave %d a beat take longer than a block of %d beats", u.rows, u.drain,
			slices.Min(w.lengths)/u.lanes).WithHint("schedule the quantized graph again, or take fewer lanes")
	}
	for _, v := range w.weights {
		u.wW = max(u.wW, signedBits(big.NewInt(v)))
	}
	for _, v := range w.bias {
		u.biasW = max(u.biasW, signedBits(big.NewInt(v)))
	}
	u.shifts(n)
	return u, nil
}

// shifts finds the range of a = xs + ws + OFFSET over all blocks that are not zero, and with it LOW and SPAN.
func (u *blockUnit) shifts(n *ir.Node) {
	lo, hi := 0, 0
	if u.mx {
		lo, hi, _ = ScaleRange(n.Args[0])
		lo, hi = lo+127, hi+127
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
	base := u.xexp + u.wsBase + u.acc.F // the shift where both fields are 0
	least, greatest := lo+base, hi+base+most-u.wsBase
	u.low = min(max(-least, 0), u.dBits-1)
	u.offset = base + u.low
	_, top := u.blockSum.span(n)
	u.clamp = top > u.acc.W-1-u.acc.F || least < -u.low
	u.span = max(greatest+u.low, 0)
	u.sumW = u.acc.W
	if u.clamp {
		u.span = max(min(u.span, u.acc.W+u.low), 1)
		u.sumW += bits.Len(uint(len(u.lengths)))
	}
}

// scaleField is the field of block j of row c; blocks of zeros take the least.
func (u *blockUnit) scaleField(c, j int) int64 {
	return int64(min(max(u.wexp[c*len(u.lengths)+j]-u.wsBase, 0), 1<<u.wsW-1))
}

// unit is an instance of module, whose leading parameters are given, with its images.
func (u *blockUnit) unit(n *ir.Node, module string, leading ...any) *rtl.Unit {
	run := n.Args[1].Type.Shape[len(n.Args[1].Type.Shape)-1]
	scale := 0
	if u.mx {
		scale = 8
	}
	r := unit(module, leading...)
	with(r, "K", min(u.lengths[0], run), "IN_LANES", u.lanes, "ROWS", u.rows, "DRAIN", u.drain, "X_W", u.xW, "XS_W", scale,
		"W_W", u.wW, "WS_W", u.wsW, "D_W", u.dBits, "OFFSET", u.offset, "SPAN", u.span, "LOW", u.low, "CLAMP", flag(u.clamp),
		"SUM_W", u.sumW, "BIAS_W", u.biasW, "OUT_W", u.acc.W, "ROM_STYLE", memStyle(n))
	m := &mac{out: u.out, in: u.in, weights: u.weights}
	scales := rtl.Image{Param: "SCALES", Width: u.drain * u.wsW}
	bias := rtl.Image{Param: "BIAS", Width: u.drain * u.biasW}
	for g := 0; g < u.out; g += u.rows {
		for j := range u.lengths {
			for d := g; d < g+u.rows; d += u.drain {
				word := new(big.Int)
				for c := d + u.drain - 1; c >= d; c-- {
					appendField(word, big.NewInt(u.scaleField(c, j)), u.wsW)
				}
				scales.Words = append(scales.Words, word)
			}
		}
		for d := g; d < g+u.rows; d += u.drain {
			word := new(big.Int)
			for c := d + u.drain - 1; c >= d; c-- {
				appendField(word, big.NewInt(u.bias[c]), u.biasW)
			}
			bias.Words = append(bias.Words, word)
		}
	}
	r.Images = []rtl.Image{
		{Param: "WEIGHTS", Width: u.lanes * u.rows * u.wW, Words: m.weightImage(u.lanes, u.rows, u.wW)}, bias}
	if u.wsW > 0 {
		r.Images = append(r.Images, scales)
	}
	return r
}

// Drain is how many of rows sums leave a cycle, so that those of the shortest block are gone before the next are there.
func Drain(rows, lanes int, lengths []int) int {
	beats := max(slices.Min(lengths)/max(lanes, 1), 1)
	for _, d := range Divisors(rows) {
		if rows/d <= beats {
			return d
		}
	}
	return rows
}

// SumLengths lists the lengths of the blocks of one row of weights of n, which sums over blocks.
func SumLengths(n *ir.Node) ([]int, error) {
	w, err := planWindow(n)
	if err != nil {
		return nil, err
	}
	return w.lengths, nil
}

// windowLinearRTL is the folded unit; there is no unrolled one.
func windowLinearRTL(n *ir.Node) (*rtl.Unit, error) {
	w, err := planWindow(n)
	if err != nil {
		return nil, err
	}
	u, err := w.hardware(n)
	if err != nil {
		return nil, err
	}
	return u.unit(n, "mx_linear", "IN", w.in, "OUT", w.out, "RUN", w.in), nil
}

// windowConvRTL is a window generator, whose elements are beats, and the same behind it.
func windowConvRTL(n *ir.Node) (*rtl.Unit, error) {
	g, err := imageGeometry(n, &n.Attrs.(*ConvAttrs).Window)
	if err != nil {
		return nil, err
	}
	w, err := planWindow(n)
	if err != nil {
		return nil, err
	}
	u, err := w.hardware(n)
	if err != nil {
		return nil, err
	}
	return u.unit(n, "mx_conv", append(geometryParams(g), "OC", w.out)...), nil
}

// adapterUnit is the unit that changes the lanes of blocks from in to out; the scale goes with every beat.
func adapterUnit(t ir.Type, in, out int) *rtl.Unit {
	w := t.Format.Width()
	if out > in {
		return unit("mx_widen", "WIDTH", w*in, "N", out/in)
	}
	return unit("mx_narrow", "WIDTH", w*out, "N", in/out)
}

// isAdapterOfBlocks says that n widens or narrows a stream of blocks.
func isAdapterOfBlocks(n *ir.Node) bool {
	_, ok := n.Type.Format.(format.Block)
	return ok && n.HW.InLanes != n.HW.OutLanes
}
