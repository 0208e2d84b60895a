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

// blockReluRTL is relu on blocks.
func blockReluRTL(n *ir.Node) (*rtl.Unit, error) {
	if e := checkBlockLanes(n, "lanes", n.HW.InLanes, n.Type); e != nil {
		return nil, e
	}
	b, _ := n.Type.BlockFormat()
	return unit("mx_relu", "LANES", n.HW.InLanes, "W", b.Width(), "SCALE_W", b.ScaleWidth(), "BEATS",
		frameBeats(n.Type, n.HW.InLanes)), nil
}

// adapterUnit is the unit that changes the lanes of blocks from in to out; the scale goes with every beat.
func adapterUnit(t ir.Type, in, out int) *rtl.Unit {
	b, _ := t.BlockFormat()
	if out > in {
		return unit("mx_widen", "WIDTH", b.Width()*in, "SCALE_W", b.ScaleWidth(), "N", out/in)
	}
	return unit("mx_narrow", "WIDTH", b.Width()*out, "SCALE_W", b.ScaleWidth(), "N", in/out)
}

// isAdapterOfBlocks says that n widens or narrows a stream of blocks.
func isAdapterOfBlocks(n *ir.Node) bool {
	_, ok := n.Type.Format.(format.Block)
	return ok && n.HW.InLanes != n.HW.OutLanes
}
