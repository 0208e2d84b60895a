// SPDX-License-Identifier: Apache-2.0

package op

import (
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
